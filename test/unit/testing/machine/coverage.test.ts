import { describe, expect, it } from 'vitest'
import { defineBlock } from '../../../../src/code/index.js'
import { verifyCase } from '../../../../src/testing/index.js'

const blocks = ['first', 'second'].map((name) =>
  defineBlock({ name, version: '1.0.0', sideEffects: 'none', run: () => ({}) })
)

/** Both branches lead to the same node. */
const document = {
  schema: 'tally-composite/1',
  name: 'branches',
  version: '1.0.0',
  entry_point: 'first',
  nodes: { first: { block: 'first' }, second: { block: 'second' } },
  transitions: {
    first: [
      { condition: { cel: 'request.context.urgent || request.payload.urgent' }, target: 'second' },
      { condition: 'default', target: 'second' }
    ]
  }
}

const rows = [
  [{ urgent: false }, { urgent: true }, '2: default'],
  [{ urgent: true }, { urgent: false }, '2: default'],
  [{ urgent: false }, { urgent: false }, '1: request.context.urgent || request.payload.urgent']
] as const

describe('coverage', () => {
  it.each(rows)(
    'tells branches to one node apart: input %j, context %j',
    async (input, context, missed) => {
      const { coverage } = await verifyCase({ document, blocks }, { inputs: [input] }, { context })
      expect(coverage.transitions).toEqual({ taken: 2, of: 3 })
      expect(coverage.missed).toContainEqual({
        what: `root: first -> second (${missed})`,
        why: 'its condition was never true, or an earlier one was'
      })
    }
  )
})
