import { describe, expect, it } from 'vitest'
import { defineFlowKind, defineTool } from '../../../../src/agent/index.js'
import type { Json } from '../../../../src/core/index.js'
import {
  type Case,
  type DocumentTarget,
  type SeenInTheEnd,
  type Trouble,
  verifyCase,
  verifyMachine
} from '../../../../src/testing/index.js'
import { cases, testMs } from '../../../support/effort.js'
import { agentOf, flowOf, nodeOf } from '../../../support/flows.js'
import { tallyErrorOf } from '../../../support/tally-error-of.js'

const order = defineTool({
  name: 'order',
  description: 'Orders paper.',
  parameters: {
    type: 'object',
    properties: { sheets: { type: 'integer', minimum: 1, maximum: 500 } },
    required: ['sheets']
  },
  sideEffects: 'idempotent',
  isDestructive: false,
  perform: () => {
    throw new Error('it is not performed here')
  }
})

const stamp = defineFlowKind({
  kind: 'stamp',
  version: '1.0.0',
  sideEffects: 'none',
  run: () => ({ ports: { result: String(Date.now()) } })
})

const verdict = {
  type: 'object',
  properties: { approved: { type: 'boolean' } },
  required: ['approved']
}

/** Plans, orders by a tool, and lets another agent judge. */
const office = flowOf({
  agents: [agentOf('writer', { toolPolicy: { allowedCapabilities: ['order'] } }), agentOf('judge')],
  nodes: [
    nodeOf('write', 'agent.main', {
      agentId: 'writer',
      config: { userPrompt: 'Order paper.', retry: { maxAttempts: 2, intervalMs: 1_000 } }
    }),
    nodeOf('judge', 'agent.sub', { agentId: 'judge', config: { outputSchema: verdict } }),
    nodeOf('finish', 'control.finish')
  ],
  edges: ['write -> judge', 'judge -> finish']
})

const stamped = flowOf({
  nodes: [
    nodeOf('ask', 'agent.main', { agentId: 'main' }),
    nodeOf('mark', 'stamp'),
    nodeOf('finish', 'control.finish')
  ],
  edges: ['ask -> mark', 'mark -> finish']
})

function target(document: Json): DocumentTarget {
  return { document, agents: { environment: {}, tools: [order], kinds: [stamp] } }
}

const ordering = { 'agent.tool.order': { answer: () => ({ ordered: true }) } }

/** The writer orders so many sheets, and the judge approves. */
function ordered(sheets: number, trouble: Trouble = null): Case {
  const call = { id: 'call-1', name: 'order', arguments: { sheets } }
  const effects = {
    'agent.turn write': { answers: [{ toolCalls: [call] }, { text: 'done' }] },
    'agent.turn judge': { answers: [{ structured: { approved: true } }] },
    'agent.tool.order': { troubles: [trouble] }
  }
  return { inputs: [{}], effects }
}

describe('a flow of agents', () => {
  it(
    'keeps every promise with answers of the shape that its nodes ask for',
    async () => {
      const count = cases({ usual: 6, long: 22, soak: 44 })
      const report = await verifyMachine(target(office), { effects: ordering, cases: count })
      expect(report.cases).toBe(count)
      expect(report.coverage.transitions.taken).toBeGreaterThan(1)
      expect(report.notChecked.join()).toContain('agents: what models say')
    },
    testMs(900_000)
  )

  it('with a node kind that reads the clock is found', async () => {
    const error = await tallyErrorOf(verifyMachine(target(stamped), { cases: 30 }))
    expect(error.context).toMatchObject({ promise: 'deterministic' })
    expect(error.message).toContain('clock')
    expect(error.message).toContain('"agent.turn ask"')
  })

  it('whose tool does again what is sent again is found', async () => {
    const effects = { 'agent.tool.order': { answer: () => ({}), repeats: 'again' } } as const
    const error = await tallyErrorOf(
      verifyCase(target(office), ordered(1, 'loses_done'), { effects })
    )
    expect(error.context).toMatchObject({ promise: 'once' })
  })

  it('breaks an invariant of its user where an answer leads to it', async () => {
    const eventually = { 'little is ordered': ({ deeds }: SeenInTheEnd) => !deeds.some(isLarge) }
    const options = { effects: ordering, eventually }
    await verifyCase(target(office), ordered(7), options)
    const error = await tallyErrorOf(verifyCase(target(office), ordered(400), options))
    expect(error.context).toMatchObject({ promise: 'eventually' })
    expect(error.message).toContain('"sheets":400')
  })

  it('is asked for what its tools give', async () => {
    const error = await tallyErrorOf(verifyMachine(target(office), { cases: 20 }))
    expect(error.code).toBe('testing.answer_missing')
    expect(error.message).toContain('agent.tool.order')
  })
})

function isLarge({ effect, request }: { readonly effect: string; readonly request: Json }) {
  return effect === 'agent.tool.order' && JSON.stringify(request).length > '{"sheets":99}'.length
}
