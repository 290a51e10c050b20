// As namespaces: an older Node, which lacks some names, comes as far as to say that it is too old.
import * as crypto from 'node:crypto'
import * as zlib from 'node:zlib'
import type { Hash } from './brand.js'
import type { Pieces } from './document/pieces.js'
import { canonicalize, canonicalizeOwn, canonicalizingOwn } from './json/canonicalize.js'
import { checkNode } from './profile.js'

checkNode()

/** SHA-256 of UTF-8 text or bytes, as 64 lower-case hex digits. */
export function sha256Hex(data: string | Uint8Array): Hash {
  return crypto.hash('sha256', data, 'hex') as Hash
}

/** Hash chain over a run's entries: each link covers the one before it and the entry's text. */
export function chainJournal(previous: string, text: string): Hash {
  return sha256Hex(previous + text)
}

/** SHA-256 of UTF-8 text or bytes, as 32 bytes. */
export function sha256(data: string | Uint8Array): Buffer {
  // A third of the time of the 'buffer' encoding.
  return Buffer.from(crypto.hash('sha256', data, 'binary'), 'latin1')
}

/** CRC-32 of gzip and zlib, of these bytes after others whose value is `before`. */
export function crc32(data: string | Uint8Array, before = 0): number {
  return zlib.crc32(data, before)
}

/** Whether two texts are the same; the time it takes says nothing of where they differ. */
export function isSameSecret(one: string, other: string): boolean {
  return crypto.timingSafeEqual(sha256(one), sha256(other))
}

/** sha256(JCS(value)), the hash of every JSON value in every format. */
export function hashJson(value: unknown): Hash {
  return sha256Hex(canonicalize(value))
}

/** {@link hashJson} of data that this program has put together itself ({@link canonicalizeOwn}). */
export function hashOwn(value: unknown): Hash {
  return sha256Hex(canonicalizeOwn(value))
}

/** {@link hashOwn} in pieces; the text is hashed in the last one. */
export function* hashingOwn(value: unknown): Pieces<Hash> {
  return sha256Hex(yield* canonicalizingOwn(value))
}
