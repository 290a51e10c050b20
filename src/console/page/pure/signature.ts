import { Point } from '@noble/ed25519'

/**
 * The strict rule of signatures (docs/spec/identity.md), with point arithmetic: the page checks
 * what it draws itself, and libraries' own `verify` accept what the rule refuses. A test compares
 * it with the kernel's on the same vectors.
 */

// RFC 8032, §5.1.
const FIELD_PRIME = 2n ** 255n - 19n
const GROUP_ORDER = Point.CURVE().n
const SIGN = 2n ** 255n

// The y of the points whose order divides 8, as the rule lists them: little-endian.
const SMALL_ORDER: ReadonlySet<bigint> = new Set([
  1n,
  FIELD_PRIME - 1n,
  0n,
  numberIn(bytesOf('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05')),
  numberIn(bytesOf('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a'))
])

/** Whether a signature of a message holds; all as hex. False for what is no hex, or not as long. */
export async function isSignedBy(
  publicKey: string,
  { signature, message }: { readonly signature: string; readonly message: string }
): Promise<boolean> {
  const isHex = /^[0-9a-f]{64}$/.test(publicKey) && /^[0-9a-f]{128}$/.test(signature)
  if (!isHex || !/^([0-9a-f]{2})*$/.test(message)) return false
  const key = bytesOf(publicKey)
  const commitment = bytesOf(signature.slice(0, 64))
  const response = numberIn(bytesOf(signature.slice(64)))
  if (response >= GROUP_ORDER || !isStrictPoint(key) || !isStrictPoint(commitment)) return false
  const hashed = bytesOf(`${signature.slice(0, 64)}${publicKey}${message}`)
  const challenge = numberIn(new Uint8Array(await crypto.subtle.digest('SHA-512', hashed)))
  try {
    // R is compared as bytes and never decoded: no cofactor.
    const expected = Point.BASE.multiply(response, false).subtract(
      Point.fromBytes(key).multiply(challenge % GROUP_ORDER, false)
    )
    return numberIn(expected.toBytes()) === numberIn(commitment)
  } catch {
    return false
  }
}

/** Canonical, and not of small order. */
function isStrictPoint(bytes: Uint8Array): boolean {
  const y = numberIn(bytes) % SIGN
  return y < FIELD_PRIME && !SMALL_ORDER.has(y)
}

function numberIn(littleEndian: Uint8Array): bigint {
  return littleEndian.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n)
}

function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  const pairs = hex.match(/../g) ?? []
  return Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16))
}
