import '../support/seed.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defineBlock } from '../../src/code/index.js'
import type { Json } from '../../src/core/index.js'
import { createRuntime, MEMORY_LOCATION } from '../../src/runtime/index.js'
import { cases } from '../support/effort.js'

/** What each attempt of a step asks for: reads, and writes of which two are alike on purpose. */
const writes = ['a', 'b', 'b', 'c'] as const
const calls = fc.shuffledSubarray(
  ['read', 'read', ...writes.map((name, place) => `${name}${place}`)],
  { minLength: 0 }
)
const attempts = fc.array(calls, { minLength: 1, maxLength: 4 })

describe('writes of a step that is tried again', () => {
  it.each(['one after another', 'at once'])(
    'L7: a write is performed once, whatever its attempts ask for before it: %s',
    async (how) => {
      await fc.assert(
        fc.asyncProperty(attempts, async (failing) => {
          const done: string[] = []
          const all = [...failing, ['read', ...writes.map((name, place) => `${name}${place}`)]]
          const block = defineBlock({
            name: 'writes',
            version: '1.0.0',
            sideEffects: 'idempotent',
            run: async (ctx) => {
              const given: Json[] = []
              const ask = async (call: string) => {
                if (call === 'read') {
                  const request = { attempt: ctx.attempt }
                  await ctx.effect('read', { request, sideEffects: 'none', perform: () => null })
                  return
                }
                const request = { name: call.slice(0, 1) }
                const perform = () => {
                  done.push(request.name)
                  return { nth: done.filter((one) => one === request.name).length }
                }
                given.push([request.name, await ctx.effect('write', { request, perform })])
              }
              const asked = all[ctx.attempt - 1] ?? []
              if (how === 'at once') await Promise.all(asked.map(ask))
              else for (const call of asked) await ask(call)
              return ctx.attempt < all.length ? ctx.fail('not_yet') : given
            }
          })
          await using tally = await createRuntime({ location: MEMORY_LOCATION, blocks: [block] })
          const recovery = [{ retry: { max_attempts: all.length, interval_ms: 0 } }]
          const document = {
            schema: 'tally-composite/1',
            name: 'again',
            version: '1.0.0',
            entry_point: 'a',
            nodes: { a: { block: 'writes', recovery } }
          }
          const { response } = await tally.begin(document, { id: 'r', inputs: {} }).result
          expect([...done].sort()).toEqual([...writes])
          expect(
            new Set((response.data as readonly Json[]).map((one) => JSON.stringify(one)))
          ).toEqual(
            new Set(['["a",{"nth":1}]', '["b",{"nth":1}]', '["b",{"nth":2}]', '["c",{"nth":1}]'])
          )
          expect(await tally.verify()).toMatchObject({ ok: true })
        }),
        { numRuns: cases({ usual: 15, long: 82, soak: 3_000 }) }
      )
    }
  )
})
