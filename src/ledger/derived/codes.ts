import { createHmac } from 'node:crypto'
import { crc32, type Hash, sha256, sha256Hex } from '../../core/index.js'
import { corruptValue } from '../envelope.js'

/**
 * The value envelope of derived records (formats.md §6):
 *
 *   02 | crc32(key || rest), 4 bytes | watermark, 6 bytes | code, 16 bytes | body
 *
 * Numbers are big-endian; `rest` is what stands behind the checksum, and the watermark is the
 * number of commits that the batch covers which wrote the record. The code is the first half of
 *
 *   sha256(subkey, 32 bytes | length of key, 4 | length of body, 4 | watermark, 6 | key | body)
 *
 * with subkey = HMAC-SHA256(blob key, "tallystick/derived"). Lengths come first, so that no input
 * is the beginning of another and nothing can be appended to what was hashed.
 */
const VERSION = 2
const WATERMARK_AT = 5
const CODE_AT = WATERMARK_AT + 6
const BODY_AT = CODE_AT + 16
const SUBKEY_BYTES = 32
const CODED_AT = SUBKEY_BYTES + 14
/** At first: records of one key of state or one run fit. */
const SCRATCH_BYTES = 4096

/** A derived record whose code is right. */
export interface CodedRecord {
  readonly body: Buffer
  /** What the code begins with; a digest of many records adds up the half that is not stored. */
  readonly hash: Buffer
}

/** A value that was wrapped here, with its hash: it is hashed once. */
interface WrappedValue extends Buffer {
  hash?: Buffer
}

/** Where in a hash stands what is not stored. */
export const SHARE_AT = 16

/**
 * Codes of derived records by the identity's blob key.
 *
 * Owns: the key made for it, and scratch space, from its first code on. L12: without the key no
 * code is written or trusted.
 */
export class DerivedCodes {
  readonly #blobKey: Uint8Array
  #scratch: Buffer | undefined

  constructor(blobKey: Uint8Array) {
    this.#blobKey = blobKey
  }

  /** Wraps a body for the store. */
  wrap(key: string, body: string | Uint8Array, watermark: number): Buffer {
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength
    const value: WrappedValue = Buffer.allocUnsafe(BODY_AT + length)
    value[0] = VERSION
    value.writeUIntBE(watermark, WATERMARK_AT, 6)
    if (typeof body === 'string') value.write(body, BODY_AT)
    else value.set(body, BODY_AT)
    const hash = this.#hash(key, value)
    hash.copy(value, CODE_AT, 0, SHARE_AT)
    value.hash = hash
    value.writeUInt32BE(crc32(value.subarray(WATERMARK_AT), crc32(key)), 1)
    return value
  }

  /**
   * The body of a stored record, a view and not a copy. Throws `ledger.corrupt` with its key unless
   * the code is right, and the checksum, which readers without the key go by.
   */
  open(key: string, value: Uint8Array): CodedRecord {
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    if (bytes.length < BODY_AT || bytes[0] !== VERSION) throw corruptValue(key, 'it has no code')
    const hash = this.#hash(key, bytes)
    if (hash.compare(bytes, CODE_AT, BODY_AT, 0, SHARE_AT) !== 0) {
      throw corruptValue(key, 'its code is not by the key of this ledger')
    }
    if (crc32(bytes.subarray(WATERMARK_AT), crc32(key)) !== bytes.readUInt32BE(1)) {
      throw corruptValue(key, 'the checksum does not match')
    }
    return { body: bytes.subarray(BODY_AT), hash }
  }

  /** The hash of a stored record, or of one that is about to be. Throws as {@link open} does. */
  hash(key: string, value: WrappedValue | Uint8Array): Buffer {
    return ('hash' in value ? value.hash : undefined) ?? this.open(key, value).hash
  }

  /** The code of a digest: of texts of no other kind. */
  authenticate(text: string): Hash {
    const subkey = createHmac('sha256', this.#blobKey).update('tallystick/digest').digest('hex')
    return sha256Hex(subkey + sha256Hex(text))
  }

  #hash(key: string, value: Buffer): Buffer {
    // A UTF-16 unit has at most 3 bytes.
    const needed = CODED_AT + key.length * 3 + value.length
    const scratch = this.#scratchOf(needed)
    const keyLength = scratch.write(key, CODED_AT)
    const bodyLength = value.length - BODY_AT
    scratch.writeUInt32BE(keyLength, SUBKEY_BYTES)
    scratch.writeUInt32BE(bodyLength, SUBKEY_BYTES + 4)
    value.copy(scratch, SUBKEY_BYTES + 8, WATERMARK_AT, CODE_AT)
    value.copy(scratch, CODED_AT + keyLength, BODY_AT)
    return sha256(scratch.subarray(0, CODED_AT + keyLength + bodyLength))
  }

  /** Space for so many bytes or more, which begins with the key of codes. */
  #scratchOf(bytes: number): Buffer {
    const known = this.#scratch
    if (known !== undefined && known.length >= bytes) return known
    const scratch = Buffer.allocUnsafe(Math.max(SCRATCH_BYTES, bytes * 2))
    if (known === undefined) {
      createHmac('sha256', this.#blobKey).update('tallystick/derived').digest().copy(scratch)
    } else known.copy(scratch, 0, 0, SUBKEY_BYTES)
    this.#scratch = scratch
    return scratch
  }
}

/** Without the key: for records that stay in memory. */
export function codesOf(blobKey: Uint8Array | undefined): DerivedCodes {
  return new DerivedCodes(blobKey ?? new Uint8Array(32))
}
