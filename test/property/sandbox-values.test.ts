import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalize, canonicalizeLedgerValue, type Json } from '../../src/core/index.js'
import { cases } from '../support/effort.js'
import { runs, sandboxOfFile } from '../unit/capability/guest.js'

const { execute } = sandboxOfFile()

const text = fc.string({ unit: 'binary' }).filter((value) => value.isWellFormed())
const key = text.filter((value) => !value.startsWith('$'))
const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true, max: 1e15, min: -1e15 }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value')),
    fc.dictionary(key, tie('value'), { noNullPrototype: true })
  )
}))

describe('values that cross into a guest and back', () => {
  it('are the same canonical text, whatever they hold', async () => {
    await fc.assert(
      fc.asyncProperty(value, async (given) => {
        const outcome = await execute(
          runs(`api.storage.set('copy', intent)
            return [intent, api.storage.get('copy'), await api.network.request(intent)]`),
          { intent: given }
        )
        const expected = canonicalizeLedgerValue(given)
        expect(outcome).toMatchObject({ kind: 'call', calls: [{ requestText: expected }] })
        const [call] = outcome.kind === 'call' ? outcome.calls : []
        const { requestHash = expected as never } = call ?? {}
        const done = await execute(
          runs(`api.storage.set('copy', intent)
            return [intent, api.storage.get('copy'), await api.network.request(intent)]`),
          { intent: given, recorded: [{ seq: 0, requestHash, ok: true, resultText: expected }] }
        )
        expect(done).toMatchObject({ resultText: `[${expected},${expected},${expected}]` })
        expect(done.kind === 'done' && done.writes.get('packages/guest/copy')).toBe(expected)
      }),
      { numRuns: cases({ usual: 60, long: 82 }) }
    )
  })

  it('storage behaves as a map, with what was there before below it', async () => {
    const name = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor')
    const step = fc.oneof(
      fc.record({ does: fc.constant('set' as const), name, to: fc.integer() }),
      fc.record({ does: fc.constant('delete' as const), name, to: fc.constant(0) }),
      fc.record({ does: fc.constant('get' as const), name, to: fc.constant(0) })
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step), fc.dictionary(name, fc.integer()), async (steps, before) => {
        const start = new Map(Object.entries(before))
        const model = new Map(start)
        const seen: (number | null)[] = []
        const changed = new Set<string>()
        for (const one of steps) {
          if (one.does === 'get') seen.push(model.get(one.name) ?? null)
          else changed.add(`packages/guest/${one.name}`)
          if (one.does === 'set') model.set(one.name, one.to)
          if (one.does === 'delete') model.delete(one.name)
        }
        const outcome = await execute(
          runs(`const seen = []
            for (const { does, name, to } of intent) {
              if (does === 'get') seen.push(api.storage.get(name) ?? null)
              if (does === 'set') api.storage.set(name, to)
              if (does === 'delete') api.storage.delete(name)
            }
            return seen`),
          {
            intent: steps.map((one) => ({ ...one })),
            read: (full) => {
              const found = start.get(full.slice('packages/guest/'.length))
              return found === undefined ? undefined : canonicalize(found)
            }
          }
        )
        expect(outcome).toMatchObject({ kind: 'done', resultText: canonicalize(seen) })
        const writes = outcome.kind === 'done' ? outcome.writes : new Map()
        expect(new Set(writes.keys())).toEqual(changed)
        for (const [full, written] of writes) {
          const left = model.get(full.slice('packages/guest/'.length))
          expect(written).toBe(left === undefined ? null : canonicalize(left))
        }
      }),
      { numRuns: cases({ usual: 60, long: 82 }) }
    )
  })
})
