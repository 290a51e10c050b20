import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  encodeEntry,
  encodeSuccess,
  type OverlayEntry,
  type Settled
} from '../../../../src/block/run/entries.js'
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
        (numbers, texts, value, over) => {
          // As results come: through JSON, so that there is no minus zero.
          const data = JSON.parse(JSON.stringify(value)) as Json
          const response = { success: true, data, metadata: {} }
          const inScope = over === undefined ? {} : { overlay: over }
          const entry: Settled = { k: 'settled', ...numbers, ...texts, response, ...inScope }
          expect(encodeSuccess(entry, canonicalize(data))).toBe(encodeEntry(entry))
        }
      )
    )
  })
})
