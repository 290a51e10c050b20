import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { unwrapText, unwrapValue, wrapValue } from '../../../../src/ledger/envelope.js'

describe('value envelope', () => {
  it('has the published bytes', () => {
    expect(wrapValue('key', 'body').toString('hex')).toBe('0142ca0f98626f6479')
    expect(unwrapText('key', wrapValue('key', 'body'))).toBe('body')
    expect(unwrapValue('key', wrapValue('key', new Uint8Array())).length).toBe(0)
  })

  it('gives back what was wrapped, text and bytes alike', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (key, body) => {
        expect(unwrapText(key, wrapValue(key, body))).toBe(body)
        expect(wrapValue(key, Buffer.from(body))).toEqual(wrapValue(key, body))
      })
    )
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
