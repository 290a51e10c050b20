import { describe, expect, it } from 'vitest'
import { recordRun } from '../../../../src/audit/index.js'
import { type Block, type BlockDefinition, defineBlock } from '../../../../src/code/index.js'
import { type Json, nextTurn, type RunId } from '../../../../src/core/index.js'
import type { IntentRequest, Registrations, WiredRuntime } from '../../../../src/runtime/index.js'
import { FaultyDisk, RecordedRun } from '../../../../src/testing/index.js'
import { isTaken } from '../../../support/effort.js'
import { codeOf, openOn, testKeys } from '../../../support/lives.js'
import { sequenceDocument, sequenceOf } from '../../../support/node-sequence.js'

const states = ['done', 'failed', 'waiting', 'running', 'cancelled'] as const
type State = (typeof states)[number]

type Private = NonNullable<BlockDefinition['private']>

const SECRET = 'a diagnosis'
const never = new Promise<never>(() => undefined)

type Context = Parameters<BlockDefinition['run']>[0]

async function act(ctx: Context, { secret, then }: { secret: Json; then: State }): Promise<Json> {
  if (then === 'failed') return ctx.fail('no_luck', { secret })
  if (then === 'running') return ctx.effect('stuck', { request: { secret } })
  if (then !== 'done') await ctx.wait({ reason: 'external', request: { secret } })
  return { secret }
}

function vault(
  options: Partial<BlockDefinition> & { readonly keeps?: Private | undefined }
): Block {
  const { keeps, ...rest } = options
  return defineBlock({
    name: 'vault',
    version: '1.0.0',
    sideEffects: 'none',
    ...(keeps === undefined ? {} : { private: keeps }),
    run: (ctx, input) => act(ctx, input as never),
    ...rest
  })
}

const reserve = (keeps: Private | undefined) =>
  vault({
    name: 'reserve',
    sideEffects: 'idempotent',
    keeps,
    compensate: ({ response }) => ({
      effect: 'undo',
      request: response,
      sideEffects: 'idempotent'
    }),
    run: (ctx) => ctx.effect('reserve', { request: { secret: SECRET } })
  })

const document = (nodes: Readonly<Record<string, Json>>, name = 'clinic'): Json =>
  sequenceDocument(nodes, name)
const lit = (value: Json): Json => ({ lit: value })
const given = (then: State): Json => ({ secret: SECRET, then })
const plain = (then: State): Json => ({ block: 'plain', input: lit({ secret: null, then }) })
const opens = (then: State): Json => ({ block: 'vault', input: lit(given(then)) })
const intentOf = (then: State): Json => ({ action: 'vault.open', payload: given(then) })

/** What is private, and how a run comes to it. */
interface Kind {
  readonly keeps?: Private
  readonly run: (then: State) => Json
  readonly blocks?: (keeps: Private | undefined) => readonly Block[]
  readonly composites?: (then: State) => readonly Json[]
  readonly isIntent?: true
  /** Where the private code is not what decides how the run ends. */
  readonly states?: readonly State[]
}

const serving = (keeps: Private | undefined) => [
  vault({ keeps, intents: ['vault'], sideEffects: 'idempotent' })
]

const kinds: Readonly<Record<string, Kind>> = {
  'an input': { keeps: { input: true }, run: (then) => document({ a: opens(then) }) },
  'an output': { keeps: { output: true }, run: (then) => document({ a: opens(then) }) },
  'a block before the one that decides': {
    run: (then) => document({ a: opens('done'), b: plain(then) })
  },
  'a block that no step has come to': {
    run: (then) => document({ a: plain(then), b: opens('done') })
  },
  'a block of an inner composite': {
    run: (then) => document({ a: { composite: sequenceOf({ b: opens(then) }) } })
  },
  'a block of an atomic composite': {
    run: (then) => document({ a: { composite: sequenceOf({ b: opens(then) }, { atomic: true }) } })
  },
  'a block of a document that is used': {
    run: () => document({ a: { use: 'inner' } }),
    composites: (then) => [document({ b: opens(then) }, 'inner')]
  },
  'a block of a plan': {
    run: (then) => ({
      schema: 'tally-plan/1',
      name: 'clinic',
      version: '1.0.0',
      nodes: [
        { id: 'a', ...(plain('done') as object) },
        { id: 'b', ...(opens(then) as object), deps: ['a'] }
      ]
    })
  },
  'a fallback': {
    run: (then) => {
      const recovery = [{ fallback: ['vault'] }]
      return document({ a: { block: 'broken', input: lit(given(then)), recovery } })
    }
  },
  'a version that another has followed': {
    run: (then) => document({ a: { block: 'vault@1.0.0', input: lit(given(then)) } }),
    blocks: (keeps) => [vault({ keeps }), vault({ version: '2.0.0' })]
  },
  'a write that is undone': {
    run: (then) => {
      const nodes = { b: { block: 'reserve', input: lit(given('done')) }, c: plain(then) }
      return document({ a: { composite: sequenceOf(nodes, { atomic: true }) } })
    },
    blocks: (keeps) => [reserve(keeps)]
  },
  'a step that is put off': {
    run: (then) => {
      const nodes = { b: plain('done'), c: { ...(opens(then) as object), deferred: true } }
      return document({ a: { composite: sequenceOf(nodes, { atomic: true }) } })
    },
    states: ['done', 'waiting', 'running', 'cancelled']
  },
  'an intent': { run: intentOf, blocks: serving, isIntent: true },
  'an intent of a step': {
    run: (then) => document({ a: { block: 'intent', input: lit(intentOf(then)) } }),
    blocks: serving
  },
  'an intent that is computed': {
    run: (then) => {
      const action = { cel: '"vault." + "open"' }
      const input = { object: { action, payload: lit(given(then)) } }
      return document({ a: { block: 'intent', input } })
    },
    blocks: serving
  }
}

interface Made {
  readonly run: RecordedRun
  readonly code: Registrations
}

async function made(kind: Kind, then: State, keeps: Private | undefined): Promise<Made> {
  const { blocks = (all) => [vault({ keeps: all })], composites = () => [] } = kind
  let isSent = false
  const stuck = () => {
    isSent = true
    return never
  }
  const code: Registrations = {
    blocks: [
      ...blocks(keeps),
      vault({ name: 'plain' }),
      vault({ name: 'broken', run: (ctx) => ctx.fail('broken') })
    ],
    composites: composites(then),
    providers: [
      { name: 'stuck', perform: stuck },
      { name: 'reserve', perform: ({ request }) => request },
      { name: 'undo', perform: ({ request }) => request }
    ]
  }
  const disk = new FaultyDisk(1)
  const tally = await openOn(disk.open(), { ...code, durability: 'step' })
  const request = kind.run(then)
  if (kind.isIntent === true)
    ignore(tally.intent({ ...(request as unknown as IntentRequest), id: RUN }))
  else ignore(tally.begin(request, { id: RUN, inputs: { secret: SECRET } }).result)
  await until(() => (then === 'running' ? isSent : statusIn(tally) === reachedBy[then]))
  if (then === 'cancelled') {
    const run = await tally.resume(RUN)
    await run.cancel('enough')
    await run.result
  }
  if (then === 'running') {
    await until(() => tally.ledger.run(RUN, { durable: true }) !== undefined)
    disk.crash('power')
  } else await tally.close()
  const recording = await recordRun({ store: disk.open(), identity: testKeys.identity, run: RUN })
  if (recording === undefined) throw new Error('there is no such run')
  return { run: new RecordedRun(recording), code }
}

const RUN = 'visit' as RunId
const reachedBy = { done: 'done', failed: 'failed', waiting: 'waiting', cancelled: 'waiting' }
const TURNS_MAX = 1_000_000

function statusIn({ ledger }: WiredRuntime): string | undefined {
  return ledger.run(RUN)?.status
}

async function until(isReached: () => boolean): Promise<void> {
  for (let turn = 0; turn < TURNS_MAX; turn += 1) {
    if (isReached()) return
    await nextTurn()
  }
  throw new Error('it has not come so far')
}

/** The process ends under it. */
function ignore(promise: Promise<unknown>): void {
  promise.catch(() => undefined)
}

const table = Object.entries(kinds).flatMap(([name, kind]) =>
  (kind.states ?? states).map((then) => [name, then, kind] as const)
)

/** In the short form each kind has one state or two, and each state some kinds. */
const played = table.filter((_, n) => isTaken(n, 3))

describe('a file of a run', () => {
  it.each(played)('is refused where code keeps it private: %s, %s', async (_, then, kind) => {
    const { keeps = { input: true, output: true } } = kind
    const { run, code } = await made(kind, then, keeps)
    const { outcome, text } = await run.replay(code)
    expect(outcome, text).toBe('same')
    expect(await codeOf(run.fixture(code))).toBe('testing.private_run')
    expect(await run.fixture(code, { private: true })).toContain(SECRET)
    const open = await made(kind, then, undefined)
    expect(await open.run.fixture(open.code)).toContain(SECRET)
  })

  it('is refused where the ledger says so, and the code does not any more', async () => {
    const names = ['an output', 'a block of an atomic composite']
    for (const name of names) {
      const kind = kinds[name]
      if (kind === undefined) throw new Error(`there is no ${name}`)
      const { run } = await made(kind, 'done', { output: true })
      const { code } = await made(kind, 'done', undefined)
      expect.soft(await codeOf(run.fixture(code)), name).toBe('testing.private_run')
    }
  })

  it('is refused where the code is not here, which would say so', async () => {
    const [kind] = Object.values(kinds)
    if (kind === undefined) throw new Error('there is no kind')
    const { run } = await made(kind, 'waiting', undefined)
    expect((await run.replay({})).outcome).toBe('not_checked')
    expect(await codeOf(run.fixture({}))).toBe('testing.private_run')
  })
})
