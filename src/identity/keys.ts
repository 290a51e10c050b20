import * as crypto from 'node:crypto'
import { identityError, type PublicKey } from '../core/index.js'

/** Private keys as node:crypto holds them: decoding one costs 13 times a signature (A1). */

const SEED_BYTES = 32
// PrivateKeyInfo of an Ed25519 key up to its 32 bytes (RFC 8410 §7).
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

/** Decodes a 32-byte seed; throws `identity.malformed_seed`. */
export function privateKeyObject(seed: Uint8Array): crypto.KeyObject {
  if (seed.length !== SEED_BYTES) {
    throw identityError('identity.malformed_seed', { actual: seed.length })
  }
  const der = Buffer.concat([PKCS8_PREFIX, seed])
  try {
    return crypto.createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  } finally {
    der.fill(0)
  }
}

/** Hex public key of a private key. */
export function publicKeyOf(key: crypto.KeyObject): PublicKey {
  const { x = '' } = crypto.createPublicKey(key).export({ format: 'jwk' })
  return Buffer.from(x, 'base64url').toString('hex') as PublicKey
}

/** Hex public key of a 32-byte seed (RFC 8032 §5.1.5); throws `identity.malformed_seed`. */
export function getPublicKey(seed: Uint8Array): PublicKey {
  return publicKeyOf(privateKeyObject(seed))
}

/**
 * Signs once with a 32-byte seed and gives 64 bytes (RFC 8032 §5.1.6); throws
 * `identity.malformed_seed`. Decodes the key on each call: use {@link localSigner} for more than
 * one.
 */
export function sign(message: Uint8Array, seed: Uint8Array): Uint8Array {
  return crypto.sign(null, message, privateKeyObject(seed))
}
