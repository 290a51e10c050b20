import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BlockContext, defineBlock } from '../../src/code/index.js'
import { canonicalize, type Json, nextTurn, type RunId } from '../../src/core/index.js'
import { cases } from '../support/effort.js'
import { Machine, settleDown, until } from '../support/lives.js'
import { explains, type HistoryUnit, isSerialisable } from '../support/serialisable.js'

function unit(
  name: string,
  reads: Readonly<Record<string, string | undefined>>,
  writes: Readonly<Record<string, string | null>>
): HistoryUnit {
  return { name, reads: new Map(Object.entries(reads)), writes: new Map(Object.entries(writes)) }
}

describe('the checker of histories', () => {
  it.each<[string, readonly HistoryUnit[], boolean]>([
    [
      'one after the other',
      [unit('a', { x: undefined }, { x: '1' }), unit('b', { x: '1' }, { x: '2' })],
      true
    ],
    [
      'the other order',
      [unit('b', { x: '1' }, { x: '2' }), unit('a', { x: undefined }, { x: '1' })],
      true
    ],
    [
      'a lost update',
      [unit('a', { x: undefined }, { x: '1' }), unit('b', { x: undefined }, { x: '1' })],
      false
    ],
    [
      'a write skew',
      [unit('a', { x: undefined }, { y: '1' }), unit('b', { y: undefined }, { x: '1' })],
      false
    ],
    ['a dirty read', [unit('a', {}, { x: '2' }), unit('b', { x: '1' }, {})], false],
    [
      'an unrepeatable read',
      [unit('a', {}, { x: '1', y: '1' }), unit('b', { x: '1', y: undefined }, {})],
      false
    ],
    [
      'a deletion',
      [
        unit('a', {}, { x: '1' }),
        unit('b', { x: '1' }, { x: null }),
        unit('c', { x: undefined }, {})
      ],
      true
    ]
  ])('tells %s', (_, history, good) => {
    expect(isSerialisable(history)).toBe(good)
  })
})

interface Op {
  readonly reads: readonly number[]
  readonly writes: readonly number[]
  /** Lets others in between: effects before the reads, and after. */
  readonly before: number
  readonly after: number
  readonly atomic: boolean
  readonly lists: boolean
}

const op: fc.Arbitrary<Op> = fc.record({
  reads: fc.uniqueArray(fc.nat(2), { maxLength: 3 }),
  writes: fc.uniqueArray(fc.nat(2), { maxLength: 2 }),
  before: fc.nat(3),
  after: fc.nat(3),
  atomic: fc.boolean(),
  lists: fc.boolean()
})

/** Runs all at once; each block tells what its last execution read and wrote. */
async function history(ops: readonly Op[]): Promise<readonly HistoryUnit[]> {
  const machine = new Machine()
  const executions = new Map<string, HistoryUnit>()
  const touch = defineBlock({
    name: 'touch',
    version: '1.0.0',
    sideEffects: 'none',
    run: async (ctx: BlockContext, input: Op & { readonly name: string }) => {
      const reads = new Map<string, string | undefined>()
      const pause = (turns: number) =>
        ctx.effect('pause', {
          request: turns,
          perform: async () => {
            for (let turn = 0; turn < turns; turn += 1) await nextTurn()
            return null
          }
        })
      if (input.before > 0) await pause(input.before)
      if (input.lists) await ctx.state.list('k')
      for (const key of input.reads) {
        const value = ctx.state.get(`k${key}`)
        reads.set(`k${key}`, value === undefined ? undefined : canonicalize(value))
      }
      if (input.after > 0) await pause(input.after)
      const writes = new Map<string, string>()
      for (const key of input.writes) {
        const value = { by: input.name, saw: [...reads.values()].map((text) => text?.length ?? 0) }
        ctx.state.set(`k${key}`, value)
        writes.set(`k${key}`, canonicalize(value))
      }
      executions.set(input.name, { name: input.name, reads, writes })
      return null
    }
  })
  const runtime = await machine.open({ blocks: [touch] })
  const runs = ops.map((given, index) => {
    const nodes = { a: { block: 'touch' } }
    const graph = { entry_point: 'a', nodes, transitions: {} }
    const inner = { ...graph, atomic: true }
    const document: Json = {
      schema: 'tally-composite/1',
      name: 'touching',
      version: '1.0.0',
      ...(given.atomic ? { ...graph, nodes: { a: { composite: inner } } } : graph)
    }
    const inputs = { ...given, name: `u${index}` } as unknown as Json
    return runtime.begin(document, { id: `u${index}`, inputs })
  })
  const results = await Promise.all(runs.map((run) => run.result))
  expect(results.map(({ status }) => status)).toEqual(ops.map(() => 'done'))
  const order: HistoryUnit[] = []
  for await (const { receipt } of runtime.receipts()) {
    const { run } = receipt.inputPayload
    const known = run === undefined ? undefined : executions.get(run.runId)
    if (known !== undefined && receipt.intent !== 'run.completed') order.push(known)
  }
  await runtime.close()
  return order
}

describe('concurrent units of work', () => {
  it('L10: generated histories are serialisable, in the order of their receipts', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(op, { minLength: 2, maxLength: 6 }), async (ops) => {
        const units = await history(ops)
        expect(units).toHaveLength(ops.length)
        expect(explains(units)).toBe(true)
        expect(isSerialisable(units)).toBe(true)
      }),
      { numRuns: cases({ usual: 15, long: 22, soak: 2_000 }), seed: 7 }
    )
  })

  it('L10: transfers keep the sum, and counters count every run', async () => {
    const machine = new Machine()
    const transfer = defineBlock({
      name: 'transfer',
      version: '1.0.0',
      sideEffects: 'none',
      run: async (ctx, input: { readonly from: string; readonly to: string }) => {
        const balance = (key: string) => ctx.state.get<number>(key) ?? 100
        const [from, to] = [balance(input.from), balance(input.to)]
        // What is asked for depends on what was read: a re-run asks otherwise.
        await ctx.effect('look', { request: { from, to }, perform: () => nextTurn().then(() => 1) })
        ctx.state.set(input.from, from - 1)
        ctx.state.set(input.to, to + 1)
        ctx.state.set('count', (ctx.state.get<number>('count') ?? 0) + 1)
        return null
      }
    })
    const runtime = await machine.open({ blocks: [transfer] })
    const accounts = ['a', 'b', 'c']
    const runs = Array.from({ length: 60 }, (_, index) => {
      const [from, to] = [accounts[index % 3], accounts[(index + 1 + (index % 2)) % 3]]
      const document = {
        schema: 'tally-composite/1',
        name: 'transfers',
        version: '1.0.0',
        entry_point: 'a',
        nodes: { a: { block: 'transfer' } },
        transitions: {}
      }
      return runtime.begin(document, { id: `t${index}`, inputs: { from, to } as Json })
    })
    const results = await Promise.all(runs.map((run) => run.result))
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['done']))
    const sum = accounts.reduce((total, key) => total + Number(runtime.ledger.read(key)), 0)
    expect(sum).toBe(300)
    expect(runtime.ledger.read('count')).toBe('60')
    await runtime.close()
  })

  it('L10: state that changes while a run is parked does not stop the run', async () => {
    const machine = new Machine()
    const seen: unknown[] = []
    const blocks = [
      defineBlock({
        name: 'slow',
        version: '1.0.0',
        sideEffects: 'none',
        run: async (ctx) => {
          const n = ctx.state.get<number>('n') ?? 0
          const looked = await ctx.effect('look', { request: { n }, perform: () => ({ n }) })
          seen.push(looked)
          await ctx.wait({ reason: 'confirmation', request: { n } })
          ctx.state.set('slow', n)
          return { n }
        }
      }),
      defineBlock({
        name: 'bump',
        version: '1.0.0',
        sideEffects: 'none',
        run: (ctx) => ctx.state.set('n', (ctx.state.get<number>('n') ?? 0) + 1)
      })
    ]
    const runtime = await machine.open({ blocks })
    const single = (block: string): Json => ({
      schema: 'tally-composite/1',
      name: 'single',
      version: '1.0.0',
      entry_point: 'a',
      nodes: { a: { block } },
      transitions: {}
    })
    const slow = runtime.begin(single('slow'), { id: 'slow', inputs: {} })
    await until(() => runtime.ledger.run('slow' as RunId)?.status === 'waiting')
    await runtime.begin(single('bump'), { id: 'bump', inputs: {} }).result
    // The state that was shown is not the state any more, so the answer to it does not count.
    const [first] = await slow.waits()
    if (first === undefined) throw new Error('it waits for nothing')
    expect(await slow.approve(first.token, { digest: first.digest })).toEqual({
      accepted: false,
      reason: 'unknown_token'
    })
    await settleDown(() => runtime.ledger.run('slow' as RunId)?.entries)
    const [second] = await slow.waits()
    if (second === undefined) throw new Error('it waits for nothing any more')
    expect(second.request).toMatchObject({ request: { n: 1 } })
    expect(await slow.approve(second.token, { digest: second.digest })).toEqual({ accepted: true })
    expect((await slow.result).response.data).toEqual({ n: 1 })
    await runtime.close()
  })
})

describe('state under something that was done outside', () => {
  function paying(sent: Json[]) {
    return defineBlock({
      name: 'pay',
      version: '1.0.0',
      sideEffects: 'non_idempotent',
      run: async (ctx) => {
        const amount = ctx.state.get<number>('amount') ?? 1
        await ctx.effect('pay', {
          request: { amount },
          perform: async (call) => {
            sent.push(call.request)
            for (let turn = 0; turn < 10; turn += 1) await nextTurn()
            return null
          }
        })
        ctx.state.set('paid', amount)
        return { amount }
      }
    })
  }
  const raise = defineBlock({
    name: 'raise',
    version: '1.0.0',
    sideEffects: 'none',
    run: (ctx) => ctx.state.set('amount', 2)
  })
  const single = (block: string, atomic = false): Json => ({
    schema: 'tally-composite/1',
    name: 'single',
    version: '1.0.0',
    entry_point: 'a',
    nodes: {
      a: atomic
        ? { composite: { atomic: true, entry_point: 'b', nodes: { b: { block } } } }
        : { block }
    },
    transitions: {}
  })

  it.each([false, true])(
    'L10: what was read before something was sent is reserved (atomic writer: %s)',
    async (atomic) => {
      const sent: Json[] = []
      const machine = new Machine()
      const runtime = await machine.open({ blocks: [paying(sent), raise] })
      const pay = runtime.begin(single('pay'), { id: 'pay', inputs: {} })
      await until(() => sent.length === 1)
      const raised = runtime.begin(single('raise', atomic), { id: 'raise', inputs: {} })
      expect((await pay.result).response.data).toEqual({ amount: 1 })
      expect((await raised.result).status).toBe('done')
      expect(sent).toEqual([{ amount: 1 }])
      const order: string[] = []
      for await (const { receipt } of runtime.receipts()) order.push(receipt.dappId)
      expect(order[0]).toBe('block:pay@1.0.0')
      await runtime.close()
    }
  )

  it('L7, L10: a payment in doubt is not made again with another amount', async () => {
    const sent: Json[] = []
    const machine = new Machine()
    const first = await machine.open({ blocks: [paying(sent), raise] })
    first.begin(single('pay'), { id: 'pay', inputs: {} })
    await until(() => sent.length === 1)
    first.life.isDead = true
    machine.disk.crash('power')
    const again = await machine.open({ blocks: [paying(sent), raise] })
    expect((await again.begin(single('raise'), { id: 'raise', inputs: {} }).result).status).toBe(
      'done'
    )
    const resumed = await again.resume('pay')
    const { status, response } = await resumed.result
    expect({ status, reason: response.reason }).toEqual({
      status: 'failed',
      reason: 'intent_conflict'
    })
    expect(sent).toEqual([{ amount: 1 }])
    await again.close()
  })

  it('L10: reservations of a unit that ran again are let go of with it', async () => {
    const sent: Json[] = []
    const machine = new Machine()
    const runtime = await machine.open({ blocks: [paying(sent), raise] })
    for (let round = 0; round < 5; round += 1) {
      const runs = ['pay', 'raise', 'pay', 'raise'].map((block, index) =>
        runtime.begin(single(block), { id: `${round}.${index}`, inputs: {} })
      )
      for (const run of runs) expect((await run.result).status).toBe('done')
    }
    expect(runtime.ledger.read('amount')).toBe('2')
    await runtime.close()
  })
})
