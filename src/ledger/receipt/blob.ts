import { createHmac } from 'node:crypto'
import { type Hash, limits, sha256, sha256Hex, type UnitId } from '../../core/index.js'
import type { BlobReference } from './receipt.js'

/** A text as it stands in a signed record: itself, or a reference to a blob kept beside it. */
export interface EmbeddedText {
  /** Canonical JSON for the record. */
  readonly text: string
  /** Bytes of the blob, named by its SHA-256. */
  readonly blob?: string
}

/** Salts are derived, so a body can be withheld and later shown to be the one (formats.md §3). */
export class BlobSalts {
  readonly #key: Uint8Array
  #journalKey: string | undefined
  #mac: Mac | undefined

  constructor(key: Uint8Array) {
    this.#key = Uint8Array.from(key)
  }

  /**
   * sha256(subkey || hash), subkey = HMAC-SHA256(blob key, "tallystick/journal") in hex. Both parts
   * have fixed lengths, so nothing can be appended to what was hashed.
   */
  authenticate(hash: Hash): Hash {
    this.#journalKey ??= createHmac('sha256', this.#key).update('tallystick/journal').digest('hex')
    return sha256Hex(this.#journalKey + hash)
  }

  /** HMAC-SHA256(blob key, id || "/" || place); the place is a call's seq or a field's name. */
  salt(unitId: UnitId, place: number | 'details' | 'payload' | 'raw' | 'result'): Hash {
    this.#mac ??= new Mac(this.#key)
    return this.#mac.of(`${unitId}/${place}`)
  }
}

const BLOCK_BYTES = 64
const DIGEST_BYTES = 32
const INNER_PAD = 0x36
const OUTER_PAD = 0x5c
/** Longest text, in UTF-16 units, that the space for one is made for at first. */
const SHORT_TEXT = 256

/**
 * HMAC-SHA256 (RFC 2104) of many short texts under one key of at most 64 bytes. There is a salt for
 * each sealed result, and `createHmac` leaves an object for the collector for each: in a ledger at
 * work it takes four times as long.
 */
class Mac {
  /** The key as the inner hash takes it, then space for a text. */
  #inner: Buffer
  /** What the inner hash took last: most texts are as long as the one before. */
  #taken: Buffer
  /** The key as the outer hash takes it, then the inner hash. */
  readonly #outer: Buffer

  constructor(key: Uint8Array) {
    const padded = Buffer.alloc(BLOCK_BYTES)
    padded.set(key)
    this.#inner = Buffer.alloc(BLOCK_BYTES + SHORT_TEXT * 3)
    this.#taken = this.#inner
    this.#outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES)
    for (const [at, byte] of padded.entries()) {
      this.#inner[at] = byte ^ INNER_PAD
      this.#outer[at] = byte ^ OUTER_PAD
    }
  }

  of(text: string): Hash {
    // A UTF-16 unit has at most 3 bytes.
    const needed = BLOCK_BYTES + text.length * 3
    if (this.#inner.length < needed) {
      const known = this.#inner
      this.#inner = Buffer.alloc(needed)
      known.copy(this.#inner, 0, 0, BLOCK_BYTES)
    }
    const end = BLOCK_BYTES + this.#inner.write(text, BLOCK_BYTES)
    const isAsLong = this.#taken.length === end && this.#taken.buffer === this.#inner.buffer
    if (!isAsLong) this.#taken = this.#inner.subarray(0, end)
    sha256(this.#taken).copy(this.#outer, BLOCK_BYTES)
    return sha256Hex(this.#outer)
  }
}

/** The blob of a private or sealed body: JCS({body, salt}). */
export function saltedBlob(bodyText: string, salt: Hash): string {
  return `{"body":${bodyText},"salt":"${salt}"}`
}

/** Replaces a body above 1 KiB by a reference, and a private one always (formats.md §3). */
export function embed(bodyText: string, salt: Hash | undefined): EmbeddedText {
  if (salt !== undefined) {
    return reference(saltedBlob(bodyText, salt), Buffer.byteLength(bodyText))
  }
  // A UTF-16 unit has at most 3 bytes: most texts need no count.
  if (bodyText.length * 3 <= limits.INLINE_BYTES_MAX) return { text: bodyText }
  const bytes = Buffer.byteLength(bodyText)
  return bytes <= limits.INLINE_BYTES_MAX ? { text: bodyText } : reference(bodyText, bytes)
}

/** A reference to a body, however short. */
export function refer(bodyText: string): EmbeddedText {
  return reference(bodyText, Buffer.byteLength(bodyText))
}

function reference(blob: string, bytes: number): EmbeddedText {
  return { text: `{"$blob":"${sha256Hex(blob)}","bytes":${bytes}}`, blob }
}

const referenceText = /^\{"\$blob":"([0-9a-f]{64})","bytes":([0-9]+)\}$/

/** What a text refers to, or undefined when it is the body itself. */
export function referenceOf(text: string): BlobReference | undefined {
  if (!text.startsWith('{"$blob":')) return undefined
  const match = referenceText.exec(text)
  return match === null ? undefined : { $blob: match[1] as Hash, bytes: Number(match[2]) }
}

const saltedText = /^\{"body":(.*),"salt":"[0-9a-f]{64}"\}$/s

/** The body inside a blob. A salted blob is longer than the body that its reference declares. */
export function bodyOfBlob(blob: string, bytes: number): string {
  return Buffer.byteLength(blob) === bytes ? blob : (saltedText.exec(blob)?.[1] ?? blob)
}
