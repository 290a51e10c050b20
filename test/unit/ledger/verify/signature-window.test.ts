import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PublicKey, Signature } from '../../../../src/core/index.js'
import { limits, sha256Hex } from '../../../../src/core/index.js'
import { SignatureWindow } from '../../../../src/ledger/verify/signature-window.js'
import { cases } from '../../../support/effort.js'
import { fixedIdentity } from '../core/support.js'

const signers = [fixedIdentity(1).signer(), fixedIdentity(2).signer()]

interface Signed {
  readonly signature: Signature
  readonly hash: string
  readonly publicKey: PublicKey
}

/** A good signature of one of two keys; the same number gives the same one. */
async function signedBy(number: number): Promise<Signed> {
  const signer = signers[number % 2] as (typeof signers)[number]
  const hash = sha256Hex(`record ${number}`)
  const signature = await signer.sign(Buffer.from(hash, 'hex'))
  const publicKey = signer.publicKey
  return { signature: Buffer.from(signature).toString('hex') as Signature, hash, publicKey }
}

describe('a window of signatures (P1)', () => {
  it('names the first bad signature wherever it stands, and counts all that it took', async () => {
    const good = await Promise.all(Array.from({ length: 340 }, (_, number) => signedBy(number)))
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: good.length }),
        fc.uniqueArray(fc.nat(good.length - 1), { maxLength: 3 }),
        async (size, bad) => {
          const window = new SignatureWindow<number>()
          const found: number[] = []
          for (const [place, signed] of good.slice(0, size).entries()) {
            const hash = bad.includes(place) ? sha256Hex('another record') : signed.hash
            const first = await window.add(place, { ...signed, hash })
            if (first !== undefined) found.push(first)
          }
          const last = await window.finish()
          if (last !== undefined) found.push(last)
          const wrong = bad.filter((place) => place < size).sort((a, b) => a - b)
          expect(found[0]).toBe(wrong[0])
          expect(window.checked).toBe(size)
          expect(await window.finish()).toBeUndefined()
        }
      ),
      { numRuns: cases({ usual: 20, long: 33 }) }
    )
  })

  it('waits for the oldest batch once seventeen of sixteen signatures each are open', async () => {
    const window = new SignatureWindow<number>()
    const signed = await signedBy(0)
    const waited: number[] = []
    for (let place = 0; place < 320; place += 1) {
      const waiting = window.add(place, signed)
      if (waiting !== undefined) waited.push(place)
    }
    expect(waited).toEqual([271, 287, 303, 319])
    expect(await window.finish()).toBeUndefined()
  })

  it('names it also where threads check, in larger batches', async () => {
    const good = await Promise.all(Array.from({ length: 8 }, (_, number) => signedBy(number)))
    const size = limits.VERIFY_BEFORE_THREADS + 20 * limits.VERIFY_THREAD_BATCH
    const firstBad = limits.VERIFY_BEFORE_THREADS - 20
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.integer({ min: firstBad, max: size - 1 }), { maxLength: 3 }),
        async (bad) => {
          const window = new SignatureWindow<number>()
          const found: number[] = []
          const waited: number[] = []
          for (let place = 0; place < size; place += 1) {
            const signed = good[place % good.length] as Signed
            const hash = bad.includes(place) ? sha256Hex('another record') : signed.hash
            const waiting = window.add(place, { ...signed, hash })
            if (waiting !== undefined) waited.push(place)
            const first = await waiting
            if (first !== undefined) found.push(first)
          }
          const last = await window.finish()
          if (last !== undefined) found.push(last)
          await window.close()
          expect(found[0]).toBe([...bad].sort((a, b) => a - b)[0])
          expect(window.checked).toBe(size)
          const steps = waited.slice(1).map((place, index) => place - (waited[index] ?? 0))
          expect(new Set(steps)).toEqual(new Set([16, limits.VERIFY_THREAD_BATCH]))
        }
      ),
      { numRuns: cases({ usual: 4, long: 20 }) }
    )
  })

  it('starts threads for what comes behind VERIFY_BEFORE_THREADS signatures, and none before', async () => {
    let started = 0
    const count = () => {
      started += 1
    }
    process.on('worker', count)
    const window = new SignatureWindow<number>()
    const signed = await signedBy(0)
    const { VERIFY_BEFORE_THREADS: before } = limits
    for (let place = 0; place < before; place += 1) await window.add(place, signed)
    expect(await window.finish()).toBeUndefined()
    expect([window.checked, started]).toEqual([before, 0])
    await window.add(before, signed)
    expect(await window.finish()).toBeUndefined()
    await window.close()
    process.off('worker', count)
    expect([window.checked, started]).toEqual([before + 1, 1])
  })

  it('takes a signature by a key that did not sign as bad', async () => {
    const window = new SignatureWindow<string>()
    const [first, second] = [await signedBy(0), await signedBy(1)]
    window.add('own key', first)
    window.add('key of another', { ...second, publicKey: first.publicKey })
    expect(await window.finish()).toBe('key of another')
  })
})
