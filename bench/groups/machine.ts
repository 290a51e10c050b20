import { elapsedMs } from '../../src/core/index.js'
import { verifyMachine } from '../../src/testing/index.js'
import type { Group } from '../row.js'
import { options, target } from '../verified-invoices.js'
import * as counter from '../verified-package.js'

const CASES = 1_000
const CASES_USUAL = 100
/** The figure of the product: 1,000 cases in 20 seconds, on two cores. */
const CASES_A_SECOND = 50

/** Made-up lives of the invoice example and of a package, with crashes, verified and replayed. */
export const machine: Group = {
  rows: ['machine.cases', 'machine.cases.two', 'machine.cases.package'],
  async measure({ full }) {
    const cases = full ? CASES : CASES_USUAL
    await verifyMachine(target, { ...options, cases: 10 })
    const module = new URL('../verified-invoices.js', import.meta.url).href
    const from = { module, target: 'target', options: 'options' }
    const measured = async (processes: number) => {
      const begin = elapsedMs()
      await verifyMachine(target, { ...options, from, cases, processes })
      return (cases * 1_000) / (elapsedMs() - begin)
    }
    const ofPackage = async () => {
      const begin = elapsedMs()
      await verifyMachine(counter.target, { ...counter.options, cases })
      return (cases * 1_000) / (elapsedMs() - begin)
    }
    const named = { unit: 'cases/s', better: 'higher', floor: null, ratio: null } as const
    return [
      { ...named, name: 'machine.cases', value: await measured(1), target: null },
      { ...named, name: 'machine.cases.two', value: await measured(2), target: CASES_A_SECOND },
      { ...named, name: 'machine.cases.package', value: await ofPackage(), target: null }
    ]
  }
}
