import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  getPublicKey,
  localSigner,
  publicKeyBytes,
  sign,
  verify,
  verifyWithPoints
} from '../../../src/identity/index.js'

interface Vector {
  readonly name: string
  readonly seed: string
  readonly publicKey: string
  readonly message: string
  readonly signature: string
}

const vectors: readonly Vector[] = JSON.parse(
  readFileSync(new URL('../../vectors/ed25519-rfc8032.json', import.meta.url), 'utf8')
)

describe('RFC 8032 §7.1', () => {
  it.each(vectors)('$name: key, signature, both verifiers', async (vector) => {
    const seed = Buffer.from(vector.seed, 'hex')
    const message = Buffer.from(vector.message, 'hex')
    const publicKey = getPublicKey(seed)
    expect(publicKey).toBe(vector.publicKey)
    const signature = sign(message, seed)
    expect(Buffer.from(signature).toString('hex')).toBe(vector.signature)
    expect(Buffer.from(localSigner(seed).sign(message))).toEqual(Buffer.from(signature))
    expect(verify(signature, message, publicKeyBytes(publicKey))).toBe(true)
    expect(await verifyWithPoints(signature, message, publicKeyBytes(publicKey))).toBe(true)
  })
})
