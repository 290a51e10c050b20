import { describe, expect, it } from 'vitest'
import { defineBlock } from '../../src/code/index.js'
import { type Json, limits, nextTurn } from '../../src/core/index.js'
import { openMemoryStore, type Store } from '../../src/ledger/index.js'
import { storeAround } from '../../src/ledger/stores/store-around.js'
import { cases } from '../support/effort.js'
import { openOn } from '../support/lives.js'

const RUNS = 8
// Together more than may be ahead of the disk.
const STEPS = cases({ usual: 300, long: 550 })

const count = defineBlock({
  name: 'count',
  version: '1.0.0',
  sideEffects: 'none',
  run: (ctx) => {
    const n = (ctx.state.get<number>(`n/${ctx.runId}`) ?? 0) + 1
    ctx.state.set(`n/${ctx.runId}`, n)
    return { n }
  }
})

const loop: Json = {
  schema: 'tally-composite/1',
  name: 'loop',
  version: '1.0.0',
  max_steps: STEPS,
  entry_point: 'a',
  nodes: { a: { block: 'count' }, z: { block: 'count' } },
  transitions: {
    a: [
      { condition: { cel: `response.data.n >= ${STEPS - 1}` }, target: 'z' },
      { condition: 'default', target: 'a' }
    ]
  }
}

/** A store that tells how many commits it was given, and takes some turns for each. */
function slowStore(inner: Store): { readonly store: Store; commits: number } {
  const told = { commits: 0 }
  const store = storeAround(inner, {
    commit: async (items) => {
      told.commits += 1
      for (let turn = 0; turn < 3; turn += 1) await nextTurn()
      return inner.commit(items)
    }
  })
  return Object.assign(told, { store })
}

describe('many runs of pure steps', () => {
  it('D9: let the loop turn, and bound what is not durable yet', async () => {
    const told = slowStore(openMemoryStore())
    const runtime = await openOn(told.store, { blocks: [count] })
    const runs = Array.from({ length: RUNS }, (_, index) =>
      runtime.begin(loop, { id: `r${index}`, inputs: {} })
    )
    let isOver = false
    let turns = 0
    let most = { items: 0, bytes: 0 }
    const heart = (async () => {
      while (!isOver) {
        await nextTurn()
        turns += 1
        const { items, bytes } = runtime.ledger.backlog()
        most = { items: Math.max(most.items, items), bytes: Math.max(most.bytes, bytes) }
      }
    })()
    const results = await Promise.all(runs.map((run) => run.result))
    isOver = true
    await heart
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['done']))
    expect(runtime.status().receipts).toBe(RUNS * (STEPS + 1))
    // Turns, not time: the heart beats at least once for each slice and each flush.
    expect(turns).toBeGreaterThan(told.commits)
    expect(most.items).toBeLessThanOrEqual(limits.RUN_AHEAD_ITEMS_MAX + 2 * RUNS)
    expect(most.bytes).toBeLessThanOrEqual(limits.RUN_AHEAD_BYTES_MAX + limits.FLUSH_BYTES_MAX)
    // Run-ahead: a chain of pure steps costs far less than a commit for each (D2).
    expect(told.commits).toBeLessThan((RUNS * STEPS) / 4)
    await runtime.close()
  })

  it('D2: with durability "step" every step is durable before the next', async () => {
    const told = slowStore(openMemoryStore())
    const runtime = await openOn(told.store, { blocks: [count], durability: 'step' })
    const short = { ...(loop as object), max_steps: 20, transitions: { a: 'z' } } as Json
    await runtime.begin(short, { id: 'r', inputs: {} }).result
    expect(told.commits).toBeGreaterThanOrEqual(3)
    await runtime.close()
  })
})
