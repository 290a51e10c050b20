import { describe, expect, it } from 'vitest'
import { type Block, defineBlock } from '../../src/code/index.js'
import {
  hashJson,
  isJsonObject,
  type Json,
  type JsonObject,
  type RunId
} from '../../src/core/index.js'
import { openMemoryStore, verifyLedger } from '../../src/ledger/index.js'
import type { Registrations, WiredRuntime } from '../../src/runtime/index.js'
import { isTaken } from '../support/effort.js'
import { lasting } from '../support/lasting-store.js'
import { openOn, testKeys, until } from '../support/lives.js'
import { sequenceDocument, sequenceOf } from '../support/node-sequence.js'

/**
 * What a block keeps private stands in no signed record, as it is or under a hash that a guess
 * would confirm, wherever the block stands in a run and however the run ends.
 */

const states = ['done', 'failed', 'retried', 'cancelled'] as const
type State = (typeof states)[number]

const SECRET = 'a diagnosis'
const RUN = 'visit' as RunId

const asked: Json = { ref: 'request.payload' }
const node = (block: string, more: JsonObject = {}): JsonObject => ({
  block,
  input: asked,
  ...more
})

const vault = defineBlock({
  name: 'vault',
  version: '1.0.0',
  sideEffects: 'none',
  intents: ['vault'],
  private: { input: true, output: true },
  run: async (ctx, input) => {
    const { secret, then } = input as { readonly secret: string; readonly then: State }
    await ctx.effect('note', { request: 'seen' })
    if (then === 'cancelled') await ctx.wait({ reason: 'external', request: 'go on?' })
    if (then === 'failed' || (then === 'retried' && ctx.attempt < 2)) return ctx.fail('no_luck')
    return { secret }
  }
})

const blocks: readonly Block[] = [
  vault,
  defineBlock({
    name: 'other',
    version: '1.0.0',
    sideEffects: 'none',
    run: () => ({ known: 1 })
  }),
  defineBlock({
    name: 'broken',
    version: '1.0.0',
    sideEffects: 'none',
    intents: ['plain'],
    run: (ctx) => ctx.fail('broken')
  }),
  defineBlock({ name: 'known', version: '1.0.0', sideEffects: 'none', run: () => ({ known: 1 }) })
]

const document = (nodes: Readonly<Record<string, Json>>, name = 'clinic'): Json =>
  sequenceDocument(nodes, name)
const inner = (nodes: Readonly<Record<string, Json>>, more: JsonObject = {}): Json => ({
  composite: sequenceOf(nodes, more),
  input: asked
})
const intent = (action: Json, more: JsonObject = {}): Json => ({
  block: 'intent',
  input: { object: { action, payload: asked } },
  ...more
})

/** Where a private block stands. */
interface Place {
  readonly document: Json
  readonly composites?: readonly Json[]
  readonly intent?: true
  /** What a person answers a failure with. */
  readonly patch?: Json
  readonly states?: readonly State[]
}

const retry = { recovery: [{ retry: { max_attempts: 2 } }] }
const used = document({ b: node('vault', retry) }, 'used')

const places: Readonly<Record<string, Place>> = {
  'a node': { document: document({ a: node('vault', retry) }) },
  'a node after one that needs nothing of it': {
    document: document({ k: { block: 'known', input: { lit: null } }, a: node('vault', retry) })
  },
  'a node before one that needs nothing of it': {
    document: document({ a: node('vault', retry), k: { block: 'known', input: { lit: null } } })
  },
  'an inner composite': { document: document({ a: inner({ b: node('vault', retry) }) }) },
  'an atomic composite': {
    document: document({ a: inner({ b: node('vault', retry) }, { atomic: true }) })
  },
  'an atomic composite that is rolled back': {
    document: document({
      a: inner(
        { b: node('vault', retry), c: { block: 'broken', input: { lit: null } } },
        { atomic: true }
      )
    })
  },
  'an atomic composite, with a fallback that is public': {
    document: document({
      a: inner({ b: node('vault', { recovery: [{ fallback: ['other'] }] }) }, { atomic: true })
    })
  },
  'a step that is put off': {
    document: document({
      a: inner(
        {
          k: { block: 'known', input: { lit: null } },
          b: node('vault', { deferred: true, ...retry })
        },
        { atomic: true }
      )
    }),
    states: ['done', 'retried', 'cancelled']
  },
  'a document that is used': {
    document: document({ a: { use: 'used', input: asked } }),
    composites: [used]
  },
  'a node of a plan': {
    document: {
      schema: 'tally-plan/1',
      name: 'clinic',
      version: '1.0.0',
      nodes: [
        { id: 'k', block: 'known', input: { lit: null } },
        { id: 'a', deps: ['k'], ...node('vault', retry) }
      ]
    }
  },
  'a fallback that is used': {
    document: document({ a: node('broken', { recovery: [{ fallback: ['vault'] }] }) }),
    states: ['done', 'failed', 'cancelled']
  },
  'a fallback that is not used': {
    document: document({
      a: { block: 'known', input: { lit: null }, recovery: [{ fallback: ['vault'] }] }
    }),
    states: ['done']
  },
  'a block with a fallback that is public': {
    document: document({ a: node('vault', { recovery: [{ fallback: ['other'] }] }) })
  },
  'an intent': { document: null, intent: true, states: ['done', 'failed', 'cancelled'] },
  'a step that is an intent': { document: document({ a: intent({ lit: 'vault.open' }, retry) }) },
  'an intent that is computed': {
    document: document({ a: intent({ cel: '"vault." + "open"' }, retry) })
  },
  'an intent that a person gives instead': {
    document: document({ a: intent({ lit: 'plain.act' }, { on_error: 'ask' }) }),
    patch: { action: 'vault.open' },
    states: ['done', 'cancelled']
  }
}

/** Signed records of a ledger in which the run has ended, and all that its journal says. */
async function recordsOf(place: Place, then: State, isCodeGone = false) {
  const inputs = { secret: SECRET, then }
  const store = openMemoryStore()
  const open = (code: Registrations) => openOn(lasting(store), { ...code, durability: 'step' })
  let tally = await open({
    blocks,
    composites: place.composites ?? [],
    providers: [{ name: 'note', perform: () => 'noted' }]
  })
  if (place.intent === true) {
    await tally.intent({ id: RUN, action: 'vault.open', payload: inputs })
  }
  let run =
    place.intent === true
      ? await tally.attach(RUN)
      : tally.begin(place.document, { id: RUN, inputs })
  if (place.patch !== undefined) {
    const { token, digest } = await firstWait(tally)
    await run.resume(token, { digest, action: 'patch', value: place.patch })
  }
  if (then === 'cancelled') {
    await until(async () => (await run.waits()).some(({ reason }) => reason === 'external'))
    if (isCodeGone) {
      await until(() => tally.ledger.run(RUN)?.status === 'waiting')
      await tally.close()
      tally = await open({})
      run = await tally.attach(RUN)
    }
    await run.cancel('enough')
  }
  const { response } = await run.result
  const entries: Json[] = []
  for await (const { value } of tally.journal(RUN)) entries.push(value)
  await tally.close()
  const records: string[] = []
  const { failure } = await verifyLedger({
    store,
    identity: testKeys.identity,
    onItem: ({ evidence }) => {
      if (evidence !== undefined) records.push(evidence)
      return undefined
    },
    onReceipt: ({ text }) => {
      records.push(text)
      return undefined
    }
  })
  expect(failure).toBeUndefined()
  await store.close()
  return { response, records, entries }
}

async function firstWait(tally: WiredRuntime) {
  const run = await tally.attach(RUN)
  await until(async () => (await run.waits()).length > 0)
  const [wait] = await run.waits()
  if (wait === undefined) throw new Error('it waits for nothing')
  return wait
}

/** Every value in it that has the secret in it. */
function secretsIn(value: Json): readonly Json[] {
  if (!JSON.stringify(value).includes(SECRET)) return []
  const parts: readonly Json[] = Array.isArray(value)
    ? value
    : isJsonObject(value)
      ? Object.values(value)
      : []
  return [value, ...parts.flatMap(secretsIn)]
}

const table = Object.entries(places).flatMap(([name, place]) =>
  (place.states ?? states).map((then) => [name, then, place] as const)
)

const played = table.filter((_, at) => isTaken(at, 2))
const parked = table.filter(([, then], at) => then === 'cancelled' && isTaken(at, 5))

describe('what a block keeps private', () => {
  it.each(played)(
    'stands in no receipt and no evidence, nor a hash of it: in %s, %s',
    async (_, then, place) => holdsNoSecret(await recordsOf(place, then))
  )

  it.each(parked)(
    'stands in no evidence of a run that is ended without its code: in %s, %s',
    async (_, then, place) => holdsNoSecret(await recordsOf(place, then, true))
  )
})

function holdsNoSecret({ records, entries, response }: Awaited<ReturnType<typeof recordsOf>>) {
  expect(records.length, JSON.stringify(response)).toBeGreaterThan(0)
  const secrets = entries.flatMap(secretsIn)
  expect(secrets.length).toBeGreaterThan(0)
  const hashes = new Set<string>(secrets.map((value) => hashJson(value)))
  for (const text of records) {
    expect(text).not.toContain(SECRET)
    expect(text.match(/[0-9a-f]{64}/g)?.filter((hash) => hashes.has(hash))).toEqual([])
  }
}
