import { hash, timingSafeEqual } from 'node:crypto'
import type { Hash } from './brand.js'
import type { Pieces } from './document/pieces.js'
import { canonicalize, canonicalizing } from './json/canonicalize.js'

/** SHA-256 of UTF-8 text or bytes, as 64 lower-case hex digits. */
export function sha256Hex(data: string | Uint8Array): Hash {
  return hash('sha256', data, 'hex') as Hash
}

/** Hash chain over a run's entries: each link covers the one before it and the entry's text. */
export function chainJournal(previous: string, text: string): Hash {
  return sha256Hex(previous + text)
}

/** SHA-256 of UTF-8 text or bytes, as 32 bytes. */
export function sha256(data: string | Uint8Array): Buffer {
  // A third of the time of the 'buffer' encoding.
  return Buffer.from(hash('sha256', data, 'binary'), 'latin1')
}

/** Whether two texts are the same; the time it takes says nothing of where they differ. */
export function isSameSecret(one: string, other: string): boolean {
  return timingSafeEqual(sha256(one), sha256(other))
}

/** sha256(JCS(value)), the hash of every JSON value in every format. */
export function hashJson(value: unknown): Hash {
  return sha256Hex(canonicalize(value))
}

/** {@link hashJson} of plain data in pieces; the text is hashed in the last one. */
export function* hashingJson(value: unknown): Pieces<Hash> {
  return sha256Hex(yield* canonicalizing(value))
}
