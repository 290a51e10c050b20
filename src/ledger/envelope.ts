/**
 * The value envelope of the store (formats.md §6):
 *
 *   01 | crc32(key || body), 4 bytes big-endian | body
 *
 * Derived records have one with a code as well, of version 2 (`derived/codes.ts`).
 *
 * LevelDB returns wrong bytes without an error after one flipped bit, and the bytes of one key
 * under another after a damaged index block; the checksum over key and body finds both. It guards
 * against decay only: a writer of the store can also write a checksum, and the chain finds
 * that.
 */
import { crc32, ledgerError, type TallyError } from '../core/index.js'

const VERSION = 1
const HEADER_BYTES = 5
const CODED_VERSION = 2
const CODED_HEADER_BYTES = 27

/** Wraps UTF-8 text or bytes for the store. */
export function wrapValue(key: string, body: string | Uint8Array): Buffer {
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength
  const value = Buffer.allocUnsafe(HEADER_BYTES + length)
  if (typeof body === 'string') value.write(body, HEADER_BYTES)
  else value.set(body, HEADER_BYTES)
  return headed(key, value)
}

/** Wraps text that comes in pieces: joined, it would be copied once more. */
export function wrapPieces(key: string, pieces: readonly string[]): Buffer {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const value = Buffer.allocUnsafe(HEADER_BYTES + length + CHARACTER_BYTES_MAX)
  let end = HEADER_BYTES
  for (const piece of pieces) {
    const written = value.write(piece, end)
    // Most text is ASCII and need not be measured; there is room to see of each piece that it is.
    if (written !== piece.length) return wrapValue(key, pieces.join(''))
    end += written
  }
  return headed(key, value.subarray(0, end))
}

/** Bytes of the body of a value that {@link wrapValue} has made. */
export function bodyBytes(value: Uint8Array): number {
  return value.byteLength - HEADER_BYTES
}

const CHARACTER_BYTES_MAX = 4

/** A value with its body in place. */
function headed(key: string, value: Buffer): Buffer {
  value[0] = VERSION
  value.writeUInt32BE(crc32(value.subarray(HEADER_BYTES), crc32(key)), 1)
  return value
}

/**
 * The body of a stored value, a view and not a copy.
 * Throws `ledger.corrupt` with the key unless version and checksum are right.
 */
export function unwrapValue(key: string, value: Uint8Array): Buffer {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  if (bytes.length < HEADER_BYTES) throw corruptValue(key, 'the value is shorter than its header')
  if (bytes[0] !== VERSION) throw corruptValue(key, `the version byte is ${bytes[0]}`)
  const body = bytes.subarray(HEADER_BYTES)
  if (crc32(body, crc32(key)) !== bytes.readUInt32BE(1)) {
    throw corruptValue(key, 'the checksum does not match')
  }
  return body
}

/**
 * The body of a derived record for a reader without the key: of version 2 with its code unchecked,
 * or of version 1, which had none. Only to compare with what the source records give.
 * Throws `ledger.corrupt` with the key unless the checksum is right.
 */
export function unwrapUnchecked(key: string, value: Uint8Array): Buffer {
  if (!hasCode(value)) return unwrapValue(key, value)
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  if (bytes.length < CODED_HEADER_BYTES) throw corruptValue(key, 'it is shorter than its header')
  if (crc32(bytes.subarray(HEADER_BYTES), crc32(key)) !== bytes.readUInt32BE(1)) {
    throw corruptValue(key, 'the checksum does not match')
  }
  return bytes.subarray(CODED_HEADER_BYTES)
}

/** Whether a derived record has a code: those of 0.1.0 have none. */
export function hasCode(value: Uint8Array): boolean {
  return value[0] === CODED_VERSION
}

/** {@link unwrapValue} as UTF-8 text. */
export function unwrapText(key: string, value: Uint8Array): string {
  return unwrapValue(key, value).toString()
}

export function corruptValue(key: string, problem: string): TallyError {
  return ledgerError('ledger.corrupt', { key, problem })
}
