import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { OpenWait } from '../../src/block/index.js'
import { defineBlock } from '../../src/code/index.js'
import { hashJson, type Json, type JsonObject } from '../../src/core/index.js'
import type { Registrations, RunHandle } from '../../src/runtime/index.js'
import { codeOf, Machine } from '../support/lives.js'
import { runScenario } from '../support/run-to-end.js'
import '../support/seed.js'

const RUNS = process.env['SOAK'] === '1' ? 200 : 12

const keys = ['region', 'tenant', 'limits', 'flags'] as const
const some = fc.subarray([...keys])
const value = fc.oneof(
  fc.constantFrom<Json>('eu', 'us', 7, true, null),
  fc.record({ deep: fc.array(fc.constantFrom<Json>(1, 'a', {}), { maxLength: 3 }) })
)
const contexts = fc.dictionary(fc.constantFrom(...keys), value) as fc.Arbitrary<JsonObject>

const pruned = (context: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(context).filter(([key]) => names.includes(key)))

/** Returns what it sees before and after a wait, during which its process may end. */
const look = defineBlock({
  name: 'look',
  version: '1.0.0',
  sideEffects: 'none',
  intents: ['look.around'],
  run: async (ctx) => {
    const { context } = ctx
    expect(Object.isFrozen(context)).toBe(true)
    for (const inner of Object.values(context)) expect(Object.isFrozen(inner)).toBe(true)
    await ctx.wait({ reason: 'external', request: { seen: context } })
    return { context, again: ctx.context }
  }
})

const glance = defineBlock({
  name: 'glance',
  version: '1.0.0',
  sideEffects: 'none',
  intents: ['glance.around'],
  run: (ctx) => ctx.context
})

const registrations = (): Registrations => ({ blocks: [look, glance] })

const named = (entry: string, nodes: JsonObject, transitions: JsonObject = {}): JsonObject => ({
  entry_point: entry,
  nodes,
  transitions
})

/** Two levels: what the node of a composite does not declare, no node inside can see. */
function documentOf(outer: readonly string[], inner: readonly string[]): JsonObject {
  return {
    schema: 'tally-composite/1',
    name: 'looking',
    version: '1.0.0',
    ...named(
      'plain',
      {
        plain: { block: 'look', context: outer },
        none: { block: 'glance' },
        nested: {
          context: outer,
          composite: {
            atomic: true,
            ...named('deep', { deep: { block: 'glance', context: inner } })
          }
        },
        eu: { block: 'glance', context: ['region'] }
      },
      {
        plain: [{ condition: { cel: '"region" in request.context' }, target: 'nested' }],
        nested: [
          { condition: { cel: 'request.context.region == "eu"' }, target: 'eu' },
          { condition: 'default', target: 'none' }
        ]
      }
    ),
    output: { ref: 'nodes' }
  }
}

async function asked(run: RunHandle): Promise<OpenWait> {
  for await (const event of run) if (event.type === 'waiting') return event
  throw new Error('it has ended')
}

describe('the context of a run', () => {
  it('B1: is what nodes declare of it, for conditions, after a crash and in replay', async () => {
    const dieAt = fc.integer({ min: 1, max: 30 })
    await fc.assert(
      fc.asyncProperty(contexts, some, some, dieAt, async (context, outer, inner, at) => {
        const document = documentOf(outer, inner)
        const scenario = { document, inputs: {}, context, registrations }
        const whole = await runScenario(scenario)
        const { receipts } = whole
        const hashes = new Map(
          receipts.map(({ inputPayload: { run } }) => [run?.path, run?.contextHash])
        )
        const hashOf = (seen: JsonObject) =>
          Object.keys(seen).length === 0 ? undefined : hashJson(seen)
        const seen = pruned(context, outer)
        expect(hashes.get('root/plain')).toBe(hashOf(seen))
        // A branch list without a match ends the run, and it leaves no receipt.
        const isThere = Object.hasOwn(context, 'region')
        expect(whole.result.status).toBe(isThere ? 'done' : 'failed')
        if (isThere) {
          expect(hashes.get('root')).toBe(hashOf(context))
          expect(hashes.get('root/nested')).toBe(hashOf(seen))
          expect(hashes.has('root/eu')).toBe(context['region'] === 'eu')
          expect(hashes.has('root/none')).toBe(context['region'] !== 'eu')
          expect(hashes.get('root/none')).toBeUndefined()
          expect(whole.result.response.data).toMatchObject({
            plain: { response: { data: { again: seen, context: seen } } },
            nested: { response: { data: pruned(seen, inner) } }
          })
        }
        const crashed = await runScenario(scenario, [at])
        expect(crashed.result.response).toEqual(whole.result.response)
        const committed = crashed.receipts.map(({ inputPayload: { run } }) => run?.contextHash)
        expect(committed).toEqual([...hashes.values()])
      }),
      { numRuns: RUNS }
    )
  })

  it('L6: is part of what an id stands for, and an empty one is none', async () => {
    const document = documentOf(['region'], [])
    const runtime = await new Machine().open(registrations())
    const start = (context?: JsonObject) =>
      runtime.begin(document, { id: 'r', ...(context === undefined ? {} : { context }) })
    const first = start({ region: 'eu', tenant: 'a' })
    const wait = await asked(first)
    expect(wait.request).toMatchObject({ request: { seen: { region: 'eu' } } })
    expect(await asked(start({ tenant: 'a', region: 'eu' }))).toMatchObject({ token: wait.token })
    for (const other of [{ region: 'eu' }, {}, undefined]) {
      expect(await codeOf(start(other).result)).toBe('run.id_reused')
    }
    const empty = runtime.begin(document, { id: 'empty', context: {} })
    const { token } = await asked(empty)
    expect(runtime.ledger.run(empty.id)?.started).not.toHaveProperty('context')
    expect(await asked(runtime.begin(document, { id: 'empty' }))).toMatchObject({ token })
    expect(() => start([] as unknown as JsonObject)).toThrowError(/context/)
    await runtime.close()
  })

  it('K1: a single-step run has its whole context, whether it ends at once or waits', async () => {
    const runtime = await new Machine().open(registrations())
    const context = { region: 'eu', deep: { list: [1] } }
    const glanced = await runtime.intent({ action: 'glance.around', id: 'a', context })
    expect(glanced).toMatchObject({ type: 'dapp', ...context })
    const again = await runtime.intent({ action: 'glance.around', id: 'a' })
    expect(again).toMatchObject({ type: 'error', reason: 'id_reused' })
    const asked = await runtime.intent({ action: 'look.around', id: 'b', context })
    expect(asked).toMatchObject({ type: 'waiting', request: { request: { seen: context } } })
    const run = await runtime.attach('b')
    const [wait] = await run.waits()
    await run.resume(wait?.token ?? '', { digest: wait?.digest ?? '', value: null })
    expect(await runtime.result('b')).toMatchObject({ context, again: context })
    for await (const { receipt } of runtime.receipts()) {
      expect(receipt.inputPayload.run?.contextHash).toBe(hashJson(context))
    }
    expect((await runtime.replay()).failure).toBeUndefined()
    await runtime.close()
  })
})
