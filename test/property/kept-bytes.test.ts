import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { defineBlock } from '../../src/code/index.js'
import { sha256Hex, systemRandom } from '../../src/core/index.js'
import { openMemoryStore, type Store } from '../../src/ledger/index.js'
import { FakeClock } from '../../src/testing/fake-clock.js'
import { openOn } from '../support/lives.js'

/** A store that keeps all bytes of which it was said that they stay, with their hashes then. */
function watched() {
  const given: { readonly key: string; readonly value: Uint8Array; readonly hash: string }[] = []
  const inner = openMemoryStore()
  const store: Store = {
    get: (key) => inner.get(key),
    entries: (range) => inner.entries(range),
    commit: (items) => {
      const staying = items.filter(({ bytesStay }) => bytesStay === true)
      for (const [key, value] of staying.flatMap(({ puts }) => puts)) {
        given.push({ key, value, hash: sha256Hex(value) })
      }
      return inner.commit(items)
    },
    compact: () => inner.compact(),
    close: () => inner.close()
  }
  return { given, store }
}

const read = defineBlock({
  name: 'read',
  version: '1.0.0',
  sideEffects: 'idempotent',
  run: async (ctx, input) => {
    const { size, waits } = input as { readonly size: number; readonly waits: boolean }
    await ctx.effect('read', { perform: () => 'é'.repeat(size) })
    if (waits) await ctx.wait({ reason: 'external', request: 'go on?' })
    ctx.state.set(`key-${size % 7}`, { size, text: 'x'.repeat(size) })
    return 'y'.repeat(size)
  }
})

it('bytes of which a store was told that they stay never change, whatever follows', async () => {
  const { given, store } = watched()
  const directory = await mkdtemp(join(tmpdir(), 'tally-bytes-'))
  try {
    const tally = await openOn(store, {
      blocks: [read],
      random: systemRandom,
      clock: new FakeClock()
    })
    const document = {
      schema: 'tally-composite/1',
      name: 'reading',
      version: '1.0.0',
      entry_point: 'a',
      nodes: { a: { block: 'read' } },
      transitions: {}
    }
    const begin = (size: number, waits: boolean) =>
      tally.begin(document, { inputs: { size, waits } }).result
    for (const size of [0, 1, 300, 1_500, 5_000]) {
      // One waits until the ledger is closed.
      void begin(size, true)
      await Promise.all(Array.from({ length: 20 }, (_, index) => begin(size + index, false)))
      await tally.intent({ action: 'system.key.rotate' })
    }
    await tally.archive({ path: join(directory, '1.archive'), through: 0 })
    await begin(9, false)
    await tally.close()
  } finally {
    await rm(directory, { recursive: true })
  }
  const changed = given.filter(({ value, hash }) => sha256Hex(value) !== hash)
  expect(changed.map(({ key }) => key)).toEqual([])
  expect(given.length).toBeGreaterThan(50)
})
