import { describe, expect, it } from 'vitest'
import { defineBlock } from '../../../../src/code/index.js'
import { hashJson, type Json, type JsonObject, ManualClock } from '../../../../src/core/index.js'
import { openMemoryStore, type Store } from '../../../../src/ledger/index.js'
import { storeAround } from '../../../../src/ledger/stores/store-around.js'
import { lasting } from '../../../support/lasting-store.js'
import { openOn } from '../../../support/lives.js'
import { expectVerifyFailure } from '../../../support/verified-close.js'

const asked: Json[] = []
let failures = 0

const order = defineBlock({
  name: 'order',
  version: '1.0.0',
  sideEffects: 'idempotent',
  intents: ['order'],
  run: async (ctx, input) => {
    const price = await ctx.effect('price', { request: { of: input as Json }, perform: () => 7 })
    const paid = await ctx.effect('pay', {
      request: { amount: price as Json, before: ctx.state.get<Json>('paid') ?? null },
      sideEffects: 'idempotent',
      perform: ({ request }) => {
        asked.push(request)
        if (failures > 0) {
          failures -= 1
          throw new Error('no line')
        }
        return 'ok'
      }
    })
    ctx.state.set('paid', price as Json)
    return { paid: paid as Json }
  }
})
const ask = defineBlock({
  name: 'ask',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx) => {
    await ctx.effect('look', { request: 'around', perform: () => 'seen' })
    return (await ctx.wait({ reason: 'external', request: { what: 'now' } })).action
  }
})

const quiet = defineBlock({
  name: 'quiet',
  version: '1.0.0',
  sideEffects: 'none',
  run: (ctx) => ctx.effect('look', { request: { of: 'lamp' }, perform: () => 'seen' })
})
const peek = defineBlock({
  name: 'peek',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx, input) => {
    const request = { seen: ctx.state.get<Json>('seen') ?? null }
    await ctx.effect('look', { request, perform: () => 'seen' })
    ctx.state.set('seen', typeof input === 'number' ? input : 0)
    return 3
  }
})

const documentOf = (block: string, recovery: Json = {}): Json => ({
  schema: 'tally-composite/1',
  name: `runs-${block}`,
  version: '1.0.0',
  entry_point: 'first',
  nodes: { first: { block, ...(recovery as object) } as Json, second: { block } },
  transitions: { first: 'second' }
})

function opened(store: Store = openMemoryStore(), blocks = [order, ask, quiet, peek]) {
  return openOn(store, { blocks, clock: new ManualClock(1_700_000_000_000) })
}

describe('the calls of an attempt', () => {
  it('have the requests that its code makes again on its answers, on the state of then', async () => {
    await using tally = await opened()
    await tally.begin(documentOf('order'), { id: 'one', inputs: 'lamp' }).result
    await tally.begin(documentOf('order'), { id: 'later', inputs: 'other' }).result
    asked.length = 0
    const { calls } = tally.queries
    const first = await calls({ id: 'one', path: 'root/first', step: 1 })
    expect(first).toMatchObject({
      input: 'lamp',
      output: { success: true, data: { paid: 'ok' } },
      notChecked: []
    })
    const paid = first.calls.find(({ effect }) => effect === 'pay')
    expect(first.calls.find(({ effect }) => effect === 'price')).toMatchObject({
      request: { of: 'lamp' },
      response: 7,
      ok: true
    })
    expect(paid).toMatchObject({ request: { amount: 7, before: null }, response: 'ok' })
    const second = await calls({ id: 'one', path: 'root/second', step: 2 })
    expect(second.calls.find(({ effect }) => effect === 'pay')).toMatchObject({
      request: { amount: 7, before: 7 }
    })
    // What a receipt signs of an answer is the hash of what is given here, with its salt.
    for await (const { receipt } of tally.receipts()) {
      const { run, sealed } = receipt.inputPayload
      if (run?.runId !== 'one' || run.path !== 'root/first') continue
      expect(sealed.map(({ responseHash }) => responseHash)).toEqual(
        first.calls.map(({ response, salt }) => hashJson({ body: response, salt }))
      )
      expect(sealed).toMatchObject(first.calls.map(({ responseHash }) => ({ responseHash })))
    }
    // Nothing was performed again.
    expect(asked).toEqual([])
  })

  it('are those of an attempt that failed, and of one that waits', async () => {
    await using tally = await opened()
    failures = 1
    const retrying = documentOf('order', {
      recovery: [{ retry: { max_attempts: 2, interval_ms: 0 } }]
    })
    await tally.begin(retrying, { id: 'tried', inputs: 'lamp' }).result
    const { calls } = tally.queries
    const failed = await calls({ id: 'tried', path: 'root/first', step: 1, attempt: 1 })
    expect(failed.calls.find(({ effect }) => effect === 'pay')).toMatchObject({
      request: { amount: 7 },
      ok: false
    })
    expect(failed.output).toMatchObject({ success: false })
    for await (const event of tally.begin(documentOf('ask'), { id: 'waits', inputs: 1 })) {
      if (event.type === 'run.parked') break
    }
    const waiting = await calls({ id: 'waits', path: 'root/first', step: 1 })
    expect(waiting).toMatchObject({
      input: 1,
      output: null,
      calls: [{ effect: 'look', request: 'around', response: 'seen' }]
    })
    const run = await tally.attach('waits')
    const [wait] = await run.waits()
    await run.resume(wait?.token ?? '', { digest: wait?.digest ?? '' })
    for await (const event of run) if (event.type === 'run.parked') break
    const answered = await calls({ id: 'waits', path: 'root/first', step: 1 })
    expect(answered.calls).toMatchObject([
      { effect: 'look' },
      { request: { request: { what: 'now' } }, response: { action: 'resume' } }
    ])
  })

  it('are those of a lone intent', async () => {
    await using tally = await opened()
    await tally.intent({ id: 'lone', action: 'order', payload: { of: 1 } })
    const { calls, notChecked } = await tally.queries.calls({ id: 'lone', path: 'root', step: 1 })
    expect(notChecked).toEqual([])
    expect(calls.find(({ effect }) => effect === 'pay')).toMatchObject({ request: { amount: 7 } })
  })

  it('are those of a step on what the composite around it has written, and nothing yet', async () => {
    await using tally = await opened()
    const look = documentOf('peek') as JsonObject
    await tally.begin({ ...look, atomic: true }, { id: 'whole', inputs: 3 }).result
    await tally.begin(documentOf('peek'), { id: 'later', inputs: 50 }).result
    const { calls } = tally.queries
    const requests = []
    for (const [path, step] of [
      ['root/first', 1],
      ['root/second', 2]
    ] as const) {
      const { calls: found, notChecked } = await calls({ id: 'whole', path, step })
      expect(notChecked).toEqual([])
      requests.push(found[0]?.request)
    }
    expect(requests).toEqual([{ seen: null }, { seen: 3 }])
  })

  it('Q1: are read from the journal of their run, however many others there are', async () => {
    const counts: number[] = []
    for (const others of [3, 60]) {
      const reads = { count: 0 }
      await using tally = await opened(counted(openMemoryStore(), reads))
      await tally.begin(documentOf('quiet'), { id: 'one', inputs: 'lamp' }).result
      for (let place = 0; place < others; place += 1) {
        await tally.begin(documentOf('quiet'), { id: `other-${place}`, inputs: place }).result
      }
      reads.count = 0
      const { calls } = await tally.queries.calls({ id: 'one', path: 'root/second', step: 2 })
      expect(calls).toMatchObject([{ request: { of: 'lamp' }, response: 'seen' }])
      counts.push(reads.count)
    }
    expect(counts[1]).toBe(counts[0])
  })

  it('have no requests where the code is not here or asks for something else, and say so', async () => {
    expectVerifyFailure('sealed.1.requestHash')
    const store = openMemoryStore()
    const kept = lasting(store)
    const before = await opened(kept)
    await before.begin(documentOf('order'), { id: 'one', inputs: 'lamp' }).result
    await before.close()
    const without = await opened(kept, [])
    const place = { id: 'one', path: 'root/first', step: 1 }
    const bare = await without.queries.calls(place)
    expect(bare.calls.map(({ request, response }) => [request, response])).toEqual([
      [null, 7],
      [null, 'ok']
    ])
    expect(bare.notChecked).toEqual([expect.stringContaining('requests: ')])
    await without.close()
    const other = defineBlock({
      name: 'order',
      version: '1.0.0',
      sideEffects: 'idempotent',
      run: (ctx) => ctx.effect('price', { request: 'another', perform: () => 1 })
    })
    const changed = await opened(kept, [other])
    const otherwise = await changed.queries.calls(place)
    expect(otherwise.calls[0]).toMatchObject({ request: null, response: 7 })
    expect(otherwise.notChecked).toEqual([expect.stringContaining('does otherwise')])
    await changed.close()
  })
})

/** A store that counts what is read from it. */
function counted(store: Store, reads: { count: number }): Store {
  return storeAround(store, {
    get: (key) => {
      reads.count += 1
      return store.get(key)
    },
    entries: async function* (range) {
      for await (const entry of store.entries(range)) {
        reads.count += 1
        yield entry
      }
    }
  })
}
