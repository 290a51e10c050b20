import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Hash, IdentityId, PublicKey, Signature } from '../../../src/core/index.js'
import {
  checkRotationProof,
  generateIdentity,
  localSigner,
  makeRotationProof,
  newKeyFor,
  rotationMessage
} from '../../../src/identity/index.js'

const hashes = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => Buffer.from(bytes).toString('hex') as Hash)
const places = fc.record({
  identity: hashes.map((hash) => hash as string as IdentityId),
  previousReceiptHash: fc.option(hashes)
})

describe('rotation', () => {
  it('has the message bytes of formats.md §2', () => {
    const message = rotationMessage(
      { identity: '11'.repeat(32) as IdentityId, previousReceiptHash: '22'.repeat(32) as Hash },
      '33'.repeat(32) as PublicKey
    )
    expect(Buffer.from(message).toString('latin1')).toBe(
      `tallystick/rotate${'\x11'.repeat(32)}${'\x22'.repeat(32)}${'\x33'.repeat(32)}`
    )
    const first = rotationMessage(
      { identity: '11'.repeat(32) as IdentityId, previousReceiptHash: null },
      '33'.repeat(32) as PublicKey
    )
    expect(first).toHaveLength(113)
    expect(Buffer.from(first).subarray(49, 81)).toEqual(Buffer.alloc(32))
  })

  it('a proof holds at its place and nowhere else', async () => {
    const signer = localSigner(new Uint8Array(32).fill(1))
    await fc.assert(
      fc.asyncProperty(places, places, async (place, other) => {
        const rotation = await makeRotationProof(place, signer)
        expect(rotation.newPublicKey).toBe(signer.publicKey)
        expect(checkRotationProof(place, rotation)).toBe(true)
        const same = JSON.stringify(place) === JSON.stringify(other)
        expect(checkRotationProof(other, rotation)).toBe(same)
      }),
      { numRuns: 50 }
    )
  })

  it('refuses proofs by another key, unusable keys and malformed proofs', async () => {
    const place = { identity: '44'.repeat(32) as IdentityId, previousReceiptHash: null }
    const rotation = await makeRotationProof(place, localSigner(new Uint8Array(32).fill(2)))
    const other = await makeRotationProof(place, localSigner(new Uint8Array(32).fill(3)))
    const cases = [
      { ...rotation, newPublicKey: other.newPublicKey },
      { ...rotation, proof: other.proof },
      { ...rotation, proof: '' as Signature },
      { ...rotation, proof: `${rotation.proof}00` as Signature },
      { ...rotation, proof: rotation.proof.toUpperCase() as Signature },
      { ...rotation, newPublicKey: `01${'00'.repeat(31)}` as PublicKey }
    ]
    for (const bad of cases) expect(checkRotationProof(place, bad)).toBe(false)
  })

  it('the next key of an identity keeps its id and blob key', () => {
    const keys = generateIdentity()
    const next = newKeyFor(keys)
    expect(keys.identity).toBe(keys.publicKey)
    expect(next.identity).toBe(keys.identity)
    expect(next.blobKey).toEqual(keys.blobKey)
    expect(next.publicKey).not.toBe(keys.publicKey)
  })
})
