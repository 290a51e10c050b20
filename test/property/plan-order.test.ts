import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/core/index.js'
import { cases } from '../support/effort.js'
import { type GeneratedNode, graphs, planBlocks, planOf, reference } from '../support/plans.js'
import { type Outcome, runScenario, type Scenario } from '../support/run-to-end.js'
import { completionOf, nodeReceiptsOf } from '../support/timed-receipts.js'

const runs = cases({ usual: 6, long: 7, soak: 500 })

function scenarioOf(
  nodes: readonly GeneratedNode[],
  delays: readonly number[],
  more: { readonly [key: string]: Json }
): Scenario {
  const delay = (id: string) => delays[Number(id.slice(1)) % delays.length] ?? 0
  return {
    document: planOf(nodes, more),
    inputs: null,
    registrations: (world) => ({ blocks: planBlocks(world, delay) })
  }
}

const delays = fc.array(fc.nat(4), { minLength: 8, maxLength: 8 })

interface NodeEnd {
  readonly status: string
  readonly data?: { readonly result: Json }
}

/** How each node ended, whether the plan did well or not. */
function endsOf({ result }: Outcome): Readonly<Record<string, NodeEnd>> {
  const { data, details, success } = result.response
  const holder = (success ? data : details) as unknown as {
    readonly nodes: Record<string, NodeEnd>
  }
  return holder.nodes
}

const quick = ['mix', 'count', 'look', 'post', 'fail', 'judge'] as const

/** A failure that depends on what a node before it has changed. */
const judged: readonly GeneratedNode[] = [
  { id: 'n0', deps: [], deed: 'count', goesOn: false },
  { id: 'n1', deps: [], deed: 'judge', goesOn: false }
]
const atOnce = Array.from({ length: 8 }, () => 0)

describe('declared order', () => {
  it('D3, C2: any timing, and one node after the other, give the same receipts', async () => {
    await fc.assert(
      fc.asyncProperty(graphs(quick), delays, delays, async (nodes, some, others) => {
        const declared = { order: 'declared' }
        const one = await runScenario(scenarioOf(nodes, some, declared))
        const other = await runScenario(scenarioOf(nodes, others, declared))
        const line = { ...declared, parallel: false }
        const inLine = await runScenario(scenarioOf(nodes, [0], line))
        expect(nodeReceiptsOf(other)).toEqual(nodeReceiptsOf(one))
        expect(nodeReceiptsOf(inLine)).toEqual(nodeReceiptsOf(one))
        expect(completionOf(other)).toEqual(completionOf(one))
        expect([other.state, inLine.state]).toEqual([one.state, one.state])
      }),
      { numRuns: runs, examples: [[judged, atOnce, atOnce]] }
    )
  })

  it('C2, W9: ends as one node after the other does, failures included', async () => {
    await fc.assert(
      fc.asyncProperty(graphs(quick), delays, async (nodes, some) => {
        const outcome = await runScenario(scenarioOf(nodes, some, { order: 'declared' }))
        const ends = endsOf(outcome)
        for (const [id, { status, result }] of reference(nodes)) {
          expect({ id, status: ends[id]?.status }).toEqual({ id, status })
          if (outcome.result.response.success && status === 'done') {
            expect(ends[id]?.data?.result).toEqual(result)
          }
        }
      }),
      { numRuns: runs, examples: [[judged, atOnce]] }
    )
  })

  it('C4, L10: an atomic plan commits what one node after the other would', async () => {
    await fc.assert(
      fc.asyncProperty(
        graphs(['mix', 'count', 'look', 'fail', 'judge']),
        delays,
        async (nodes, some) => {
          const atomic = { order: 'declared', atomic: true }
          const one = await runScenario(scenarioOf(nodes, some, atomic))
          const free = await runScenario(scenarioOf(nodes, some, { order: 'declared' }))
          expect(one.result.status).toBe(free.result.status)
          expect(one.state).toBe(one.result.status === 'done' ? free.state : '[]')
          expect(nodeReceiptsOf(one)).toHaveLength(one.result.status === 'done' ? 1 : 0)
        }
      ),
      { numRuns: runs }
    )
  })
})

describe('order of arrival', () => {
  it('D3, W11: per node the same as one after the other, for any timing, wait and crash', async () => {
    const deeds = ['mix', 'look', 'post', 'ask', 'nap', 'fail'] as const
    const deaths = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 2 })
    await fc.assert(
      fc.asyncProperty(graphs(deeds), delays, deaths, async (graph, some, dies) => {
        const nodes = graph.map((node) => ({ ...node, goesOn: true }))
        const lanes = { narrow: 2 }
        const plan = planOf(nodes, { lanes })
        const inLanes = {
          ...plan,
          nodes: (plan['nodes'] as Record<string, Json>[]).map((node, index) =>
            index % 2 === 0 ? { ...node, lane: 'narrow' } : node
          )
        }
        const scenario = { ...scenarioOf(nodes, some, {}), document: inLanes }
        const outcome = await runScenario(scenario, dies)
        expect(outcome.machine.world.repeated()).toEqual([])
        const ends = endsOf(outcome)
        for (const [id, { status, result }] of reference(nodes)) {
          expect({ id, status: ends[id]?.status }).toEqual({ id, status })
          if (status === 'done') expect(ends[id]?.data?.result).toEqual(result)
        }
      }),
      { numRuns: runs }
    )
  })
})
