import {
  type Hash,
  isHash,
  ledgerError,
  type PublicKey,
  type Signature,
  sha256Hex
} from '../../core/index.js'

/**
 * Cuts receipts out of stored bytes without parsing them. In canonical order the last fields are
 *
 *
 * "publicKey":"64","receiptHash":"64","resultHash":"64","signature":"128","timestamp":N,"version":1}
 *
 * and all but N have fixed widths, so a receipt's own hash can be checked over the stored bytes.
 * Places are counted from the end and never searched for. Text that only looks like a receipt does
 * not hash to a receiptHash that was signed; each hash, link and key that is cut out is compared.
 */
export interface SlicedReceipt {
  readonly receiptHash: Hash
  readonly previousReceiptHash: Hash | null
  readonly publicKey: PublicKey
  readonly signature: Signature
  /** sha256 of the text without its receiptHash and signature fields. */
  readonly computedHash: Hash
  /** Whether its intent is the one that the slicer looks for. */
  readonly isOfIntent: boolean
}

// Widths of `"name":"value",` with a value of 64 or 128 digits.
const NEXT_ROOT_FIELD = '"nextStateRoot":"",'.length + 64
const PREVIOUS_ROOT_FIELD = '"previousStateRoot":"",'.length + 64
const PUBLIC_KEY_FIELD = '"publicKey":"",'.length + 64
const RECEIPT_HASH_FIELD = '"receiptHash":"",'.length + 64
const RESULT_HASH_FIELD = '"resultHash":"",'.length + 64
const SIGNATURE_FIELD = '"signature":"",'.length + 128
const endMark = ',"version":1}'
const timestampMark = '"timestamp":'
const publicKeyMark = '"publicKey":"'
const receiptHashMark = '"receiptHash":"'
const resultHashMark = '"resultHash":"'
const signatureMark = '"signature":"'
const nextRootMark = '"nextStateRoot":"'
const previousRootMark = '"previousStateRoot":"'
const noPrevious = '"previousReceiptHash":null,'
const previousMark = '"previousReceiptHash":"'
/** `"nextStateRoot":` to the end, with as many digits as a timestamp may have. */
const TAIL_BYTES_MAX = 804

/** Scratch space for hash inputs, owned by one scan, which looks for the receipts of an intent. */
export class ReceiptSlicer {
  readonly #intentField: string
  #scratch = Buffer.allocUnsafe(4096)

  /** `intent`: a name that canonical JSON writes as it is. */
  constructor(intent: string) {
    this.#intentField = `"intent":"${intent}",`
  }

  /** The hash-relevant parts of the receipt at `from`..`to`, or undefined when it is malformed. */
  slice(bytes: Buffer, from: number, to: number): SlicedReceipt | undefined {
    // One string of all that is looked at: places in it count from `start`.
    const start = Math.max(from, to - TAIL_BYTES_MAX - this.#intentField.length)
    const tail = bytes.toString('latin1', start, to)
    const timestampAt = placeOfTimestamp(tail)
    if (timestampAt === undefined) return undefined
    const signatureAt = timestampAt - SIGNATURE_FIELD
    const resultAt = signatureAt - RESULT_HASH_FIELD
    const hashAt = resultAt - RECEIPT_HASH_FIELD
    const keyAt = hashAt - PUBLIC_KEY_FIELD
    if (
      keyAt <= 0 ||
      !tail.startsWith(receiptHashMark, hashAt) ||
      !tail.startsWith(resultHashMark, resultAt) ||
      !tail.startsWith(signatureMark, signatureAt) ||
      !tail.startsWith(publicKeyMark, keyAt)
    ) {
      return undefined
    }
    const previousAt = placeOfPrevious(tail, keyAt - PREVIOUS_ROOT_FIELD)
    if (previousAt === undefined) return undefined
    const stateAt = previousAt - NEXT_ROOT_FIELD
    if (!tail.startsWith(nextRootMark, stateAt)) return undefined
    const intentAt = stateAt - this.#intentField.length
    return {
      isOfIntent: intentAt >= 0 && tail.startsWith(this.#intentField, intentAt),
      receiptHash: digits(tail, hashAt + receiptHashMark.length, 64) as Hash,
      previousReceiptHash: previousHash(tail, previousAt),
      publicKey: digits(tail, keyAt + publicKeyMark.length, 64) as PublicKey,
      signature: digits(tail, signatureAt + signatureMark.length, 128) as Signature,
      computedHash: this.#hash(bytes, [
        from,
        start + hashAt,
        start + resultAt,
        start + signatureAt,
        start + timestampAt,
        to
      ])
    }
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
 * The hash that a stored receipt names. Throws `ledger.corrupt` when its end is not that of one.
 */
export function receiptHashIn(text: string): Hash {
  const timestampAt = placeOfTimestamp(text) ?? 0
  const hashAt = timestampAt - SIGNATURE_FIELD - RESULT_HASH_FIELD - RECEIPT_HASH_FIELD
  const hash = digits(text, hashAt + receiptHashMark.length, 64)
  if (hashAt > 0 && text.startsWith(receiptHashMark, hashAt) && isHash(hash)) return hash
  throw ledgerError('ledger.corrupt', { key: 'receipt', problem: 'a receipt is malformed' })
}

/** Where the timestamp field begins: the digits before the fixed end are walked back. */
function placeOfTimestamp(tail: string): number | undefined {
  if (!tail.endsWith(endMark)) return undefined
  const endAt = tail.length - endMark.length
  let at = endAt
  while (at > 0 && isDigit(tail.charCodeAt(at - 1))) at -= 1
  const markAt = at - timestampMark.length
  if (at === endAt || markAt <= 0 || !tail.startsWith(timestampMark, markAt)) return undefined
  return markAt
}

/**
 * The link stands before `previousStateRoot` and `publicKey`, at a fixed distance from the key:
 * both forms of it are tried there, never searched for in text that a caller wrote.
 */
function placeOfPrevious(tail: string, rootAt: number): number | undefined {
  if (!tail.startsWith(previousRootMark, rootAt)) return undefined
  const nullAt = rootAt - noPrevious.length
  if (nullAt > 0 && tail.startsWith(noPrevious, nullAt)) return nullAt
  const hashAt = rootAt - 66 - previousMark.length
  return hashAt > 0 && tail.startsWith(previousMark, hashAt) ? hashAt : undefined
}

function previousHash(tail: string, at: number): Hash | null {
  if (tail.startsWith(noPrevious, at)) return null
  return digits(tail, at + previousMark.length, 64) as Hash
}

function digits(tail: string, at: number, length: number): string {
  return tail.slice(at, at + length)
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}
