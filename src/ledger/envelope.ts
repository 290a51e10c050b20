/**
 * The value envelope of the store (formats.md §6):
 *
 *   01 | crc32(key || body), 4 bytes big-endian | body
 *
 * LevelDB returns wrong bytes without an error after one flipped bit, and the bytes of one key
 * under another after a damaged index block; the checksum over key and body finds both. It guards
 * against decay only: whoever can write the store can also write a checksum, and is found by the
 * chain.
 */
import { crc32 } from 'node:zlib'
import { TallyError } from '../core/index.js'

const VERSION = 1
const HEADER_BYTES = 5

/** Wraps UTF-8 text or bytes for the store. */
export function wrapValue(key: string, body: string | Uint8Array): Buffer {
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength
  const value = Buffer.allocUnsafe(HEADER_BYTES + length)
  value[0] = VERSION
  if (typeof body === 'string') value.write(body, HEADER_BYTES)
  else value.set(body, HEADER_BYTES)
  value.writeUInt32BE(crc32(value.subarray(HEADER_BYTES), crc32(key)), 1)
  return value
}

/**
 * The body of a stored value, a view and not a copy.
 * Throws `ledger.corrupt` with the key unless version and checksum are right.
 */
export function unwrapValue(key: string, value: Uint8Array): Buffer {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  if (bytes.length < HEADER_BYTES) throw corrupt(key, 'the value is shorter than its header')
  if (bytes[0] !== VERSION) throw corrupt(key, `the version byte is ${bytes[0]}`)
  const body = bytes.subarray(HEADER_BYTES)
  if (crc32(body, crc32(key)) !== bytes.readUInt32BE(1)) {
    throw corrupt(key, 'the checksum does not match')
  }
  return body
}

/**
 * The checksum that a wrapped value carries; whether it holds is for {@link unwrapValue} to say.
 */
export function checksumOf(value: Uint8Array): number {
  return new DataView(value.buffer, value.byteOffset, HEADER_BYTES).getUint32(1)
}

/** {@link unwrapValue} as UTF-8 text. */
export function unwrapText(key: string, value: Uint8Array): string {
  return unwrapValue(key, value).toString()
}

function corrupt(key: string, problem: string): TallyError {
  return new TallyError('ledger.corrupt', { key, problem })
}
