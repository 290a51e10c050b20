import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { OpenWait } from '../../src/block/index.js'
import { defineBlock, EffectFailure } from '../../src/code/index.js'
import { canonicalize, canonicalizeLedgerValue, type Json } from '../../src/core/index.js'
import { createRuntime, MEMORY_LOCATION, type Registrations } from '../../src/runtime/index.js'
import { cases } from '../support/effort.js'
import { Machine } from '../support/lives.js'

const RUNS = cases({ usual: 6, long: 14, soak: 300 })

function isLedgerValue(value: Json): boolean {
  try {
    return canonicalizeLedgerValue(value) !== ''
  } catch {
    return false
  }
}

/** Does what a function may do to what it was given: changes, adds and takes away, everywhere. */
function vandalise(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const member of Object.values(value)) vandalise(member)
  if (Array.isArray(value)) {
    value.reverse()
    value.push('vandal')
    return
  }
  const [first] = Object.keys(value)
  if (first !== undefined) Reflect.deleteProperty(value, first)
  Reflect.set(value, 'vandal', true)
  for (const key of Object.keys(value)) Reflect.set(value, key, 'vandal')
}

const leave = () => undefined

const document: Json = {
  schema: 'tally-composite/1',
  name: 'aliases',
  version: '1.0.0',
  entry_point: 'asked',
  nodes: {
    asked: { block: 'echo', confirm: { when: 'always', message: 'go on?' } },
    atomic: { use: 'inner' },
    mended: { block: 'broken', recovery: [{ repair: 'mend' }] },
    doubtful: { block: 'doubtful' },
    last: {
      block: 'echo',
      input: {
        array: [
          { ref: 'request.payload' },
          { ref: 'nodes.asked.response.data' },
          { ref: 'nodes.doubtful.response.data' }
        ]
      }
    }
  },
  transitions: {
    asked: [
      { condition: 'never', target: 'last' },
      { condition: 'always', target: 'mended' }
    ],
    mended: 'atomic',
    atomic: [{ condition: 'default', target: 'doubtful' }],
    doubtful: [{ condition: 'always', target: 'last' }]
  }
}

const inner: Json = {
  schema: 'tally-composite/1',
  name: 'inner',
  version: '1.0.0',
  atomic: true,
  entry_point: 'write',
  nodes: { write: { block: 'write' }, fail: { block: 'echo' } },
  transitions: { write: [{ condition: 'always', target: 'fail' }] }
}

/** Every registered function, each of which does `touch` to all that it is given. */
function registered(touch: (value: unknown) => void, seen: Json[]): Registrations {
  const condition = (answer: boolean) => (response: unknown, request: unknown) => {
    touch(response)
    touch(request)
    return answer
  }
  let sent = 0
  return {
    conditions: { always: condition(true), never: condition(false) },
    repairs: {
      mend: (request, failure) => {
        const payload = { mended: true, was: structuredClone(request.payload) }
        touch(request)
        touch(failure)
        return { ...request, payload }
      }
    },
    composites: [inner],
    blocks: [
      defineBlock({
        name: 'echo',
        version: '1.0.0',
        sideEffects: 'none',
        run: (ctx, input: Json) => {
          const result = structuredClone(input)
          const data = structuredClone(input)
          ctx.log('got', data)
          touch(input)
          touch(data)
          return result
        }
      }),
      defineBlock({
        name: 'broken',
        version: '1.0.0',
        sideEffects: 'none',
        run: (ctx, input: Json) => {
          const isMended = canonicalize(input).includes('"mended":true')
          return isMended ? input : ctx.fail('broken', { input })
        }
      }),
      defineBlock({
        name: 'write',
        version: '1.0.0',
        sideEffects: 'idempotent',
        compensate: (landed) => {
          const request = structuredClone(landed.request)
          touch(landed)
          return { effect: 'undo', request }
        },
        run: (ctx, input: Json) =>
          ctx.effect('write', {
            request: input,
            perform: ({ request }) => {
              const result = structuredClone(request)
              touch(request)
              return result
            }
          })
      }),
      defineBlock({
        name: 'doubtful',
        version: '1.0.0',
        sideEffects: 'non_idempotent',
        run: async (ctx, input: Json) => {
          const got = await ctx.effect('act', {
            request: input,
            perform: ({ request }) => {
              sent += 1
              seen.push(structuredClone(request))
              const result = structuredClone(request)
              touch(request)
              if (sent === 1) throw new EffectFailure('timeout')
              // What was returned is changed afterwards.
              queueMicrotask(() => touch(result))
              setImmediate(() => touch(result))
              return structuredClone(result)
            },
            locate: ({ request }) => {
              touch(request)
              return { found: false, definite: false }
            }
          })
          const result = structuredClone(got)
          touch(got)
          return result
        }
      })
    ]
  }
}

async function play(inputs: Json, touch: (value: unknown) => void) {
  const seen: Json[] = []
  const runtime = await new Machine().open(registered(touch, seen))
  runtime.events.on('event', (event) => touch(event))
  const run = runtime.begin(document, { id: 'r', inputs })
  const shown: unknown[] = []
  for await (const event of run) {
    if (event.type !== 'waiting') continue
    const { token, digest, actions } = event
    shown.push(structuredClone(event.request))
    touch(event)
    const touched = await run.waits()
    touch(touched)
    const waits: readonly OpenWait[] = await run.waits()
    shown.push(structuredClone(waits))
    if (actions.includes('approve')) await run.approve(token, { digest })
    else await run.resume(token, { digest, action: 'retry' })
  }
  const { status, response } = await run.result
  const report = await runtime.replay()
  await runtime.close()
  return { status, response, seen, shown, failure: report.failure, ok: report.ok }
}

const json = fc
  .jsonValue({ maxDepth: 4 })
  .filter((value) => isLedgerValue(value as Json))
  // A negative zero is a zero in every journal.
  .map((value) => JSON.parse(canonicalize(value as Json)) as Json)
const payload = fc.dictionary(fc.constantFrom('a', 'b', 'list', 'deep'), json, { minKeys: 1 })

describe('what registered functions, readers and listeners are given', () => {
  it('B11: changes nothing of the run or its replay, whatever they do to it', async () => {
    await fc.assert(
      fc.asyncProperty(payload, async (inputs) => {
        const innocent = await play(inputs, leave)
        expect(innocent).toMatchObject({ ok: true, status: 'done' })
        expect(await play(inputs, vandalise)).toEqual(innocent)
      }),
      { numRuns: RUNS }
    )
  })
})

describe('a repair', () => {
  const mended: Json = {
    schema: 'tally-composite/1',
    name: 'mended',
    version: '1.0.0',
    entry_point: 'a',
    nodes: { a: { block: 'needs', recovery: [{ repair: 'mend' }] } }
  }
  const needs = defineBlock({
    name: 'needs',
    version: '1.0.0',
    sideEffects: 'none',
    run: (ctx, input: { readonly good?: boolean }) => (input.good ? 'ok' : ctx.fail('bad'))
  })

  async function mend(repair: NonNullable<Registrations['repairs']>[string]) {
    const runtime = await new Machine().open({ blocks: [needs], repairs: { mend: repair } })
    const { response } = await runtime.begin(mended, { inputs: { p: 1 } }).result
    expect(await runtime.replay()).toMatchObject({ ok: true })
    await runtime.close()
    return response.data ?? response.reason
  }

  it('B11: may change what it was given and return it', async () => {
    const inPlace = await mend((request) => {
      Object.assign(request.payload as object, { good: true })
      return request
    })
    const member = await mend((request) => {
      Reflect.set(request, 'payload', { good: true })
      return request
    })
    expect([inPlace, member]).toEqual(['ok', 'ok'])
  })

  it('B11: that gives what is no JSON has not repaired anything', async () => {
    for (const payload of [() => 1, Symbol('no'), Number.NaN, undefined, new Proxy({}, trap)]) {
      const answer = await mend((request) => ({ ...request, payload: payload as unknown as Json }))
      expect(answer).toBe('bad')
    }
    expect(await mend(() => undefined as never)).toBe('bad')
  })
})

const trap: ProxyHandler<object> = {
  ownKeys() {
    throw new Error('hostile')
  }
}

it('B11: a document that is changed once its run has begun changes nothing of the run', async () => {
  const literal: Record<string, unknown> = { a: 1, deep: { b: [2] } }
  const given: Json[] = []
  const changes = defineBlock<Json, null>({
    name: 'changes',
    version: '1.0.0',
    sideEffects: 'none',
    run: (_, input) => {
      given.push(structuredClone(input))
      if (given.length > 1) return null
      vandalise(literal)
      Object.defineProperty(literal, 'deep', { enumerable: true, get: () => given.length })
      return null
    }
  })
  const input = { object: { value: { lit: literal as Json } } }
  const changed: Json = {
    schema: 'tally-composite/1',
    name: 'changed',
    version: '1.0.0',
    entry_point: 'first',
    nodes: { first: { block: 'changes' }, second: { block: 'changes', input } },
    transitions: { first: 'second' }
  }
  await using tally = await createRuntime({ location: MEMORY_LOCATION, blocks: [changes] })
  expect((await tally.begin(changed).result).status).toBe('done')
  expect(given).toEqual([{}, { value: { a: 1, deep: { b: [2] } } }])
  expect(await tally.verify()).toMatchObject({ ok: true, complete: true })
})
