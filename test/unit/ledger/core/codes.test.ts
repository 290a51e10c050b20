import { createHash, createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DerivedCodes } from '../../../../src/ledger/derived/codes.js'
import { withBody } from '../../../support/derived.js'
import vectors from '../../../vectors/value-envelope.json' with { type: 'json' }

const blobKey = Buffer.from(vectors.blobKey, 'hex')
const codes = new DerivedCodes(blobKey)

describe('codes of derived records (L12)', () => {
  it.each(vectors.coded)('are those of the specification under key "$key"', (vector) => {
    const { key, stamp: watermark } = vector
    const body = Buffer.from(vector.body, 'hex')
    const value = codes.wrap(key, body, watermark)
    expect(value.toString('hex')).toBe(vector.value)
    expect(codes.open(key, value).body.equals(body)).toBe(true)
    const number = (of: number, bytes: number) => {
      const written = Buffer.alloc(bytes)
      written.writeUIntBE(of, 0, bytes)
      return written
    }
    const subkey = createHmac('sha256', blobKey).update('tallystick/derived').digest()
    const lengths = [number(Buffer.byteLength(key), 4), number(body.length, 4)]
    const hashed = Buffer.concat([subkey, ...lengths, number(watermark, 6), Buffer.from(key), body])
    const hash = createHash('sha256').update(hashed).digest()
    expect(value.subarray(11, 27).equals(hash.subarray(0, 16))).toBe(true)
    expect(codes.hash(key, value).equals(hash)).toBe(true)
  })

  it('L12: hold for their key, body, watermark and blob key alone, with mended checksums', () => {
    const other = new DerivedCodes(new Uint8Array(32))
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.nat(), fc.nat(), (key, body, watermark, at) => {
        const value = codes.wrap(key, body, watermark)
        expect(codes.open(key, value).body.toString()).toBe(Buffer.from(body).toString())
        expect(() => other.open(key, value)).toThrow(/code/)
        expect(() => codes.open(`${key}x`, value)).toThrow(/code/)
        expect(() => codes.open(key, withBody(key, value, `${body}x`))).toThrow(/code/)
        const changed = Buffer.from(value)
        const place = 5 + (at % (value.length - 5))
        changed.writeUInt8(changed.readUInt8(place) ^ 1, place)
        expect(() => codes.open(key, changed)).toThrow(/code/)
      })
    )
  })
})
