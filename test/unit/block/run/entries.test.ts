import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  encodeEntry,
  encodeSuccess,
  type OverlayEntry,
  type RunFinished,
  type RunStarted,
  type Settled
} from '../../../../src/block/run/entries.js'
import { encodeDone, encodeStarted } from '../../../../src/block/run/entry-texts.js'
import { canonicalize, type Json, sha256Hex } from '../../../../src/core/index.js'

const hash = fc.constant(sha256Hex('a text'))
const overlay: fc.Arbitrary<OverlayEntry> = fc.record(
  {
    writes: fc.array(fc.tuple(fc.string(), fc.option(fc.string(), { nil: null }))),
    reads: fc.array(fc.tuple(fc.string(), fc.option(hash, { nil: null }))),
    lists: fc.array(fc.tuple(fc.string(), hash)),
    used: fc.array(fc.string())
  },
  { requiredKeys: ['writes', 'reads', 'used'] }
)

describe('entries of steps that succeeded', () => {
  it('are written from the text of their data as they are written from the data', () => {
    const count = fc.nat()
    fc.assert(
      fc.property(
        fc.record({ at: count, attempt: count, n: count, step: count, sent: fc.boolean() }),
        fc.record({ path: fc.string({ unit: 'grapheme' }), run: fc.string() }),
        fc.jsonValue(),
        fc.option(overlay, { nil: undefined }),
        fc.option(fc.record({ kind: fc.string(), id: fc.string(), codeHash: hash }), {
          nil: undefined
        }),
        (numbers, texts, value, over, provider) => {
          // As results come: through JSON, so that there is no minus zero.
          const data = JSON.parse(JSON.stringify(value)) as Json
          const response = { success: true, data, metadata: {} }
          const inScope = over === undefined ? {} : { overlay: over }
          const by = provider === undefined ? {} : { provider: provider as never }
          const entry: Settled = { k: 'settled', ...numbers, ...texts, response, ...inScope, ...by }
          expect(encodeSuccess(entry, canonicalize(data))).toBe(encodeEntry(entry))
        }
      )
    )
  })
})

describe('entries of a run', () => {
  const text = sha256Hex('a text')

  it('that begin it are written from texts as they are from values', () => {
    const plain: RunStarted = {
      k: 'run.started',
      run: 'run "é"',
      n: 0,
      at: 3,
      status: 'running',
      name: 'pay "é"',
      definition: { b: 1, a: [] },
      definitionHash: text,
      input: [{ b: 1 }],
      inputHash: text,
      base: 'GENESIS',
      principal: { kind: 'owner' }
    }
    const more = { context: { b: 1, a: 2 }, trace: { traceId: 'trace' } }
    for (const entry of [plain, { ...plain, ...more }]) {
      const { definition, input, principal, context, trace } = entry as typeof plain & typeof more
      const written = (value: unknown) => (value === undefined ? undefined : canonicalize(value))
      const texts = {
        definition: canonicalize(definition),
        input: canonicalize(input),
        principal: canonicalize(principal),
        context: written(context),
        trace: written(trace)
      }
      expect(encodeStarted(entry, texts)).toBe(encodeEntry(entry))
    }
  })

  it('that end it with success are written from the text of its data', () => {
    const response = { success: true, data: { b: 1, a: [] }, metadata: {} }
    const place = { run: 'run "é"', n: 7, at: 3, journalHash: text }
    const entry: RunFinished = { k: 'run.finished', ...place, status: 'done', response }
    expect(encodeDone(entry, canonicalize(response.data))).toBe(encodeEntry(entry))
  })
})
