/**
 * Hex for the Merkle trees of the ledger; no Buffer, so verifiers can reuse it.
 */

/** Bytes of lower-case hex text that was already checked (a Hash, a PublicKey). */
export function hexToBytes(hex: string): Uint8Array {
  const bytes = new Uint8Array(hex.length / 2)
  for (let index = 0; index < bytes.length; index += 1) {
    bytes[index] = Number.parseInt(hex.slice(index * 2, index * 2 + 2), 16)
  }
  return bytes
}

/** Lower-case hex of bytes. */
export function bytesToHex<Text extends string = string>(bytes: Uint8Array): Text {
  let hex = ''
  for (const byte of bytes) hex += byte.toString(16).padStart(2, '0')
  return hex as Text
}
