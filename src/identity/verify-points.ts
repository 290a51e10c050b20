import { Point } from '@noble/ed25519'
import { equal, isStrictEncoding } from './encoding.js'

/**
 * The strict rule on points, for where node:crypto is missing (formats.md §2): no Node built-ins,
 * SHA-512 by WebCrypto. Library `verify` functions are cofactored and accept what OpenSSL refuses.
 */

const { n: GROUP_ORDER } = Point.CURVE()

/**
 * Whether the signature is valid under the strict rule; never rejects for bad bytes. About 2 ms.
 */
export async function verifyWithPoints(
  signature: Uint8Array,
  message: Uint8Array,
  publicKey: Uint8Array
): Promise<boolean> {
  if (!isStrictEncoding(signature, publicKey)) return false
  const commitment = signature.subarray(0, 32)
  const challenge = await sha512(commitment, publicKey, message)
  try {
    // R is compared as bytes and never decoded: [S]B - [k]A = R without a cofactor.
    const expected = Point.BASE.multiply(scalar(signature.subarray(32)), false).subtract(
      Point.fromBytes(publicKey).multiply(scalar(challenge) % GROUP_ORDER, false)
    )
    return equal(expected.toBytes(), commitment)
  } catch {
    return false
  }
}

async function sha512(...parts: readonly Uint8Array[]): Promise<Uint8Array> {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let offset = 0
  for (const part of parts) {
    bytes.set(part, offset)
    offset += part.length
  }
  return new Uint8Array(await globalThis.crypto.subtle.digest('SHA-512', bytes))
}

function scalar(littleEndian: Uint8Array): bigint {
  return littleEndian.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n)
}
