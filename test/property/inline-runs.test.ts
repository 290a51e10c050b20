import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  ActorPool,
  type Provider,
  type PumpHost,
  type RunEnd,
  type RunEvent,
  RunPump,
  runInline,
  startedDraft,
  Turns,
  UnitGate
} from '../../src/block/index.js'
import { defineBlock } from '../../src/code/index.js'
import {
  canonicalize,
  canonicalizeLedgerValue,
  type Hash,
  type Json,
  type JsonObject,
  ManualClock,
  type RunId
} from '../../src/core/index.js'
import type { IntentReply } from '../../src/intent/index.js'
import { openMemoryStore } from '../../src/ledger/index.js'
import { WorkQueues } from '../../src/queue/index.js'
import type { WiredRuntime } from '../../src/runtime/index.js'
import { Start } from '../../src/runtime/run/run-terms.js'
import { codeOf, Machine, openOn, until } from '../support/lives.js'
import '../support/seed.js'
import { cases } from '../support/effort.js'

interface Asked {
  readonly how: string
  readonly key: string
  readonly more: Json
}

/** Does in its one way or another what blocks do; half of the ways come to an end at once. */
const worker = (name: string, sideEffects: 'none' | 'idempotent', isPrivate = false) =>
  defineBlock({
    name,
    version: '1',
    sideEffects,
    intents: [`${name}.do`],
    capabilities: isPrivate ? ['look'] : [],
    private: { input: isPrivate, output: isPrivate },
    run: (ctx, input): unknown => {
      const { how, key, more } = input as unknown as Asked
      const count = (ctx.state.get<number>(key) ?? 0) + 1
      switch (how) {
        case 'count':
          ctx.state.set(key, count)
          return { key, count }
        case 'remove':
          ctx.state.delete(key)
          return ctx.state.has(key)
        case 'echo':
          return {
            more,
            at: ctx.now(),
            uuid: ctx.uuid(),
            chance: ctx.random(),
            context: ctx.context,
            trace: ctx.trace
          }
        case 'spoil':
          ;(input as { how: string }).how = 'spoilt'
          return { spoilt: true, aborted: ctx.abortSignal.aborted }
        case 'log':
          ctx.log('counted', { count })
          ctx.state.set(key, count)
          return { count }
        case 'fail':
          return ctx.fail('no_luck', { count })
        case 'reserved':
          return { $blob: 'no', type: key }
        case 'later':
          return Promise.resolve().then(() => ({ count }))
        case 'list':
          return ctx.state.list('').then((keys) => keys.length)
        case 'wait':
          return ctx.wait({ reason: 'confirmation', request: more })
        case 'forget':
          ctx.effect('look', { perform: () => 'seen' }).catch(() => undefined)
          return { count }
        default:
          ctx.state.set(key, count)
          return ctx.effect('look', { request: more, perform: ({ key: id }) => ({ id, count }) })
      }
    }
  })

const blocks = [
  worker('none', 'none'),
  worker('acting', 'idempotent'),
  worker('hidden', 'none', true)
]
const hows = [
  'count',
  'count',
  'remove',
  'echo',
  'spoil',
  'log',
  'fail',
  'reserved',
  'later',
  'list'
]

function isLedgerValue(value: unknown): boolean {
  try {
    canonicalizeLedgerValue(value)
    return true
  } catch {
    return false
  }
}

const payload = fc.record({
  how: fc.constantFrom(...hows, 'wait', 'forget', 'effect'),
  key: fc.constantFrom('a', 'b'),
  more: fc
    .jsonValue({ maxDepth: 2 })
    .filter(isLedgerValue)
    .map((value) => value as Json)
})
const plain = fc.record({ action: fc.constantFrom('none.do', 'acting.do', 'hidden.do'), payload })
const special = fc.record(
  {
    action: fc.constantFrom('none.do', 'nobody.does', 'system.nothing', 'system.approver'),
    payload,
    raw: fc.string({ minLength: 1, unit: 'grapheme' }),
    provider: fc.constantFrom('none', 'else')
  },
  { requiredKeys: ['action', 'payload'] }
)
const intent = fc.oneof({ weight: 3, arbitrary: plain }, { weight: 1, arbitrary: special })

/** A ledger of its own, with all that a run is handed. */
class Side {
  readonly events: RunEvent[] = []
  straight = 0
  readonly #runtime: WiredRuntime
  readonly #host: PumpHost
  readonly #clock: ManualClock

  constructor(runtime: WiredRuntime, clock: ManualClock, gate = new UnitGate(clock)) {
    const { ledger, registry } = runtime
    this.#runtime = runtime
    this.#clock = clock
    this.#host = {
      journal: ledger,
      clock,
      turns: new Turns(),
      actors: new ActorPool(),
      gate,
      queues: new WorkQueues(clock),
      redactor: registry.redactor,
      identity: ledger.identity,
      profile: { js: 'test' },
      durability: 'output',
      block: (name) => registry.block(name),
      provider: (name) => registry.provider(name),
      emit: (event) => this.events.push(event)
    }
  }

  static async open(): Promise<Side> {
    const clock = new ManualClock()
    return new Side(await openOn(openMemoryStore(), { blocks, clock }), clock)
  }

  async run(runId: RunId, inputs: JsonObject, mayGoStraight: boolean): Promise<Json> {
    this.#clock.advance(7)
    const { root } = this.#runtime.registry.documents.intentRoot(String(inputs['action']))
    const context = runId.charCodeAt(4) % 2 === 0 ? {} : { region: 'eu', of: { run: runId } }
    const trace = runId.charCodeAt(4) % 3 === 0 ? { traceId: 'ab'.repeat(16) } : undefined
    const start = new Start({ inputs, context, trace, principal: { kind: 'owner', id: 'tester' } })
    const at = this.#clock.now()
    const base: Hash | 'GENESIS' = this.#host.journal.head() ?? 'GENESIS'
    const { principal, inputHash, text: inputText } = start
    const { emit } = this.#host
    const principalText = canonicalize(principal)
    const texts = {
      principalText,
      inputText,
      inputHash,
      context: start.context,
      trace: start.trace
    }
    const singleStep = { runId, root, at, base, principal, ...texts, emit }
    const way = mayGoStraight ? runInline(singleStep, this.#host) : undefined
    if (way?.kind === 'ended') {
      this.straight += 1
      await this.#host.journal.durable(way.position)
      const { response, receiptHash, dappId } = way
      return { kind: 'finished', status: 'done', response, receiptHash, dappId } as unknown as Json
    }
    const pump = new RunPump({ runId, root, host: this.#host, early: way?.early })
    pump.leaves.keepText(start.inputs, start.text)
    const end: RunEnd = await pump.start(startedDraft(root, { at, base, start }))
    await this.#host.journal.durable(pump.writer.position)
    return JSON.parse(JSON.stringify(end)) as Json
  }

  /** All that is kept of what was done, as stored. */
  async kept(): Promise<unknown> {
    const { ledger } = this.#runtime
    const records: unknown[] = []
    for await (const record of ledger.runs()) {
      const journal: unknown[] = []
      for await (const { text, mac, receiptHash } of ledger.journal(record.runId)) {
        journal.push([text, mac, receiptHash])
      }
      records.push([record, journal])
    }
    const receipts: unknown[] = []
    for await (const stored of ledger.receipts()) receipts.push(stored)
    const log: unknown[] = []
    for await (const record of ledger.log()) log.push(record)
    const state: unknown[] = []
    for await (const entry of ledger.stateEntries()) state.push(entry)
    return { records, receipts, log, state, roots: ledger.roots() }
  }

  async close(): Promise<void> {
    await this.#runtime.close()
  }
}

/** What is told of a run: the places that an exception names behind the code are the driver's. */
function told(event: RunEvent): RunEvent {
  return event.type === 'exception'
    ? { ...event, exception: { ...event.exception, stack: event.exception.stack.slice(0, 1) } }
    : event
}

describe('a single-step run that ends at once', () => {
  it('D6: leaves byte for byte what a pump leaves, and tells the same', async () => {
    let straight = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(intent, { minLength: 2, maxLength: 9, size: 'max' }),
        async (all) => {
          const [one, other] = await Promise.all([Side.open(), Side.open()])
          for (const [index, inputs] of all.entries()) {
            const runId = `run-${index}` as RunId
            const ends = [await one.run(runId, inputs, true), await other.run(runId, inputs, false)]
            expect(ends[0]).toEqual(ends[1])
          }
          expect(one.events.map(told)).toEqual(other.events.map(told))
          expect(await one.kept()).toEqual(await other.kept())
          straight += one.straight
          await Promise.all([one.close(), other.close()])
        }
      ),
      { numRuns: cases({ usual: 20, long: 20, soak: 400 }) }
    )
    expect(straight).toBeGreaterThan(20)
  })

  it('L6: under one id is done once, for callers at the same time and later', async () => {
    const tally = await openOn(openMemoryStore(), { blocks })
    const ask = (payload: JsonObject) => tally.intent({ id: 'one', action: 'none.do', payload })
    const [first, same, ...others] = await Promise.all([
      ask({ how: 'count', key: 'a' }),
      ask({ how: 'count', key: 'a' }),
      ask({ how: 'count', key: 'b' }),
      tally.intent({ id: 'one', action: 'acting.do', payload: { how: 'count', key: 'a' } }),
      tally.result('one')
    ])
    expect(first).toMatchObject({ type: 'dapp', count: 1 })
    expect(same).toEqual(first)
    expect(others[0]).toMatchObject({ type: 'error', reason: 'id_reused' })
    expect(others[1]).toMatchObject({ type: 'error', reason: 'id_reused' })
    expect(others[2]).toEqual(first)
    expect(await ask({ how: 'count', key: 'a' })).toEqual(first)
    expect(tally.status().receipts).toBe(1)
    await tally.close()
  })

  it('L10: waits for a key that another unit of work has reserved', async () => {
    const opens: (() => void)[] = []
    const slow = defineBlock({
      name: 'slow',
      version: '1',
      sideEffects: 'idempotent',
      intents: ['slow.do'],
      run: async (ctx) => {
        const count = (ctx.state.get<number>('a') ?? 0) + 1
        await ctx.effect('act', {
          perform: () => new Promise<null>((resolve) => opens.push(() => resolve(null)))
        })
        ctx.state.set('a', count)
        return { count }
      }
    })
    const tally = await openOn(openMemoryStore(), { blocks: [...blocks, slow] })
    const first = tally.intent({ action: 'slow.do' })
    await until(() => opens.length === 1)
    const payload = { how: 'count', key: 'a' }
    const second = tally.intent({ id: 'second', action: 'none.do', payload })
    const third = await tally.intent({
      id: 'third',
      action: 'none.do',
      payload: { ...payload, key: 'b' }
    })
    expect(third).toMatchObject({ count: 1 })
    expect(tally.run('second')).toBeUndefined()
    opens[0]?.()
    expect(await first).toMatchObject({ count: 1 })
    expect(await second).toMatchObject({ count: 2 })
    await tally.close()
  })

  it('D9, L3: many at once are all done, and closing waits for them', async () => {
    const tally = await openOn(openMemoryStore(), { blocks })
    const payload = { how: 'count', key: 'a' }
    const asked = Array.from({ length: 1_100 }, (_, index) =>
      tally.intent({ id: `i-${index}`, action: 'none.do', payload })
    )
    const replies = await Promise.all(asked)
    expect(new Set(replies.map((reply) => (reply as { count?: unknown }).count)).size).toBe(1_100)
    // A caller that still waits to begin gets an error; one that has begun gets of the
    // end.
    const last = ['x', 'y', 'z'].map((id) =>
      codeOf(tally.intent({ id, action: 'none.do', payload }))
    )
    await tally.close()
    for (const end of await Promise.all(last)) {
      if (end !== 'runtime.closed') expect(end).toMatchObject({ resolved: { type: 'dapp' } })
    }
    expect(await codeOf(tally.intent({ action: 'none.do', payload }))).toBe('runtime.closed')
  })

  it('W11: starts once providers know the orphaned effects, and fails when they cannot', async () => {
    let isReady = false
    const provider: Provider = {
      name: 'outside',
      perform: () => null,
      recover: async () => {
        if (!isReady) throw new Error('not yet')
      }
    }
    const tally = await openOn(openMemoryStore(), { blocks, providers: [provider] })
    const ask = (id: string) =>
      tally.intent({ id, action: 'none.do', payload: { how: 'count', key: 'a' } })
    await expect(ask('one')).rejects.toThrow('not yet')
    isReady = true
    expect(await ask('one')).toMatchObject({ count: 1 })
    expect(await ask('two')).toMatchObject({ count: 2 })
    await tally.close()
  })

  it('D2, L6: is there as a whole or not at all after a crash; what was acknowledged is there', async () => {
    const ids = ['i0', 'i1', 'i2', 'i3']
    const live = async (machine: Machine, dieAt?: number) => {
      const { life, store } = machine.begin(dieAt)
      const told = new Map<string, IntentReply>()
      const tally = await openOn(store, { blocks, clock: life.clock(machine.clock) }).catch(
        () => undefined
      )
      if (tally === undefined) return { life, told, tally }
      let over = 0
      const ask = async (id: string) => {
        const payload = { how: 'count', key: 'a' }
        const reply = await tally.intent({ id, action: 'none.do', payload }).catch(() => undefined)
        if (reply?.type === 'dapp') told.set(id, reply)
        over += 1
      }
      const both = async () => {
        await Promise.all(ids.slice(0, 2).map(ask))
        await Promise.all(ids.slice(2).map(ask))
      }
      void both()
      await until(() => life.isDead || over === ids.length)
      return { life, told, tally }
    }
    const whole = await live(new Machine())
    expect(whole.told.size).toBe(ids.length)
    for (let at = 1; at <= whole.life.boundaries; at += 1) {
      const machine = new Machine()
      const before = await live(machine, at)
      const after = await live(machine)
      expect(after.told.size).toBe(ids.length)
      for (const [id, reply] of before.told) expect(after.told.get(id)).toEqual(reply)
      const counts = [...after.told.values()].map((reply) => (reply as { count?: number }).count)
      expect(counts.sort()).toEqual([1, 2, 3, 4])
      for await (const { entries, status } of after.tally?.ledger.runs() ?? []) {
        expect([entries, status]).toEqual([3, 'done'])
      }
      expect((await after.tally?.verify())?.failure).toBeUndefined()
    }
  })
})
