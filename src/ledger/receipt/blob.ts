import { createHmac } from 'node:crypto'
import { type Hash, limits, sha256Hex, type UnitId } from '../../core/index.js'
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
    return createHmac('sha256', this.#key).update(`${unitId}/${place}`).digest('hex') as Hash
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
