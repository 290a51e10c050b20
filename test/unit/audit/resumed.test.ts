import { describe, expect, it } from 'vitest'
import { verifyLedgerDeep } from '../../../src/audit/index.js'
import { defineBlock } from '../../../src/code/index.js'
import type { Json } from '../../../src/core/index.js'
import { Registry } from '../../../src/runtime/code/registry.js'
import { testKeys } from '../../support/lives.js'
import { type Outcome, runScenario, type Scenario } from '../../support/run-to-end.js'

const blocks = [
  defineBlock({
    name: 'dated',
    version: '1.0.0',
    sideEffects: 'none',
    run: async (ctx) => {
      const seen = await ctx.effect('look', { request: { at: ctx.now() }, perform: () => 1 })
      await ctx.sleep(5_000)
      await ctx.wait({ reason: 'external' })
      return { seen, at: ctx.now() }
    }
  }),
  defineBlock({
    name: 'capable',
    version: '1.0.0',
    sideEffects: 'none',
    capabilities: ['look'],
    run: (ctx) => ctx.effect('look', { request: 1, perform: () => 1 })
  })
]

function scenario(nodes: Json, rest: object = {}): Scenario {
  const document = {
    schema: 'tally-composite/1',
    name: 'resumed',
    version: '1.0.0',
    entry_point: 'a',
    nodes,
    ...rest
  }
  return { document: document as Json, inputs: {}, registrations: () => ({ blocks }) }
}

async function expectSame({ machine, result }: Outcome): Promise<void> {
  expect(result.status).toBe('done')
  const code = await Registry.open({ blocks })
  const store = machine.disk.open()
  const report = await verifyLedgerDeep({ store, identity: testKeys.identity, code })
  expect(report.failure).toBeUndefined()
}

describe('runs that were resumed', () => {
  it('K7: an attempt keeps its time while its run is parked and resumed', async () => {
    const parked = scenario({ a: { block: 'dated' } })
    const { boundaries } = await runScenario(parked)
    for (let death = 0; death <= boundaries; death += 1) {
      await expectSame(await runScenario(parked, death === 0 ? [] : [death]))
    }
  })

  it('C4: what an overlay used of its capabilities is known after a crash', async () => {
    const graph = {
      atomic: true,
      entry_point: 'b',
      nodes: { b: { block: 'capable' }, c: { block: 'dated' } },
      transitions: { b: 'c' }
    }
    const inside = scenario({ a: { composite: graph } })
    const { boundaries } = await runScenario(inside)
    for (let death = 1; death <= boundaries; death += 1) {
      await expectSame(await runScenario(inside, [death]))
    }
  })
})
