import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { fileBank } from '../../examples/01-invoices/bank.js'
import { invoiceBlocks } from '../../examples/01-invoices/blocks.js'
import { elapsedMs, type Json } from '../../src/core/index.js'
import { verifyMachine } from '../../src/testing/index.js'
import type { Group } from '../row.js'

const CASES = 1_000
const CASES_USUAL = 100
/** The figure of the product: 1,000 cases in 20 seconds. */
const CASES_A_SECOND = 50

/** The invoice example by made-up lives of it, with crashes, every case verified and replayed. */
export const machine: Group = {
  rows: ['machine.cases'],
  async measure({ full }) {
    const cases = full ? CASES : CASES_USUAL
    // Compiled code lies in dist/bench/groups; the document lies beside the sources.
    const path = '../../../examples/01-invoices/pay-invoices.yaml'
    const document = readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8')
    const target = { document, blocks: invoiceBlocks, providers: [fileBank('no-such-file')] }
    const row = fc.tuple(fc.constantFrom('x', 'y'), fc.constantFrom('0.00', '12.50', '20000.00'))
    const answer = fc.array(row, { maxLength: 3 }).map(fileOf)
    const options = {
      inputs: fc.constant<Json>({ path: 'invoices.csv', confirm_above: '10000.00' }),
      effects: {
        'file.read': { answer },
        'bank.transfer': { answer: () => ({ reference: 'T-1' }) }
      }
    }
    await verifyMachine(target, { ...options, cases: 10 })
    const begin = elapsedMs()
    await verifyMachine(target, { ...options, cases })
    const value = (cases * 1_000) / (elapsedMs() - begin)
    const named = { name: 'machine.cases', unit: 'cases/s', better: 'higher' } as const
    return [{ ...named, value, floor: null, ratio: null, target: CASES_A_SECOND }]
  }
}

function fileOf(rows: readonly (readonly string[])[]): string {
  return ['id,payee,amount', ...rows.map((row, id) => [id, ...row].join())].join('\n')
}
