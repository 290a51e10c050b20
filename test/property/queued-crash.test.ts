import { describe, expect, it } from 'vitest'
import { type BlockContext, defineBlock } from '../../src/code/index.js'
import type { Json } from '../../src/core/index.js'
import { openMemoryStore } from '../../src/ledger/index.js'
import type { Registrations, WiredRuntime } from '../../src/runtime/index.js'
import { crashEverywhere } from '../support/crash-everywhere.js'
import { openOn, until, type World } from '../support/lives.js'
import type { Scenario } from '../support/run-to-end.js'

/** Q9: queues beside all else: crashes, receipts, reservations. */

type Queue = Registrations['queues']

function blocks(world: Pick<World, 'actOnce'>) {
  const acts = (name: string, queue?: string) =>
    defineBlock({
      name,
      version: '1.0.0',
      sideEffects: 'idempotent',
      ...(queue === undefined ? {} : { queue }),
      run: async (ctx: BlockContext) => {
        const act = (request: string) =>
          ctx.effect('post', { request, perform: (call) => world.actOnce(call) })
        return [await act(`${name} first`), await act(`${name} last`)]
      }
    })
  return [acts('a', 'bank'), acts('b', 'bank'), acts('c', 'bank'), acts('d')]
}

const plan: Json = {
  schema: 'tally-plan/1',
  name: 'scenario',
  order: 'declared',
  version: '1.0.0',
  nodes: [
    { id: 'a', block: 'a' },
    { id: 'b', block: 'b' },
    { id: 'c', block: 'c' },
    { id: 'd', deps: ['a'], block: 'd' }
  ]
}

const one: Queue = { bank: { concurrency: 1 }, post: { concurrency: 1 } }

it('L7: nothing is done twice, whatever moment the process dies at while effects wait', async () => {
  const scenario: Scenario = {
    document: plan,
    inputs: {},
    registrations: (world) => ({ blocks: blocks(world), queues: one })
  }
  const few = { sameOrder: false, at: (at: number) => at % 2 === 0 }
  expect(await crashEverywhere(scenario, few)).toBeGreaterThan(10)
})

describe('receipts', () => {
  async function hashes(queues: Queue): Promise<readonly string[]> {
    const answered = { actOnce: async ({ request }: { readonly request: Json }) => request }
    const store = openMemoryStore()
    const tally = await openOn(store, { blocks: blocks(answered as never), queues: queues ?? {} })
    const { status } = await tally.begin(plan, { id: 'r' }).result
    expect(status).toBe('done')
    const found: string[] = []
    for await (const { receipt } of tally.receipts()) {
      // The end of the run names the hash of its journal, where effects stand as they came.
      if (receipt.intent !== 'run.completed') found.push(receipt.receiptHash)
    }
    await tally.close()
    return found
  }

  it('B13, D4: are the same whatever waits for its turn, and how long', async () => {
    const free = await hashes({ bank: { concurrency: 9 } })
    expect(free.length).toBe(4)
    expect(await hashes(one)).toEqual(free)
    expect(await hashes({ bank: { concurrency: 2, partitionConcurrency: 1 } })).toEqual(free)
  })
})

describe('a key that is reserved', () => {
  /** Reads the key, acts outside, which reserves it, then acts again in the queue. */
  const reserver = (perform: (request: Json) => Promise<Json>) =>
    defineBlock({
      name: 'reserver',
      version: '1.0.0',
      sideEffects: 'idempotent',
      queue: 'bank',
      run: async (ctx) => {
        ctx.state.get('n')
        const act = (request: string) =>
          ctx.effect('post', { request, perform: (call) => perform(call.request) })
        await act('reserves')
        return act('waits')
      }
    })
  const writer = (perform: (request: Json) => Promise<Json>) =>
    defineBlock({
      name: 'writer',
      version: '1.0.0',
      sideEffects: 'idempotent',
      queue: 'bank',
      run: async (ctx) => {
        await ctx.effect('post', { request: 'holds', perform: (call) => perform(call.request) })
        ctx.state.set('n', 1)
        return 'written'
      }
    })

  const documentOf = (block: string): Json => ({
    schema: 'tally-composite/1',
    name: block,
    version: '1.0.0',
    entry_point: 'first',
    nodes: { first: { block } }
  })

  it('B13, Q9, L10: what has a turn waits for no key, so that who has the key gets its turn', async () => {
    const ends = new Map<string, () => void>()
    const perform = (request: Json) =>
      new Promise<Json>((resolve) => void ends.set(String(request), () => resolve(request)))
    const blocksOf = [reserver(perform), writer(perform)]
    const queues = { bank: { concurrency: 1 } }
    const tally: WiredRuntime = await openOn(openMemoryStore(), { blocks: blocksOf, queues })
    const holder = tally.begin(documentOf('reserver'), { id: 'holder' })
    await until(() => ends.has('reserves'))
    const other = tally.begin(documentOf('writer'), { id: 'other' })
    await until(async () => (await tally.queues('bank'))[0]?.waiting === 1)
    // The turn goes to the writer, and the holder of the key waits for it.
    ends.get('reserves')?.()
    await until(() => ends.has('holds'))
    await until(async () => (await tally.queues('bank'))[0]?.waiting === 1)
    // Its code ends and wants to commit, for which it needs the key: its turn is over before.
    ends.get('holds')?.()
    await until(() => ends.has('waits'))
    ends.get('waits')?.()
    expect((await holder.result).status).toBe('done')
    expect((await other.result).status).toBe('done')
    expect((await tally.verify()).ok).toBe(true)
    await tally.close()
  })
})
