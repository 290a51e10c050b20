import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { toDirectedGraph } from '@xstate/graph'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fileBank } from '../../../../examples/01-invoices/bank.js'
import { invoiceBlocks } from '../../../../examples/01-invoices/blocks.js'
import type { Json } from '../../../../src/core/index.js'
import {
  type Case,
  type MachineOptions,
  verifyCase,
  verifyMachine
} from '../../../../src/testing/index.js'
import { Coverage } from '../../../../src/testing/machine/coverage.js'
import { prepareTarget } from '../../../../src/testing/machine/target.js'
import { nextSignature } from '../../../support/approvers.js'
import { cases } from '../../../support/effort.js'
import { compositeMachine } from '../../../support/interpreted-charts.js'
import { World } from '../../../support/lives.js'
import { scenarioBlocks } from '../../../support/scenario-blocks.js'
import {
  fanDocument,
  planDocument,
  scenarioDocuments
} from '../../../support/scenario-documents.js'
import { root } from '../../../support/source.js'

const invoices = {
  document: readFileSync(join(root, 'examples/01-invoices/pay-invoices.yaml'), 'utf8'),
  blocks: invoiceBlocks,
  providers: [fileBank(join(root, 'no-such-file'))]
}

const row = fc.tuple(fc.constantFrom('x', 'y'), fc.constantFrom('0.00', '12.50', '20000.00'))
const file = fc
  .array(row, { maxLength: 3 })
  .map((rows) => ['id,payee,amount', ...rows.map((one, id) => [id, ...one].join())].join('\n'))

const invoiceOptions: MachineOptions = {
  inputs: fc.constant<Json>({ path: 'invoices.csv', confirm_above: '10000.00' }),
  effects: {
    'file.read': { answer: file },
    'bank.transfer': { answer: () => ({ reference: 'T-1' }) }
  },
  always: {
    'what is paid was transferred': ({ state }) =>
      ((state['paid'] ?? []) as string[]).every((id) => `payment/${id}` in state)
  },
  eventually: {
    'no invoice is paid twice': ({ deeds }) =>
      new Set(deeds.map(({ request }) => (request as { invoice: string }).invoice)).size ===
      deeds.length
  }
}

/** The long form, on a machine that does other work. */
const LONG_MS = 900_000

const effects: MachineOptions['effects'] = {
  look: { answer: (request) => ({ seen: request }) },
  pay: { answer: () => ({ paid: true }) },
  post: { answer: () => ({ posted: true }) },
  blind: { answer: () => ({ done: true }) }
}

describe('an honest machine', () => {
  it(
    'keeps every promise: the invoice example',
    async () => {
      const count = cases({ usual: 6, long: 28, soak: 55 })
      const report = await verifyMachine(invoices, { ...invoiceOptions, cases: count })
      expect(report.cases).toBe(count)
      expect(report.crashes).toBeGreaterThan(count / 4)
      expect(report.coverage.transitions).toEqual({ taken: 9, of: 9 })
      // It fails only with inputs that nothing of this world gives.
      expect(report.coverage.missed).toContainEqual({
        what: 'root/report: failed',
        why: 'nothing in the cases led there'
      })
    },
    LONG_MS
  )

  // Found by these cases: the due time of a parked run was armed again while the run was resumed.
  it('stays ended when a due time of before comes, once it was cancelled', async () => {
    const { blocks = [] } = scenarioBlocks(new World())
    const given: Case = {
      inputs: [{}, {}],
      people: [{ manner: 'late' }, { manner: 'cancels' }]
    }
    const report = await verifyCase({ document: planDocument, blocks }, given, { effects })
    expect(report.cases).toBe(1)
  })

  // The same answer was a day later in each life that it had been lost in.
  it('is as late as before when a late answer dies with its process', async () => {
    const inputs = [{ path: 'invoices.csv', confirm_above: '10000.00' }]
    const answers = ['id,payee,amount\n0,x,20000.00']
    for (let at = 1; at <= 30; at += 1) {
      const given: Case = {
        inputs,
        effects: { 'file.read': { answers } },
        people: [{ manner: 'late' }],
        deaths: [{ at }]
      }
      await verifyCase(invoices, given, invoiceOptions)
    }
  })

  const documents = { ...scenarioDocuments, 'a plan': planDocument, 'effects beside': fanDocument }

  it.each(Object.entries(documents))(
    'keeps every promise: %s',
    async (_, document) => {
      const { blocks = [] } = scenarioBlocks(new World())
      const report = await verifyMachine(
        { document, blocks },
        {
          effects,
          inputs: fc.constant<Json>({}),
          concurrent: 2,
          people: { sign: (wait, answer) => nextSignature(wait, answer) },
          next: { blocks: [...blocks] },
          cases: cases({ usual: 2, long: 6, soak: 11 })
        }
      )
      expect(report.lives).toBeGreaterThan(report.cases)
    },
    LONG_MS
  )
})

describe('coverage', () => {
  it.each(Object.entries(scenarioDocuments).filter(([name]) => !name.includes('plan')))(
    'counts the transitions that @xstate/graph finds in the chart: %s',
    async (_, document) => {
      const { blocks = [] } = scenarioBlocks(new World())
      const { compiled } = await prepareTarget({ document, blocks })
      if (compiled.kind !== 'composite') throw new Error('it is no composite')
      const own = new Coverage(compiled).report().missed.filter(({ what }) => {
        return what.startsWith('root: ') && !what.includes('the end')
      })
      expect(own).toHaveLength(branchesIn(toDirectedGraph(compositeMachine(compiled))))
    }
  )
})

interface Graph {
  readonly edges: readonly {
    readonly label: { readonly text: string }
    readonly source: { readonly id: string }
    readonly target: { readonly id: string }
  }[]
  readonly children: readonly Graph[]
}

/** Transitions from the running child of a node into another node's gate. */
function branchesIn(graph: Graph): number {
  const own = graph.edges.filter(
    ({ label, target }) => label.text === 'block.settled' && target.id.endsWith('.gate')
  )
  return own.length + graph.children.reduce((sum, child) => sum + branchesIn(child), 0)
}
