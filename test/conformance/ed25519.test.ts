import { describe, expect, it } from 'vitest'
import { VerifyingThreads, verify, verifyMany, verifyWithPoints } from '../../src/identity/index.js'
import {
  type HostileCase,
  hostileCases,
  smallOrderEncodings
} from '../support/hostile-signatures.js'
import { committedVectors } from '../support/vectors.js'

const vectors = committedVectors('ed25519-strict.json', hostileCases)

const bytes = (hex: string): Uint8Array => Buffer.from(hex, 'hex')

describe('the strict Ed25519 rule (formats.md §2)', () => {
  it('has committed vectors that the construction still gives', () => {
    expect(hostileCases()).toEqual(vectors)
    expect(smallOrderEncodings).toHaveLength(14)
    expect(vectors.length).toBeGreaterThan(400)
    const valid = vectors.filter((vector) => vector.valid)
    expect(valid.length).toBeGreaterThan(20)
    expect(valid.some((vector) => /torsion point [1-7], attempt/.test(vector.name))).toBe(true)
  })

  it('gives the verdict of every vector by node:crypto', () => {
    const wrong = vectors.filter(
      ({ signature, message, publicKey, valid }) =>
        verify(bytes(signature), bytes(message), bytes(publicKey)) !== valid
    )
    expect(wrong).toEqual([])
  })

  it('gives the verdict of every vector on points', async () => {
    const wrong: HostileCase[] = []
    for (const vector of vectors) {
      const { signature, message, publicKey, valid } = vector
      const verdict = await verifyWithPoints(bytes(signature), bytes(message), bytes(publicKey))
      if (verdict !== valid) wrong.push(vector)
    }
    expect(wrong).toEqual([])
  })

  it('gives the verdict of every vector in the thread pool, in order', async () => {
    const verdicts = await verifyMany(
      vectors.map(({ signature, message, publicKey }) => ({
        signature: bytes(signature),
        message: bytes(message),
        publicKey: bytes(publicKey)
      }))
    )
    expect(verdicts).toEqual(vectors.map((vector) => vector.valid))
  })

  it('gives the verdict of every vector in threads of its own, in order', async () => {
    const threads = new VerifyingThreads()
    const verdicts = await threads.check(
      vectors.map(({ signature, message, publicKey }) => ({
        signature: bytes(signature),
        message: bytes(message),
        publicKey: bytes(publicKey)
      }))
    )
    await threads.close()
    expect(verdicts).toEqual(vectors.map((vector) => vector.valid))
  })
})
