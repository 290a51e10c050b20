import { type Hash, type PublicKey, type Signature, sha256Hex } from '../../core/index.js'

/**
 * Cuts receipts out of stored bytes without parsing them. In canonical order the last fields are
 *
 *   "publicKey":"64","receiptHash":"64","resultHash":"64","signature":"128","timestamp":N,"version":1}
 *
 * and all but N have fixed widths, so a receipt's own hash can be checked over the stored bytes.
 */
export interface SlicedReceipt {
  readonly receiptHash: Hash
  readonly previousReceiptHash: Hash | null
  readonly publicKey: PublicKey
  readonly signature: Signature
  /** sha256 of the text without its receiptHash and signature fields. */
  readonly computedHash: Hash
}

const QUOTE = 0x22
// Widths of `"name":"value",` with a value of 64 or 128 digits.
const RECEIPT_HASH_FIELD = '"receiptHash":"",'.length + 64
const RESULT_HASH_FIELD = '"resultHash":"",'.length + 64
const SIGNATURE_FIELD = '"signature":"",'.length + 128
const PUBLIC_KEY_TAIL = 64 + '",'.length
const previousMark = Buffer.from('"previousReceiptHash":')
const endMark = Buffer.from(',"version":1}')
const timestampMark = Buffer.from('"timestamp":')
const names = ['"receiptHash":"', '"signature":"', '"publicKey":"'] as const

/** Scratch space for hash inputs, owned by one scan. */
export class ReceiptSlicer {
  #scratch = Buffer.allocUnsafe(4096)

  /** The hash-relevant parts of the receipt at `from`..`to`, or undefined when it is malformed. */
  slice(bytes: Buffer, from: number, to: number): SlicedReceipt | undefined {
    const timestampAt = this.#timestampAt(bytes, from, to)
    if (timestampAt === undefined) return undefined
    const signatureAt = timestampAt - SIGNATURE_FIELD
    const resultAt = signatureAt - RESULT_HASH_FIELD
    const hashAt = resultAt - RECEIPT_HASH_FIELD
    const keyAt = hashAt - PUBLIC_KEY_TAIL
    const [hashName, signatureName, keyName] = names
    if (
      keyAt - keyName.length <= from ||
      !hasText(bytes, hashAt, hashName) ||
      !hasText(bytes, signatureAt, signatureName) ||
      !hasText(bytes, keyAt - keyName.length, keyName)
    ) {
      return undefined
    }
    const previousReceiptHash = previousHash(bytes, from, keyAt)
    if (previousReceiptHash === undefined) return undefined
    return {
      receiptHash: digits(bytes, hashAt + hashName.length, 64) as Hash,
      previousReceiptHash,
      publicKey: digits(bytes, keyAt, 64) as PublicKey,
      signature: digits(bytes, signatureAt + signatureName.length, 128) as Signature,
      computedHash: this.#hash(bytes, [from, hashAt, resultAt, signatureAt, timestampAt, to])
    }
  }

  /** Where the timestamp field begins: the digits before the fixed end are walked back. */
  #timestampAt(bytes: Buffer, from: number, to: number): number | undefined {
    const endAt = to - endMark.length
    if (endAt <= from || bytes.compare(endMark, 0, endMark.length, endAt, to) !== 0) {
      return undefined
    }
    let at = endAt
    while (at > from && isDigit(bytes[at - 1])) at -= 1
    const markAt = at - timestampMark.length
    if (at === endAt || markAt <= from) return undefined
    if (bytes.compare(timestampMark, 0, timestampMark.length, markAt, at) !== 0) return undefined
    return markAt
  }

  #hash(bytes: Buffer, cuts: readonly [number, number, number, number, number, number]): Hash {
    const [from, hashAt, resultAt, signatureAt, timestampAt, to] = cuts
    if (this.#scratch.length < to - from) {
      this.#scratch = Buffer.allocUnsafe((to - from) * 2)
    }
    let length = bytes.copy(this.#scratch, 0, from, hashAt)
    length += bytes.copy(this.#scratch, length, resultAt, signatureAt)
    length += bytes.copy(this.#scratch, length, timestampAt, to)
    return sha256Hex(this.#scratch.subarray(0, length))
  }
}

/**
 * The link stands before `previousStateRoot` and `publicKey`, at a fixed distance from the key:
 * both forms of it are tried there, never searched for in text that a caller wrote.
 */
function previousHash(bytes: Buffer, from: number, keyAt: number): Hash | null | undefined {
  const rootAt = keyAt - '"publicKey":"'.length - ('"previousStateRoot":"",'.length + 64)
  const nullAt = rootAt - 'null,'.length - previousMark.length
  if (nullAt > from && hasText(bytes, nullAt, '"previousReceiptHash":null,')) return null
  const hashAt = rootAt - 67 - previousMark.length
  if (hashAt <= from || bytes[rootAt] !== QUOTE) return undefined
  if (!hasText(bytes, hashAt, '"previousReceiptHash":"')) return undefined
  return digits(bytes, hashAt + previousMark.length + 1, 64) as Hash
}

function hasText(bytes: Buffer, at: number, text: string): boolean {
  return bytes.toString('latin1', at, at + text.length) === text
}

function digits(bytes: Buffer, at: number, length: number): string {
  return bytes.toString('latin1', at, at + length)
}

function isDigit(code: number | undefined): boolean {
  return code !== undefined && code >= 0x30 && code <= 0x39
}
