import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BlockContext, defineBlock } from '../../src/code/index.js'
import type { Json, RunId } from '../../src/core/index.js'
import type { WiredRuntime } from '../../src/runtime/index.js'
import { cases, isSoak } from '../support/effort.js'
import { Machine, settleDown } from '../support/lives.js'

/**
 * A block reads state, then waits, sleeps, lists or calls depending on it; while it is parked or
 * answered another run changes that state, and its code asks anew. Whatever comes of it, an honest
 * ledger verifies and opens again.
 */

type Op =
  | { readonly op: 'get' | 'set'; readonly key: number }
  | { readonly op: 'list' | 'look' | 'send' | 'lose' | 'ask' | 'askInTime' | 'nap' | 'fail' }
  | { readonly op: 'branch'; readonly odd: readonly Op[]; readonly even: readonly Op[] }
  | { readonly op: 'both'; readonly one: Op; readonly other: Op }

type Deed =
  | { readonly deed: 'poke'; readonly key: number }
  | { readonly deed: 'resume' | 'answer'; readonly run: number }
  | { readonly deed: 'pass'; readonly ms: number }
  | { readonly deed: 'reopen' }

interface Program {
  readonly ops: readonly Op[]
  readonly atomic: boolean
  readonly retries: boolean
}

const keyed = fc.record({
  op: fc.constantFrom('get' as const, 'get' as const, 'set' as const),
  key: fc.nat(1)
})
const call = fc.record({
  op: fc.constantFrom(
    ...(['list', 'look', 'send', 'lose', 'ask', 'askInTime', 'nap', 'ask'] as const)
  )
})
const fail = fc.constant({ op: 'fail' } as const)
const simple: fc.Arbitrary<Op> = fc.oneof(
  { weight: 3, arbitrary: keyed },
  { weight: 5, arbitrary: call },
  { weight: 1, arbitrary: fail }
)
const few = fc.array(simple, { maxLength: 3 })
const op: fc.Arbitrary<Op> = fc.oneof(
  { weight: 6, arbitrary: simple },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('branch' as const), odd: few, even: few }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('both' as const), one: call, other: call }) }
)
const program: fc.Arbitrary<Program> = fc.record({
  ops: fc.array(op, { minLength: 2, maxLength: 6 }),
  atomic: fc.boolean(),
  retries: fc.boolean()
})
const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ deed: fc.constant('poke' as const), key: fc.nat(1) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      deed: fc.constantFrom('resume' as const, 'answer' as const),
      run: fc.nat(1)
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({
      deed: fc.constant('pass' as const),
      ms: fc.constantFrom(0, 1_000, 600_000)
    })
  },
  { weight: 1, arbitrary: fc.constant({ deed: 'reopen' } as const) }
)

/** Runs a program; what it asks for depends on all that it has read so far. */
async function interpret(ctx: BlockContext, ops: readonly Op[], from: number): Promise<number> {
  let seen = from
  for (const one of ops) seen += await perform(ctx, one, seen)
  return seen
}

async function perform(ctx: BlockContext, one: Op, seen: number): Promise<number> {
  switch (one.op) {
    case 'get':
      return ctx.state.get<number>(`k${one.key}`) ?? 0
    case 'set':
      ctx.state.set(`k${one.key}`, seen)
      return 0
    case 'list':
      return (await ctx.state.list('k')).length
    case 'look':
      return ctx.effect('look', { request: { seen }, sideEffects: 'none', perform: () => 1 })
    case 'send':
    case 'lose':
      return ctx.effect(one.op, { request: { seen } })
    case 'ask':
    case 'askInTime': {
      const timeoutMs = one.op === 'ask' ? {} : { timeoutMs: 30_000 + seen }
      await ctx.wait({ reason: 'external', request: { seen }, ...timeoutMs })
      return 1
    }
    case 'nap':
      await ctx.sleep(60_000 + seen)
      return 1
    case 'fail':
      return seen % 3 === 2 ? ctx.fail('odd_enough', { seen }) : 0
    case 'branch':
      return (await interpret(ctx, seen % 2 === 1 ? one.odd : one.even, seen)) - seen
    case 'both': {
      const both = [perform(ctx, one.one, seen), perform(ctx, one.other, seen + 1)]
      const [first = 0, second = 0] = await Promise.all(both)
      return first + second
    }
  }
}

const blocks = [
  defineBlock({
    name: 'program',
    version: '1.0.0',
    sideEffects: 'idempotent',
    compensate: ({ effect, request }) => ({ effect, request }),
    run: async (ctx, { ops }: Program) => ({ seen: await interpret(ctx, ops, 0) })
  }),
  defineBlock({
    name: 'poke',
    version: '1.0.0',
    sideEffects: 'none',
    run: (ctx, { key }: { readonly key: string }) => {
      ctx.state.set(key, (ctx.state.get<number>(key) ?? 0) + 1)
      return null
    }
  })
]
const providers = [
  {
    name: 'send',
    perform: ({ key }: { readonly key: string }) => {
      sent.push(key)
      return 2
    }
  },
  {
    name: 'lose',
    perform: () => {
      throw new Error('lost')
    }
  }
]
/** Keys of the writes that were performed. */
const sent: string[] = []

function documentOf(block: string, { atomic = false, retries = false } = {}): Json {
  const recovery = retries ? [{ retry: { max_attempts: 2, interval_ms: 1_000 } }] : []
  const graph = { entry_point: 'a', nodes: { a: { block, recovery } }, transitions: {} }
  const inner = { ...graph, atomic: true }
  return {
    schema: 'tally-composite/1',
    name: block,
    version: '1.0.0',
    ...(atomic ? { ...graph, nodes: { a: { composite: inner } } } : graph)
  }
}

const idOf = (run: number) => `p${run}` as RunId

/** One ledger with a few programs, and what happens to them meanwhile. */
class Play {
  readonly machine = new Machine()
  readonly #programs: readonly Program[]
  #runtime: WiredRuntime | undefined
  #pokes = 0
  readonly #left = new Set<number>()

  constructor(programs: readonly Program[]) {
    this.#programs = programs
  }

  async begin(): Promise<void> {
    await this.#open()
    for (const [index, { atomic, retries, ops }] of this.#programs.entries()) {
      const inputs = { ops } as unknown as Json
      const run = this.runtime.begin(documentOf('program', { atomic, retries }), {
        id: idOf(index),
        inputs
      })
      run.result.catch(() => undefined)
    }
    await this.#settle()
  }

  get runtime(): WiredRuntime {
    if (this.#runtime === undefined) throw new Error('nothing is open')
    return this.#runtime
  }

  async #open(): Promise<void> {
    this.#runtime = await this.machine.open({ blocks, providers })
    const { mode, cause } = this.runtime.status()
    if (mode !== 'ready') throw new Error(`the ledger is ${mode}: ${cause?.message}`)
  }

  #settle(): Promise<void> {
    const ids = [...this.#programs.map((_, run) => idOf(run)), `poke${this.#pokes - 1}` as RunId]
    return settleDown(() => ids.map((id) => this.runtime.ledger.run(id)?.entries ?? 0).join())
  }

  isOver(index: number): boolean {
    const status = this.runtime.ledger.run(idOf(index))?.status
    return status !== 'running' && status !== 'waiting'
  }

  async act(given: Deed): Promise<void> {
    switch (given.deed) {
      case 'poke': {
        const id = `poke${this.#pokes}`
        this.#pokes += 1
        const inputs = { key: `k${given.key}` }
        // It may have to wait for keys that a write depends on.
        this.runtime.begin(documentOf('poke'), { id, inputs }).result.catch(() => undefined)
        break
      }
      case 'resume':
      case 'answer':
        if (given.run < this.#programs.length && !this.isOver(given.run)) await this.#take(given)
        break
      case 'pass':
        this.machine.clock.advance(given.ms)
        break
      case 'reopen':
        await this.runtime.close()
        await this.#open()
        for (const index of this.#programs.keys()) this.#left.add(index)
        break
    }
    await this.#settle()
  }

  async #take({ deed, run }: { readonly deed: 'resume' | 'answer'; readonly run: number }) {
    // A run that an earlier process has left in the middle is resumed before it can be answered.
    const isLeft = this.#left.delete(run)
    const handle =
      deed === 'resume' || isLeft
        ? await this.runtime.resume(idOf(run))
        : await this.runtime.attach(idOf(run))
    handle.result.catch(() => undefined)
    await this.#settle()
    if (deed === 'resume') return
    for (const { token, digest, actions } of await handle.waits()) {
      const action = actions.includes('resume') ? 'resume' : 'abort'
      await handle.resume(token, { digest, action, value: 1 })
      return
    }
  }

  /** Answers everything, and lets time pass, until all have ended. */
  async finish(): Promise<void> {
    for (let round = 0; round < 200; round += 1) {
      const open = this.#programs.map((_, index) => index).filter((index) => !this.isOver(index))
      if (open.length === 0) return
      for (const run of open) await this.act({ deed: 'answer', run })
      await this.act({ deed: 'pass', ms: 120_000 })
    }
    throw new Error('a program does not end')
  }

  async verified(): Promise<unknown> {
    const { ok, failure } = await this.runtime.verify()
    return ok ? 'verified' : failure
  }

  /** Kinds of the journal entries of the first program, in order. */
  kinds: readonly string[] = []

  async reopen(): Promise<void> {
    const kinds: string[] = []
    for await (const { value } of this.runtime.journal(idOf(0))) {
      kinds.push((value as { readonly k: string }).k)
    }
    this.kinds = kinds
    await this.act({ deed: 'reopen' })
    await this.runtime.close()
  }
}

const get: Op = { op: 'get', key: 0 }
const ask: Op = { op: 'ask' }

/** Plays programs, lets them end, verifies the ledger and opens it again. */
async function played(programs: readonly Program[], deeds: readonly Deed[]): Promise<Play> {
  const play = new Play(programs)
  await play.begin()
  for (const given of deeds) await play.act(given)
  await play.finish()
  expect(await play.verified()).toBe('verified')
  await play.reopen()
  return play
}

describe('work that asks anew on another state', () => {
  it.each<[string, readonly Op[], readonly string[]]>([
    ['a wait, and waits', [get, ask], ['wait', 'wait']],
    ['a sleep, and sleeps', [get, { op: 'nap' }], ['wait', 'wait']],
    [
      'a wait, and calls in its place',
      [get, { op: 'branch', odd: [{ op: 'look' }], even: [ask] }],
      ['wait', 'sealed']
    ],
    [
      'a wait, and sends a write in its place',
      [get, { op: 'branch', odd: [{ op: 'send' }], even: [ask] }],
      ['wait', 'requested', 'sealed']
    ],
    [
      'a wait, and ends without one',
      [get, { op: 'branch', odd: [], even: [ask] }],
      ['wait', 'settled']
    ]
  ])('L10, D10: verifies when a block parked at %s', async (_, ops, expected) => {
    const program = { ops, atomic: false, retries: false }
    const deeds: readonly Deed[] = [
      { deed: 'poke', key: 0 },
      { deed: 'resume', run: 0 }
    ]
    const { kinds } = await played([program], deeds)
    expect(kinds.filter((kind) => expected.includes(kind))).toEqual(
      expect.arrayContaining([...expected])
    )
    expect(kinds).not.toContain('rewound')
  })

  it.each<[string, readonly Op[]]>([
    ['an answer', [get, ask, ask]],
    ['a listing and an answer', [{ op: 'list' }, ask, ask]]
  ])('L10, D10: verifies when a block drops %s and asks anew', async (_, ops) => {
    const program = { ops, atomic: false, retries: false }
    const { kinds } = await played(
      [program],
      [
        { deed: 'answer', run: 0 },
        { deed: 'poke', key: 0 },
        { deed: 'resume', run: 0 }
      ]
    )
    expect(kinds).toContain('rewound')
    expect(kinds.filter((kind) => kind === 'wait')).toHaveLength(4)
  })

  it.each(['look', 'send'] as const)(
    'L10, L7: makes a call once that stands where a listing was: %s',
    async (call) => {
      sent.length = 0
      const lists: Op = {
        op: 'branch',
        odd: [{ op: 'list' }, { op: 'list' }],
        even: [{ op: 'list' }]
      }
      const ops: readonly Op[] = [
        { op: 'both', one: { op: 'list' }, other: { op: 'nap' } },
        lists,
        { op: 'branch', odd: [{ op: call }], even: [] }
      ]
      const { kinds } = await played(
        [{ ops, atomic: false, retries: false }],
        [{ deed: 'poke', key: 0 }]
      )
      expect(kinds).toContain('rewound')
      expect(new Set(sent).size).toBe(sent.length)
    }
  )

  it('L10: makes a call once that stands where a wait was, while its recorded results last', async () => {
    const lists = (odd: boolean): Op => ({
      op: 'branch',
      odd: odd ? [{ op: 'list' }] : [],
      even: odd ? [] : [{ op: 'list' }]
    })
    const both: Op = { op: 'both', one: { op: 'askInTime' }, other: { op: 'list' } }
    const ops = [lists(false), lists(true), both]
    await played([{ ops, atomic: true, retries: false }], [{ deed: 'poke', key: 0 }])
  })

  it('L10: drops a wait behind what it asks now, so that its time ends nothing', async () => {
    const ops: readonly Op[] = [
      { op: 'get', key: 0 },
      { op: 'branch', odd: [{ op: 'nap' }], even: [] },
      { op: 'both', one: ask, other: { op: 'askInTime' } }
    ]
    const deeds: readonly Deed[] = [
      { deed: 'poke', key: 0 },
      { deed: 'resume', run: 0 }
    ]
    const { kinds } = await played([{ ops, atomic: false, retries: false }], deeds)
    expect(kinds).toContain('rewound')
  })

  it('L10, C4: verifies when keys that were listed in an overlay change while it is parked', async () => {
    const program = { ops: [{ op: 'list' } as const, ask], atomic: true, retries: false }
    const { kinds } = await played([program], [{ deed: 'poke', key: 0 }])
    expect(kinds.filter((kind) => kind === 'wait')).toHaveLength(2)
  })

  it('L10, D10: random programs with state and waits verify, replay and open again', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(program, { minLength: 1, maxLength: 2 }),
        fc.array(deed, { maxLength: 8 }),
        async (programs, deeds) => {
          await played(programs, deeds)
        }
      ),
      isSoak ? { numRuns: 2_000 } : { numRuns: cases({ usual: 15, long: 44 }), seed: 11 }
    )
  })
})
