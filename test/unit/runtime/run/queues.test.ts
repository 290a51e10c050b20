import { describe, expect, it } from 'vitest'
import { defineBlock, defineWorkflow } from '../../../../src/code/index.js'
import { type Json, limits, ManualClock, nextTurn, type RunId } from '../../../../src/core/index.js'
import { openMemoryStore } from '../../../../src/ledger/index.js'
import type { Registrations, WiredRuntime } from '../../../../src/runtime/index.js'
import { FakeClock } from '../../../../src/testing/fake-clock.js'
import { lasting } from '../../../support/lasting-store.js'
import { codeOf, openOn, until } from '../../../support/lives.js'

/** Queues of runs and of effects in a runtime: Q6 to Q9, and what becomes of work that waits. */

/** Work outside that ends when the test says so. */
class Outside {
  readonly began: Json[] = []
  readonly #ends = new Map<string, () => void>()
  most = 0

  perform = ({ request }: { readonly request: Json }): Promise<Json> => {
    this.began.push(request)
    return new Promise((resolve) => {
      const text = JSON.stringify(request)
      this.#ends.set(text, () => {
        this.#ends.delete(text)
        resolve({ did: request })
      })
      this.most = Math.max(this.most, this.#ends.size)
    })
  }

  get open(): number {
    return this.#ends.size
  }

  endOne(): void {
    const [end] = this.#ends.values()
    end?.()
  }

  async endAll(): Promise<void> {
    while (this.open > 0) {
      this.endOne()
      for (let turn = 0; turn < 20; turn += 1) await nextTurn()
    }
  }
}

function flowOf(outside: Outside, queue?: string, name = 'flow') {
  return defineWorkflow({
    name,
    version: '1.0.0',
    async run(ctx, input: { id: number }) {
      const how = queue === undefined ? {} : { queue }
      return ctx.step('act', (id: number) => outside.perform({ request: id }) as never, input.id, {
        ...how,
        sideEffects: 'idempotent'
      })
    }
  })
}

const open = (registrations: Registrations, store = openMemoryStore(), clock?: ManualClock) =>
  openOn(store, { ...registrations, ...(clock === undefined ? {} : { clock }) })

const settled = async () => {
  for (let turn = 0; turn < 30; turn += 1) await nextTurn()
}

async function journalOf(tally: WiredRuntime, id: string): Promise<readonly string[]> {
  const kinds: string[] = []
  for await (const { value } of tally.ledger.journal(id as RunId)) {
    kinds.push((value as { readonly k: string }).k)
  }
  return kinds
}

describe('effects', () => {
  it('Q6: a step waits for its turn, and nothing of it was sent', async () => {
    const outside = new Outside()
    const flow = flowOf(outside, 'bank')
    const tally = await open({ workflows: [flow], queues: { bank: { concurrency: 2 } } })
    const runs = [0, 1, 2, 3, 4].map((id) => tally.begin(flow, { id }, { id: `r${id}` }))
    await until(() => outside.open === 2)
    await settled()
    expect(outside.began).toEqual([0, 1])
    expect(await journalOf(tally, 'r3')).not.toContain('requested')
    const [queue] = await tally.queues('bank')
    expect(queue).toMatchObject({ name: 'bank', of: 'effects', running: 2, waiting: 3 })
    expect(queue?.work.map(({ runId, isRunning }) => [runId, isRunning])).toEqual([
      ['r0', true],
      ['r1', true],
      ['r2', false],
      ['r3', false],
      ['r4', false]
    ])
    await outside.endAll()
    for (const run of runs) expect((await run.result).status).toBe('done')
    expect(outside.most).toBe(2)
    expect(outside.began).toEqual([0, 1, 2, 3, 4])
    expect(await tally.queues('bank')).toMatchObject([{ running: 0, waiting: 0 }])
    expect((await tally.verify()).ok).toBe(true)
    await tally.close()
  })

  it('Q6: effects of one name are bounded where nothing is declared', async () => {
    const outside = new Outside()
    const flow = flowOf(outside)
    const tally = await open({ workflows: [flow] })
    const count = limits.QUEUE_CONCURRENCY_DEFAULT + 6
    const ids = Array.from({ length: count }, (_, id) => id)
    const runs = ids.map((id) => tally.begin(flow, { id }, { id: `r${id}` }))
    await until(() => outside.open === limits.QUEUE_CONCURRENCY_DEFAULT)
    await settled()
    expect(outside.open).toBe(limits.QUEUE_CONCURRENCY_DEFAULT)
    expect(await tally.queues('flow.act')).toMatchObject([{ waiting: 6 }])
    await outside.endAll()
    for (const run of runs) expect((await run.result).status).toBe('done')
    expect(outside.most).toBe(limits.QUEUE_CONCURRENCY_DEFAULT)
    await tally.close()
  })

  it('a block names its queue for every document, and its payload the partition', async () => {
    const outside = new Outside()
    const pay = defineBlock({
      name: 'pay',
      version: '1.0.0',
      sideEffects: 'idempotent',
      queue: {
        name: 'bank',
        concurrency: 3,
        partitionConcurrency: 1,
        partition: ({ to }: { readonly to: string }) => to
      },
      run: (ctx, input) =>
        ctx.effect('bank.pay', { request: input as Json, perform: outside.perform })
    })
    const document = {
      schema: 'tally-composite/1',
      name: 'order',
      version: '1.0.0',
      entry_point: 'pay',
      nodes: { pay: { block: 'pay' } }
    }
    const tally = await open({ blocks: [pay] })
    const runs = ['a', 'a', 'b', 'a'].map((to, n) =>
      tally.begin(document, { id: `r${n}`, inputs: { to, n } })
    )
    await until(() => outside.open === 2)
    await settled()
    expect(outside.began).toEqual([
      { n: 0, to: 'a' },
      { n: 2, to: 'b' }
    ])
    await outside.endAll()
    for (const run of runs) expect((await run.result).status).toBe('done')
    await tally.close()
  })

  it('a cancelled run and a step whose time is over wait no more', async () => {
    const outside = new Outside()
    const flow = flowOf(outside, 'bank')
    const hasty = defineWorkflow({
      name: 'hasty',
      version: '1.0.0',
      run: (ctx, _input: null) => ctx.step('act', () => 1, null, { queue: 'bank', timeout: 50 })
    })
    const clock = new ManualClock()
    const queues = { bank: { concurrency: 1 } }
    const tally = await open({ workflows: [flow, hasty], queues }, openMemoryStore(), clock)
    const first = tally.begin(flow, { id: 0 }, { id: 'r0' })
    await until(() => outside.open === 1)
    const second = tally.begin(flow, { id: 1 }, { id: 'r1' })
    const third = tally.begin(hasty, null, { id: 'r2' })
    const queued = async () => (await tally.queues('bank'))[0]?.waiting
    await until(async () => (await queued()) === 2)
    await second.cancel()
    expect((await second.result).status).toBe('cancelled')
    clock.advance(60)
    expect((await third.result).response).toMatchObject({ success: false, reason: 'timed_out' })
    expect(await queued()).toBe(0)
    await outside.endAll()
    expect((await first.result).status).toBe('done')
    expect(outside.began).toEqual([0])
    await tally.close()
  })

  it('a queue that is not declared is refused, and no default stands in for it', async () => {
    const flow = flowOf(new Outside(), 'nowhere')
    const tally = await open({ workflows: [flow] })
    const { response } = await tally.begin(flow, { id: 1 }).result
    expect(response).toMatchObject({ success: false, reason: 'unknown_queue' })
    await tally.close()
    const block = defineBlock({ name: 'b', version: '1', queue: 'nowhere', run: () => 1 })
    expect(await codeOf(open({ blocks: [block] }))).toBe('runtime.invalid_queue')
    const twice = { blocks: [], queues: { a: { concurrency: 0 } } }
    expect(await codeOf(open(twice))).toBe('runtime.invalid_queue')
  })

  it('Q7: begins no more in a span than its rate says, and time lets the next begin', async () => {
    const began: number[] = []
    const clock = new FakeClock()
    const flow = defineWorkflow({
      name: 'flow',
      version: '1.0.0',
      run: (ctx, _input: number) =>
        ctx.step('act', () => began.push(clock.now()), null, { queue: 'slow' })
    })
    const queues = { slow: { rate: { limit: 2, per: '1s' } } }
    const tally = await openOn(openMemoryStore(), { workflows: [flow], queues, clock })
    const runs = [0, 1, 2, 3, 4].map((id) => tally.begin(flow, id, { id: `r${id}` }))
    await clock.settle()
    expect(began.length).toBe(2)
    expect((await tally.queues('slow'))[0]?.nextAt).toBe((began[0] ?? 0) + 1_000)
    await clock.advance(999)
    expect(began.length).toBe(2)
    await clock.advance(1)
    expect(began.length).toBe(4)
    await clock.advance(1_000)
    expect(began.length).toBe(5)
    for (const run of runs) expect((await run.result).status).toBe('done')
    await tally.close()
  })
})

describe('runs', () => {
  const queues = { orders: { concurrency: 1 } }

  it('a start is accepted and on disk while the run waits, which lists say', async () => {
    const outside = new Outside()
    const flow = flowOf(outside)
    const tally = await open({ workflows: [flow], queues })
    const start = (id: number) => tally.start(flow, { id }, { id: `r${id}`, queue: 'orders' })
    expect(await start(0)).toEqual({ id: 'r0', isNew: true })
    expect(await start(1)).toEqual({ id: 'r1', isNew: true })
    expect(await start(1)).toEqual({ id: 'r1', isNew: false })
    await until(() => outside.open === 1)
    await settled()
    expect(await journalOf(tally, 'r1')).toEqual(['run.started'])
    const { items } = await tally.runs({ queued: 'orders' })
    expect(items.map(({ id, queued }) => [id, queued])).toEqual([['r1', { name: 'orders' }]])
    expect((await tally.runs({ queued: true })).items.length).toBe(1)
    await outside.endAll()
    expect((await (await tally.attach('r1')).result).status).toBe('done')
    expect((await tally.runs({ queued: true })).items).toEqual([])
    expect((await tally.verify()).ok).toBe(true)
    await tally.close()
  })

  it('one that waits takes a signal, and is cancelled, without having begun', async () => {
    const outside = new Outside()
    const flow = flowOf(outside)
    const waits = defineWorkflow({
      name: 'waits',
      version: '1.0.0',
      queue: 'orders',
      run: (ctx, _input: null) => ctx.signal('go')
    })
    const tally = await open({ workflows: [flow, waits], queues })
    const first = tally.begin(flow, { id: 0 }, { id: 'r0', queue: 'orders' })
    await until(() => outside.open === 1)
    const second = tally.begin(waits, null, { id: 'r1' })
    const third = tally.begin(waits, null, { id: 'r2' })
    await tally.start(waits, null, { id: 'r2' })
    expect(await tally.signal('r1', 'go', 'early', { id: 's' })).toEqual({ accepted: true })
    expect(await journalOf(tally, 'r1')).toEqual(['run.started', 'signal'])
    await third.cancel()
    expect((await third.result).status).toBe('cancelled')
    await outside.endAll()
    expect((await first.result).status).toBe('done')
    expect((await second.result).response.data).toBe('early')
    expect((await tally.verify()).ok).toBe(true)
    await tally.close()
  })

  it('keeps order and counts over a restart, and a parked run keeps its turn', async () => {
    const store = openMemoryStore()
    const clock = new ManualClock()
    const order: string[] = []
    const flow = defineWorkflow({
      name: 'flow',
      version: '1.0.0',
      async run(ctx, input: string) {
        await ctx.step('began', () => order.push(input), null, { sideEffects: 'none' })
        await ctx.signal('go')
        return input
      }
    })
    const registered = { workflows: [flow], queues: { orders: { concurrency: 2 } } }
    const first = await open(registered, lasting(store), clock)
    for (const name of ['e', 'd', 'c', 'b', 'a']) {
      await first.start(flow, name, { id: name, queue: 'orders' })
      clock.advance(1)
    }
    await until(async () => (await first.waits()).items.length === 2)
    await first.close()
    expect(order).toEqual(['e', 'd'])
    const second = await open(registered, lasting(store), clock)
    await second.resumeAll()
    await settled()
    const [queue] = await second.queues('orders')
    expect(queue?.work.map(({ runId, isRunning }) => [runId, isRunning])).toEqual([
      ['d', true],
      ['e', true],
      ['c', false],
      ['b', false],
      ['a', false]
    ])
    for (const name of ['e', 'd', 'c', 'b', 'a']) {
      await second.signal(name, 'go')
      expect((await (await second.attach(name)).result).response.data).toBe(name)
    }
    expect(order).toEqual(['e', 'd', 'c', 'b', 'a'])
    expect((await second.verify()).ok).toBe(true)
    await second.close()
  })

  it('a child of a workflow has its turn with its parent, and is found by it', async () => {
    const child = defineWorkflow({
      name: 'child',
      version: '1.0.0',
      queue: 'orders',
      run: async () => 'done'
    })
    const parent = defineWorkflow({
      name: 'parent',
      version: '1.0.0',
      queue: 'orders',
      run: (ctx) => ctx.child(child, null, { id: `${ctx.runId}-child` })
    })
    const tally = await open({ workflows: [child, parent], queues })
    const runs = ['p1', 'p2'].map((id) => tally.begin(parent, null, { id }))
    for (const run of runs) expect((await run.result).response.data).toBe('done')
    const { items } = await tally.runs({ parent: 'p1' })
    expect(items.map(({ id, parent: by }) => [id, by])).toEqual([['p1-child', 'p1']])
    await tally.close()
  })

  it('an unknown queue and bad terms refuse the start, of which nothing is recorded', async () => {
    const flow = flowOf(new Outside())
    const tally = await open({ workflows: [flow], queues })
    const start = (queue: unknown) =>
      codeOf(tally.start(flow, { id: 1 }, { id: 'r', queue: queue as string }))
    expect(await start('nowhere')).toBe('run.unknown_queue')
    expect(await start('')).toBe('run.invalid_queue')
    expect(await start(null)).toBe('run.invalid_queue')
    expect(await start({ name: 'orders', priority: 0.5 })).toBe('run.invalid_queue')
    expect(await start({ name: 'orders', partition: 7 })).toBe('run.invalid_queue')
    expect(tally.run('r')).toBeUndefined()
    await tally.close()
  })
})
