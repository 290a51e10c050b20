import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  bodyBytes,
  unwrapText,
  unwrapValue,
  wrapPieces,
  wrapValue
} from '../../../../src/ledger/envelope.js'
import vectors from '../../../vectors/value-envelope.json' with { type: 'json' }

describe('value envelope', () => {
  it.each(vectors.values)('has the published bytes under key "$key"', ({ key, body, value }) => {
    expect(wrapValue(key, Buffer.from(body, 'hex')).toString('hex')).toBe(value)
    expect(unwrapValue(key, Buffer.from(value, 'hex')).toString('hex')).toBe(body)
  })

  it.each(vectors.refused)('refuses $value under key "$key"', ({ key, value, problem }) => {
    expect(() => unwrapValue(key, Buffer.from(value, 'hex'))).toThrow(problem)
  })

  it('gives back what was wrapped, text and bytes alike', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (key, body) => {
        expect(unwrapText(key, wrapValue(key, body))).toBe(body)
        expect(wrapValue(key, Buffer.from(body))).toEqual(wrapValue(key, body))
      })
    )
  })

  it('wraps pieces of text as it wraps the whole', () => {
    // Also of characters of two to four bytes, and half ones, at every place.
    const unit = fc.constantFrom('a', '~', '\u0000', 'é', '€', '🙂', '\ud83d', '\ude42')
    const piece = fc.string({ unit, maxLength: 6 })
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 5 }), (pieces) => {
        const whole = wrapValue('r/1', pieces.join(''))
        expect(wrapPieces('r/1', pieces)).toEqual(whole)
        expect(bodyBytes(whole)).toBe(Buffer.byteLength(pieces.join('')))
      })
    )
    expect(wrapPieces('r/1', ['éa'])).toEqual(wrapValue('r/1', 'éa'))
  })

  it('L4: finds every single flipped bit', () => {
    const value = wrapValue('r/1', '{"a":1}')
    for (let bit = 0; bit < value.length * 8; bit += 1) {
      const damaged = Buffer.from(value)
      damaged.writeUInt8(damaged.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
      expect(() => unwrapValue('r/1', damaged)).toThrow(
        expect.objectContaining({ code: 'ledger.corrupt', context: expect.anything() })
      )
    }
  })

  it('L4: finds truncation at every length and a value under another key', () => {
    const value = wrapValue('r/1', '{"a":1}')
    for (let length = 0; length < value.length; length += 1) {
      expect(() => unwrapValue('r/1', value.subarray(0, length))).toThrow(/r\/1/)
    }
    expect(() => unwrapValue('r/2', value)).toThrow(/checksum/)
  })
})
