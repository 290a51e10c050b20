/**
 * The byte checks of the strict rule (formats.md §2), shared by both verifiers and free of Node
 * built-ins. A and R are canonical (y < p) and not of small order, S < L. Encodings with x = 0 and
 * the sign bit set need no check of their own: only y = 1 and y = -1 have x = 0, both small order.
 */

const PUBLIC_KEY_BYTES = 32
const SIGNATURE_BYTES = 64

// p = 2^255 - 19 and the group order L = 2^252 + 27742317777372353535851937790883648493 (RFC 8032
// §5.1), little-endian.
const FIELD_PRIME = bytesFromHex('edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f')
const GROUP_ORDER = bytesFromHex('edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010')

// The y of the eight points whose order divides 8, sign bit cleared: order 1, 2, 4, and two of
// order 8; each comes with both signs of x.
const SMALL_ORDER = [
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '0000000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a'
].map(bytesFromHex)

/** The highest byte of an encoding without the sign of x. */
const SIGN_CLEARED = 0x7f
const SUSPICIOUS_TOPS: ReadonlySet<number> = new Set(
  [FIELD_PRIME, ...SMALL_ORDER].map((bytes) => at(bytes, 31))
)

/** Whether the lengths and encodings of a signature and a key pass the strict rule. */
export function isStrictEncoding(signature: Uint8Array, publicKey: Uint8Array): boolean {
  return isStrictSignature(signature) && isStrictKey(publicKey)
}

/** The part of {@link isStrictEncoding} that is about the signature. */
export function isStrictSignature(signature: Uint8Array): boolean {
  return (
    signature.length === SIGNATURE_BYTES &&
    isBelow(signature, 32, GROUP_ORDER) &&
    isStrictPoint(signature)
  )
}

/** The part of {@link isStrictEncoding} that is about the key. */
export function isStrictKey(publicKey: Uint8Array): boolean {
  return publicKey.length === PUBLIC_KEY_BYTES && isStrictPoint(publicKey)
}

/** Bytes of hex digits that are known to be well formed. */
export function bytesFromHex(hex: string): Uint8Array {
  const bytes = new Uint8Array(hex.length / 2)
  for (let index = 0; index < bytes.length; index += 1) {
    bytes[index] = Number.parseInt(hex.slice(index * 2, index * 2 + 2), 16)
  }
  return bytes
}

/** Whether the first 32 bytes pass for a point: canonical, not of small order. */
export function isStrictPoint(encoding: Uint8Array): boolean {
  const top = at(encoding, 31) & SIGN_CLEARED
  // Any other top byte is below that of p, and not that of a point of small order.
  if (!SUSPICIOUS_TOPS.has(top)) return true
  const y = Uint8Array.from(encoding.subarray(0, 32))
  y[31] = top
  return isBelow(y, 0, FIELD_PRIME) && !SMALL_ORDER.some((small) => equal(y, small))
}

function isBelow(value: Uint8Array, from: number, bound: Uint8Array): boolean {
  for (let index = 31; index >= 0; index -= 1) {
    const difference = at(value, from + index) - at(bound, index)
    if (difference !== 0) return difference < 0
  }
  return false
}

/** Compares public bytes; not for secrets, its time depends on them. */
export function equal(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index])
}

function at(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0
}
