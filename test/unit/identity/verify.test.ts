import { createHook } from 'node:async_hooks'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { limits } from '../../../src/core/index.js'
import {
  getPublicKey,
  isStrictPublicKey,
  publicKeyBytes,
  sign,
  verify,
  verifyMany,
  verifyWithPoints
} from '../../../src/identity/index.js'
import { cases } from '../../support/effort.js'
import { smallOrderEncodings } from '../../support/hostile-signatures.js'
import { readSource, resolveImport } from '../../support/source.js'

const seeds = fc.uint8Array({ minLength: 32, maxLength: 32 })
const messages = fc.uint8Array({ maxLength: 200 })

async function verdicts(
  signature: Uint8Array,
  message: Uint8Array,
  publicKey: Uint8Array
): Promise<readonly boolean[]> {
  const item = { signature, message, publicKey }
  const inPool = await verifyMany(new Array(limits.VERIFY_AT_ONCE_MAX + 1).fill(item))
  const [pooled = false] = inPool
  expect(inPool.filter((one) => one !== pooled)).toEqual([])
  const [few = !pooled] = await verifyMany([item])
  expect(few).toBe(pooled)
  return [
    verify(signature, message, publicKey),
    await verifyWithPoints(signature, message, publicKey),
    pooled
  ]
}

const all = [true, true, true]
const none = [false, false, false]

describe('verify', () => {
  it('accepts every honest signature, by all three means', async () => {
    await fc.assert(
      fc.asyncProperty(seeds, messages, async (seed, message) => {
        const publicKey = publicKeyBytes(getPublicKey(seed))
        expect(await verdicts(sign(message, seed), message, publicKey)).toEqual(all)
      }),
      { numRuns: cases({ usual: 10, long: 28 }) }
    )
  })

  it('refuses every single-bit change of signature, message or key', async () => {
    await fc.assert(
      fc.asyncProperty(seeds, messages, fc.nat(), async (seed, message, position) => {
        const parts = [sign(message, seed), message, publicKeyBytes(getPublicKey(seed))]
        const bit = position % (parts.reduce((sum, part) => sum + part.length, 0) * 8)
        const [signature, changed, publicKey] = flipBit(parts, bit)
        expect(await verdicts(signature, changed, publicKey)).toEqual(none)
      }),
      { numRuns: cases({ usual: 20, long: 55 }) }
    )
  })

  it('gives one verdict for arbitrary bytes', async () => {
    const anyBytes = fc.uint8Array({ minLength: 64, maxLength: 64 })
    await fc.assert(
      fc.asyncProperty(anyBytes, messages, seeds, async (signature, message, publicKey) => {
        expect(await verdicts(signature, message, publicKey)).toEqual(none)
      })
    )
  })

  it('answers false for wrong lengths', async () => {
    const seed = new Uint8Array(32).fill(7)
    const message = new Uint8Array(32)
    const signature = sign(message, seed)
    const publicKey = publicKeyBytes(getPublicKey(seed))
    for (const length of [0, 1, 31, 32, 63, 65, 128]) {
      expect(await verdicts(resized(signature, length), message, publicKey)).toEqual(none)
    }
    for (const length of [0, 1, 31, 33, 64]) {
      expect(await verdicts(signature, message, resized(publicKey, length))).toEqual(none)
    }
  })

  it('reads keys and signatures that are views into larger buffers', async () => {
    const seed = new Uint8Array(32).fill(9)
    const message = new Uint8Array([1, 2, 3])
    const joined = Buffer.concat([sign(message, seed), publicKeyBytes(getPublicKey(seed)), message])
    expect(
      await verdicts(joined.subarray(0, 64), joined.subarray(96), joined.subarray(64, 96))
    ).toEqual(all)
  })

  it('keeps right verdicts when more keys are seen than the memo holds', () => {
    const message = new Uint8Array(32)
    const signers = Array.from({ length: 1_100 }, (_, index) => {
      const seed = new Uint8Array(32)
      new DataView(seed.buffer).setUint32(0, index)
      return { signature: sign(message, seed), publicKey: publicKeyBytes(getPublicKey(seed)) }
    })
    for (const { signature, publicKey } of [...signers, ...signers.slice(0, 3)]) {
      expect(verify(signature, message, publicKey)).toBe(true)
    }
  })

  it('on points needs no Node built-in, so that it runs in a browser', () => {
    const open = ['src/identity/verify-points.ts']
    const packages: string[] = []
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      for (const { specifier, typeOnly } of readSource(path).imports) {
        const target = resolveImport(path, specifier)
        if (target === undefined) packages.push(specifier)
        else if (!typeOnly) open.push(target)
      }
    }
    expect([...new Set(packages)]).toEqual(['@noble/ed25519'])
  })

  it('checks a few here and now, and more in the pool, a bounded number at once', async () => {
    const message = new Uint8Array(3)
    const seed = new Uint8Array(32).fill(5)
    const publicKey = publicKeyBytes(getPublicKey(seed))
    const item = { signature: sign(message, seed), message, publicKey }
    const { VERIFY_AT_ONCE_MAX: few, VERIFY_IN_FLIGHT_MAX: inFlight } = limits
    const sent = async (count: number) => {
      const begun = new Set<number>()
      let fromPool = 0
      const hook = createHook({
        init: (id, type) => {
          if (type === 'SIGNREQUEST') begun.add(id)
        },
        // What is checked here and now calls nothing back.
        before: (id) => {
          if (begun.has(id)) fromPool += 1
        }
      }).enable()
      const verdicts = verifyMany(new Array(count).fill(item))
      const atOnce = begun.size
      expect(await verdicts).toEqual(new Array(count).fill(true))
      hook.disable()
      return { atOnce, fromPool }
    }
    expect(await sent(few)).toEqual({ atOnce: few, fromPool: 0 })
    expect(await sent(few + 1)).toEqual({ atOnce: few + 1, fromPool: few + 1 })
    expect(await sent(inFlight + 9)).toEqual({ atOnce: inFlight, fromPool: inFlight + 9 })
  })

  it('verifies nothing when asked about nothing', async () => {
    expect(await verifyMany([])).toEqual([])
  })
})

describe('isStrictPublicKey', () => {
  it('takes keys of seeds, refuses small order, points off the curve, and other text', () => {
    const publicKey = getPublicKey(new Uint8Array(32))
    expect(isStrictPublicKey(publicKey)).toBe(true)
    expect(isStrictPublicKey(publicKey.toUpperCase())).toBe(false)
    expect(isStrictPublicKey(publicKey.slice(2))).toBe(false)
    expect(isStrictPublicKey(undefined)).toBe(false)
    for (const encoding of smallOrderEncodings) expect(isStrictPublicKey(encoding)).toBe(false)
    // y = 2 is not on the curve.
    expect(isStrictPublicKey(`02${'00'.repeat(31)}`)).toBe(false)
    expect(isStrictPublicKey('ff'.repeat(32))).toBe(false)
  })
})

function resized(bytes: Uint8Array, length: number): Uint8Array {
  const result = new Uint8Array(length)
  result.set(bytes.subarray(0, length))
  return result
}

function flipBit(
  parts: readonly Uint8Array[],
  bit: number
): readonly [Uint8Array, Uint8Array, Uint8Array] {
  let rest = bit
  const changed = parts.map((part) => {
    const copy = Uint8Array.from(part)
    const byte = copy[rest >> 3]
    if (rest >= 0 && byte !== undefined) copy[rest >> 3] = byte ^ (1 << (rest & 7))
    rest -= part.length * 8
    return copy
  })
  const [signature = new Uint8Array(), message = new Uint8Array(), key = new Uint8Array()] = changed
  return [signature, message, key]
}
