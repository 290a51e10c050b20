import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeEntry, encodeSuccess, type Settled } from '../../../../src/block/pump/entries.js'
import { canonicalize, type Json } from '../../../../src/core/index.js'

describe('entries of steps that succeeded', () => {
  it('are written from the text of their data as they are written from the data', () => {
    const count = fc.nat()
    fc.assert(
      fc.property(
        fc.record({ at: count, attempt: count, n: count, step: count, sent: fc.boolean() }),
        fc.record({ path: fc.string({ unit: 'grapheme' }), run: fc.string() }),
        fc.jsonValue(),
        (numbers, texts, value) => {
          // As results come: through JSON, so that there is no minus zero.
          const data = JSON.parse(JSON.stringify(value)) as Json
          const response = { success: true, data, metadata: {} }
          const entry: Settled = { k: 'settled', ...numbers, ...texts, response }
          expect(encodeSuccess(entry, canonicalize(data))).toBe(encodeEntry(entry))
        }
      )
    )
  })
})
