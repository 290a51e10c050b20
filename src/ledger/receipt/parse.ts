import {
  CanonicalScan,
  canonicalize,
  type Hash,
  isHash,
  isJsonObject,
  isPublicKey,
  isSignature,
  type Json,
  type JsonObject,
  present,
  sha256,
  sha256Hex
} from '../../core/index.js'
import { type Evidence, RECEIPT_VERSION, type Receipt } from './receipt.js'

/** A check that failed. */
export interface FieldProblem {
  readonly field: string
  /** What signed records say, or lead to. */
  readonly signed: string
  /** What comes of computing it, of executing it again, or stands there unsigned. */
  readonly computed: string
}

export type TextOf = (part: Json) => string

/** A value read from canonical text. */
export interface CanonicalValue {
  readonly value: Json
  readonly textOf: TextOf
}

export type ParsedRecord<Record> =
  | {
      readonly ok: true
      readonly record: Record
      readonly computedHash: Hash
      /** Hash of its `inputPayload`. */
      readonly inputHash: Hash
      /** Its leaf in the log: the hash of the whole text. */
      readonly leaf: Uint8Array
      /** Canonical JSON of a part of the record, cheaper than writing it anew. */
      readonly textOf: TextOf
    }
  | { readonly ok: false; readonly problem: FieldProblem }

/** Reads one text at a time, from its beginning to its end. */
const scan = new CanonicalScan()

type FieldCheck = (value: Json) => boolean

const isText: FieldCheck = (value) => typeof value === 'string'
const isCount: FieldCheck = (value) => Number.isSafeInteger(value) && Number(value) >= 0
const isInteger: FieldCheck = (value) => Number.isSafeInteger(value)
const isSortedTexts: FieldCheck = (value) =>
  Array.isArray(value) &&
  value.every((item, at) => isText(item) && (at === 0 || String(value[at - 1]) < String(item)))
const isHashOrNull: FieldCheck = (value) => value === null || isHash(value)
const isHex =
  (digits: number): FieldCheck =>
  (value) =>
    typeof value === 'string' &&
    value.length === digits &&
    /^[0-9a-f]*[1-9a-f][0-9a-f]*$/.test(value)
const isAny: FieldCheck = () => true

const receiptFields: Readonly<Record<keyof Receipt, FieldCheck>> = {
  capabilitiesDeclared: isSortedTexts,
  capabilitiesUsed: isSortedTexts,
  dappId: isText,
  identity: isHash,
  inputHash: isHash,
  inputPayload: (value) => fieldProblem(value, inputFields, optionalInput) === undefined,
  intent: isText,
  nextStateRoot: isHash,
  previousReceiptHash: isHashOrNull,
  previousStateRoot: isHash,
  publicKey: isPublicKey,
  receiptHash: isHash,
  resultHash: isHash,
  signature: isSignature,
  timestamp: isInteger,
  version: (value) => value === RECEIPT_VERSION
}

const none: ReadonlySet<string> = new Set()

const sealedFields: Readonly<Record<string, FieldCheck>> = {
  bytes: isCount,
  effect: isText,
  requestHash: isHash,
  responseHash: isHash,
  seq: isCount
}

const inputFields: Readonly<Record<string, FieldCheck>> = {
  action: isText,
  id: isText,
  payload: isAny,
  principal: isAny,
  provider: fields({ codeHash: isHash, id: isText, kind: isText, profile: isAny }),
  raw: (value) => isText(value) || isJsonObject(value),
  run: fields(
    {
      at: isInteger,
      attempt: isCount,
      contextHash: isHash,
      parent: isHash,
      path: isText,
      runId: isText,
      step: isCount,
      trace: fields({ spanId: isHex(16), traceId: isHex(32) }, new Set(['spanId']))
    },
    new Set(['contextHash', 'parent', 'trace'])
  ),
  sealed: (value) => Array.isArray(value) && value.every(fields(sealedFields)),
  seed: fields({ base: (value) => value === 'GENESIS' || isHash(value), value: isHash }),
  timestamp: isInteger
}
const optionalInput: ReadonlySet<string> = new Set(['raw', 'run'])

const evidenceFields: Readonly<Record<keyof Evidence, FieldCheck>> = {
  code: isText,
  details: isAny,
  evidenceHash: isHash,
  head: fields({ receiptHash: isHashOrNull, seq: isCount }),
  identity: isHash,
  inputPayload: fields({ action: isText, id: isText, payload: isAny }),
  journalHash: isHash,
  landed: (value) => Array.isArray(value) && value.every(fields(sealedFields)),
  publicKey: isPublicKey,
  signature: isSignature,
  timestamp: isInteger,
  type: (value) => value === 'abort' || value === 'denial' || value === 'failure',
  version: (value) => value === 1
}

/**
 * Reads a receipt strictly: canonical JSON, exactly the 16 fields, each of its type. Encoding is
 * the text itself, so parse then encode gives the same bytes. Does not check hashes or signatures,
 * but gives the hash that the text has.
 *
 * @example
 * {"capabilitiesDeclared":[],"capabilitiesUsed":[],"dappId":"block:a@1","identity":"ab..",
 *  "inputHash":"..","inputPayload":{..},"intent":"a.b","nextStateRoot":"..",
 *  "previousReceiptHash":null,"previousStateRoot":"..","publicKey":"..","receiptHash":"..",
 *  "resultHash":"..","signature":"..","timestamp":1700000000,"version":1}
 */
export function parseReceipt(text: string): ParsedRecord<Receipt> {
  return parseSigned<Receipt>(text, receiptFields, new Set(), 'receiptHash')
}

/** Reads an evidence record as strictly as a receipt. */
export function parseEvidence(text: string): ParsedRecord<Evidence> {
  return parseSigned<Evidence>(text, evidenceFields, new Set(['journalHash']), 'evidenceHash')
}

function parseSigned<Signed>(
  text: string,
  checks: Readonly<Record<string, FieldCheck>>,
  optional: ReadonlySet<string>,
  hashField: string
): ParsedRecord<Signed> {
  const read = readCanonical(text)
  if (read === undefined) {
    return {
      ok: false,
      problem: { field: 'text', signed: shorten(text), computed: 'canonical JSON' }
    }
  }
  const { value, textOf } = read
  const problem = fieldProblem(value, checks, optional)
  if (problem !== undefined) return { ok: false, problem }
  const { computedHash, inputHash } = hashesOf(value as JsonObject, hashField)
  const leaf = sha256(scan.bytesBehindZero)
  return { ok: true, record: value as unknown as Signed, computedHash, inputHash, leaf, textOf }
}

/** The value of a canonical text; text that is not what its value is written as is refused. */
export function parseCanonical(text: string): Json | undefined {
  return readCanonical(text)?.value
}

/**
 * {@link parseCanonical}, with how to write parts of the value canonically: mostly as V8 does, at a
 * fifth of the price.
 */
export function readCanonical(text: string): CanonicalValue | undefined {
  if (!scan.read(text)) return undefined
  const textOf = scan.keepsOrder ? JSON.stringify : canonicalize
  return { value: JSON.parse(text) as Json, textOf }
}

/** Canonical JSON of a value that JSON text was parsed to: mostly at a fifth of the price. */
export function canonicalOfParsed(value: Json): string {
  const text = JSON.stringify(value)
  return scan.read(text) ? text : canonicalize(value)
}

/**
 * Hash of a signed record without its hash and its signature, and of its input, out of the text
 * that was read last. What a caller wrote into a payload is never searched.
 */
function hashesOf(
  record: JsonObject,
  hashField: string
): { readonly computedHash: Hash; readonly inputHash: Hash } {
  const { bytes } = scan
  const unsigned: number[] = []
  let inputHash: Hash | undefined
  let member = 0
  for (const name in record) {
    if (name === hashField || name === 'signature') unsigned.push(member)
    if (name === 'inputPayload') {
      const { valueFrom, to } = scan.place(member)
      inputHash = sha256Hex(bytes.subarray(valueFrom, to))
    }
    member += 1
  }
  const computedHash = sha256Hex(scan.bytesWithout(unsigned))
  return { computedHash, inputHash: present(inputHash, 'input of a record') }
}

function fields(
  checks: Readonly<Record<string, FieldCheck>>,
  optional: ReadonlySet<string> = none
): FieldCheck {
  return (value) => fieldProblem(value, checks, optional) === undefined
}

function fieldProblem(
  value: Json,
  checks: Readonly<Record<string, FieldCheck>>,
  optional: ReadonlySet<string>
): FieldProblem | undefined {
  if (!isJsonObject(value)) return { field: 'text', signed: brief(value), computed: 'an object' }
  let known = 0
  for (const field in checks) {
    const member = value[field]
    if (member !== undefined) {
      if (checks[field]?.(member) !== true) return malformed(value, field)
      known += 1
    } else if (!optional.has(field)) return { field, signed: 'absent', computed: 'present' }
  }
  const names = Object.keys(value)
  if (names.length === known) return undefined
  const other = names.find((name) => !Object.hasOwn(checks, name)) ?? ''
  return { field: other, signed: brief(value[other] ?? null), computed: 'absent' }
}

function malformed(value: JsonObject, field: string): FieldProblem {
  return { field, signed: brief(value[field] ?? null), computed: 'a well-formed value' }
}

function brief(value: Json): string {
  return shorten(JSON.stringify(value))
}

function shorten(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}...` : text
}
