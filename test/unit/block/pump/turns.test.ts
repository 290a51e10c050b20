import { describe, expect, it, vi } from 'vitest'
import { isFarAhead, Turns } from '../../../../src/block/pump/host.js'
import { defineBlock } from '../../../../src/code/index.js'
import { type Json, limits, nextTurn } from '../../../../src/core/index.js'
import { openMemoryStore } from '../../../../src/ledger/index.js'
import { storeAround } from '../../../../src/ledger/stores/store-around.js'
import { openOn } from '../../../support/lives.js'

const { PUMP_SLICE_MS, RUN_AHEAD_BYTES_MAX, RUN_AHEAD_ITEMS_MAX } = limits

describe('run-ahead', () => {
  it.each([
    { items: RUN_AHEAD_ITEMS_MAX, bytes: RUN_AHEAD_BYTES_MAX, isFar: false },
    { items: RUN_AHEAD_ITEMS_MAX + 1, bytes: 0, isFar: true },
    { items: 0, bytes: RUN_AHEAD_BYTES_MAX + 1, isFar: true }
  ])('D9: ends beyond $items items or $bytes bytes: $isFar', ({ isFar, ...backlog }) => {
    expect(isFarAhead({ backlog: () => backlog })).toBe(isFar)
  })

  it('D9: a run that is far ahead of the disk waits for it', async () => {
    let isHeld = true
    const inner = openMemoryStore()
    const store = storeAround(inner, {
      commit: async (items) => {
        while (isHeld && items.some(isCommit)) await nextTurn()
        return inner.commit(items)
      }
    })
    const tally = await openOn(store, { blocks: [step] })
    const run = tally.begin(loop, { id: 'r', inputs: {} })
    const most = await restingBacklog(() => tally.ledger.backlog().items)
    isHeld = false
    expect(most).toBeGreaterThan(RUN_AHEAD_ITEMS_MAX)
    expect(most).toBeLessThanOrEqual(RUN_AHEAD_ITEMS_MAX + 2)
    expect((await run.result).status).toBe('failed')
    await tally.close()
  })
})

describe('turns of the event loop', () => {
  it('D9: runs share a slice, and let the loop turn when it is used up', async () => {
    let now = 1_000
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
    try {
      const turns = new Turns()
      expect(turns.yield()).toBeUndefined()
      now += PUMP_SLICE_MS - 1
      expect(turns.yield()).toBeUndefined()
      now += 1
      const [one, other] = [turns.yield(), turns.yield()]
      expect(one).toBeInstanceOf(Promise)
      expect(other).toBe(one)
      await one
      expect(turns.yield()).toBeUndefined()
    } finally {
      clock.mockRestore()
    }
  })
})

const step = defineBlock({ name: 'step', version: '1.0.0', sideEffects: 'none', run: () => null })

/** More steps than may be ahead of the disk. */
const loop: Json = {
  schema: 'tally-composite/1',
  name: 'loop',
  version: '1.0.0',
  max_steps: RUN_AHEAD_ITEMS_MAX * 2,
  entry_point: 'a',
  nodes: { a: { block: 'step' } },
  transitions: { a: 'a' }
}

function isCommit({ puts }: { readonly puts: readonly (readonly [string, unknown])[] }): boolean {
  return puts.some(([key]) => key.includes('/commit/'))
}

/** The backlog once it has not changed for many turns: nothing but the disk can move it then. */
async function restingBacklog(backlog: () => number): Promise<number> {
  while (backlog() === 0) await nextTurn()
  let last = backlog()
  for (let same = 0; same < 50; same += 1) {
    await nextTurn()
    const now = backlog()
    if (now !== last) same = 0
    last = now
  }
  return last
}
