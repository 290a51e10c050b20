import {
  type Address,
  getAddressDecoder,
  getAddressEncoder,
  getBase58Decoder,
  getBase58Encoder,
  getBase64Encoder,
  getProgramDerivedAddress,
  isAddress,
  type ReadonlyUint8Array
} from '@solana/kit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { derivePda } from '../../../../src/executor/solana/addresses.js'
import { base58Text } from '../../../../src/executor/solana/base58.js'
import { addressBytes, textBytes } from '../../../../src/executor/solana/layout.js'

function orNull<Value>(make: () => Value): Value | null {
  try {
    return make()
  } catch {
    return null
  }
}

/** Bytes as hex, or null where there are none. */
const hexOf = (make: () => ReadonlyUint8Array) =>
  orNull(() => Buffer.from(Uint8Array.from(make())).toString('hex'))

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const letters = (others: string) =>
  fc.string({ unit: fc.constantFrom(...alphabet, ...others), minLength: 1, maxLength: 50 })
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })

describe('bytes of Solana without its library', () => {
  it('are those of base58 and base64 of the library, and none where it has none', () => {
    fc.assert(
      fc.property(fc.oneof(letters(''), letters('0OIl'), letters('+/=')), (text) => {
        const [base58, base64] = [
          hexOf(() => textBytes(`base58:${text}`, 'data')),
          hexOf(() => textBytes(`base64:${text}`, 'data'))
        ]
        expect(base58).toBe(hexOf(() => getBase58Encoder().encode(text)))
        expect(base64).toBe(hexOf(() => getBase64Encoder().encode(text)))
      })
    )
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 70 }), fc.nat(4), (tail, zeros) => {
        const all = Uint8Array.from([...new Uint8Array(zeros), ...tail])
        expect(base58Text(all)).toBe(getBase58Decoder().decode(all))
      })
    )
  })

  it('are those of the same addresses', () => {
    const texts = fc.oneof(
      letters(''),
      bytes(32).map((all) => getAddressDecoder().decode(all) as string),
      fc.integer({ min: 30, max: 46 }).map((count) => '1'.repeat(count))
    )
    fc.assert(
      fc.property(texts, (text) => {
        const encoded = isAddress(text) ? hexOf(() => getAddressEncoder().encode(text)) : null
        expect(hexOf(() => addressBytes(text, 'at'))).toBe(encoded)
      })
    )
  })

  it('are those of the same derived addresses, with the same bumps', async () => {
    const seed = fc.uint8Array({ maxLength: 33 })
    const given = [bytes(32), fc.array(seed, { maxLength: 17 })] as const
    await fc.assert(
      fc.asyncProperty(...given, async (key, seeds) => {
        const program = getAddressDecoder().decode(key) as Address
        const wanted = await getProgramDerivedAddress({ programAddress: program, seeds }).then(
          ([address, bump]) => ({ address: address as string, bump: bump as number }),
          () => null
        )
        const written = seeds.map((one) => [...one])
        expect(orNull(() => derivePda({ program, seeds: written }, 'params'))).toEqual(wanted)
      }),
      { numRuns: 60 }
    )
  })
})
