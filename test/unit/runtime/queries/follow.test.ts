import { describe, expect, it } from 'vitest'
import { defineBlock } from '../../../../src/code/index.js'
import { type Json, systemRandom } from '../../../../src/core/index.js'
import { openMemoryStore } from '../../../../src/ledger/index.js'
import type { FollowedEntry, WiredRuntime } from '../../../../src/runtime/index.js'
import { openOn } from '../../../support/lives.js'

/** Q4: one run by its places. */

const takes = defineBlock({
  name: 'takes',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx) => [await ctx.signal('item'), await ctx.signal('item')]
})
const document: Json = {
  schema: 'tally-composite/1',
  name: 'order',
  version: '1.0.0',
  entry_point: 'a',
  nodes: { a: { block: 'takes' } }
}

const open = () => openOn(openMemoryStore(), { blocks: [takes], random: systemRandom })

async function all(events: AsyncIterable<FollowedEntry>): Promise<readonly FollowedEntry[]> {
  const found: FollowedEntry[] = []
  for await (const event of events) found.push(event)
  return found
}

/** A run that has ended, beside another. */
async function ended(tally: WiredRuntime): Promise<readonly FollowedEntry[]> {
  for (const id of ['a', 'b']) await tally.start(document, { id })
  const following = all(tally.follow('a'))
  for (const item of [1, 2]) for (const id of ['b', 'a']) await tally.signal(id, 'item', item)
  return following
}

describe('following a run', () => {
  it('Q4: gives each of its entries once and in order, as they become durable', async () => {
    await using tally = await open()
    const found = await ended(tally)
    const journal: Json[] = []
    for await (const { value } of tally.journal('a')) journal.push(value)
    expect(found.map(({ entry }) => entry)).toEqual(journal)
    expect(found.at(-1)?.entry['k']).toBe('run.finished')
  })

  it('Q4: goes on behind each place, without gap or double', async () => {
    await using tally = await open()
    const found = await ended(tally)
    for (const [index, { place }] of found.entries()) {
      expect(await all(tally.follow('a', { after: place }))).toEqual(found.slice(index + 1))
    }
  })

  it('ends when it is told to', async () => {
    await using tally = await open()
    await tally.start(document, { id: 'a' })
    const controller = new AbortController()
    const events = tally.follow('a', { signal: controller.signal })[Symbol.asyncIterator]()
    expect((await events.next()).value?.entry.k).toBe('run.started')
    controller.abort()
    let last = await events.next()
    while (last.done !== true) last = await events.next()
    await (await tally.attach('a')).cancel()
  })

  it('rejects for a run that is not there, and for a place of another ledger', async () => {
    await using tally = await open()
    await expect(all(tally.follow('none'))).rejects.toMatchObject({ code: 'run.not_found' })
    await ended(tally)
    for (const after of ['x', '999999.1']) {
      const rejected = expect(all(tally.follow('a', { after }))).rejects
      await rejected.toMatchObject({ code: 'service.invalid_params' })
    }
  })
})
