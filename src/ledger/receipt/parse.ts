import {
  canonicalize,
  type Hash,
  isHash,
  isJsonObject,
  isPublicKey,
  isSignature,
  type Json,
  type JsonObject,
  limits,
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
      /** Canonical JSON of its `inputPayload`. */
      readonly inputText: string
      /** Canonical JSON of a part of the record, cheaper than writing it anew. */
      readonly textOf: TextOf
    }
  | { readonly ok: false; readonly problem: FieldProblem }

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
  const { hashed, inputText } = cutSigned(text, value as JsonObject, { hashField, textOf })
  const computedHash = sha256Hex(hashed)
  return { ok: true, record: value as unknown as Signed, computedHash, inputText, textOf }
}

/** The value of a canonical text; text that is not what its value is written as is refused. */
export function parseCanonical(text: string): Json | undefined {
  return readCanonical(text)?.value
}

/**
 * {@link parseCanonical}, with how to write parts of the value canonically: where the whole text is
 * what V8 writes, a part of it is too, at a fifth of the price.
 */
export function readCanonical(text: string): CanonicalValue | undefined {
  try {
    const value = JSON.parse(text) as Json
    if (isWrittenAs(value, text)) return { value, textOf: JSON.stringify }
    return canonicalize(value) === text ? { value, textOf: canonicalize } : undefined
  } catch {
    return undefined
  }
}

/** Canonical JSON of a value that JSON text was parsed to: mostly at a fifth of the price. */
export function canonicalOfParsed(value: Json): string {
  const text = hasSortedKeys(value, 0) ? JSON.stringify(value) : ''
  return text === '' || text.includes('\\ud') ? canonicalize(value) : text
}

/**
 * A quick proof that text is canonical: V8 writes strings and numbers as RFC 8785 does, and keys in
 * the order in which they stood, so only that order is left to check. Escaped surrogates and keys
 * that look like integers take the long way.
 */
function isWrittenAs(value: Json, text: string): boolean {
  return !text.includes('\\ud') && JSON.stringify(value) === text && hasSortedKeys(value, 0)
}

function hasSortedKeys(value: Json, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (depth >= limits.JSON_DEPTH_MAX) return false
  if (Array.isArray(value)) return value.every((item: Json) => hasSortedKeys(item, depth + 1))
  const object = value as JsonObject
  let last: string | undefined
  for (const key in object) {
    if (last !== undefined && key <= last) return false
    if (!hasSortedKeys(object[key] ?? null, depth + 1)) return false
    last = key
  }
  return true
}

/**
 * Canonical text of a signed record without its hash and its signature, and of its input. They are
 * cut where the lengths of the other members say that they stand: what a caller wrote into a
 * payload is never searched, and the input, the largest member, is not written anew.
 */
function cutSigned(
  text: string,
  record: JsonObject,
  { hashField, textOf }: { readonly hashField: string; readonly textOf: TextOf }
): { readonly hashed: string; readonly inputText: string } {
  const lengths: number[] = []
  let inputLength = text.length - 1
  for (const name in record) {
    const length = name === 'inputPayload' ? 0 : valueLength(name, record[name] ?? null, textOf)
    inputLength -= name.length + 4 + length
    lengths.push(length)
  }
  let [hashed, inputText] = ['', '']
  let [kept, at, member] = [0, 0, 0]
  for (const name in record) {
    const from = at + name.length + 4
    let to = from + (lengths[member] ?? 0)
    if (name === 'inputPayload') {
      to += inputLength
      inputText = text.slice(from, to)
    } else if (name === hashField || name === 'signature') {
      hashed += text.slice(kept, at)
      kept = to
    }
    at = to
    member += 1
  }
  return { hashed: hashed + text.slice(kept), inputText }
}

const hexChecks: ReadonlySet<FieldCheck> = new Set([isHash, isHashOrNull, isPublicKey, isSignature])
/** Members that were checked to be hexadecimal digits, or null. */
const hexMembers: ReadonlySet<string> = new Set(
  [...Object.entries(receiptFields), ...Object.entries(evidenceFields)]
    .filter(([, check]) => hexChecks.has(check))
    .map(([name]) => name)
)

/** Length of a member's canonical text. */
function valueLength(name: string, value: Json, textOf: TextOf): number {
  return typeof value === 'string' && hexMembers.has(name) ? value.length + 2 : textOf(value).length
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
  for (const field in checks) {
    const member = value[field]
    if (member === undefined) {
      if (optional.has(field)) continue
      return { field, signed: 'absent', computed: 'present' }
    }
    if (checks[field]?.(member) !== true) return malformed(value, field)
  }
  for (const field in value) {
    if (Object.hasOwn(checks, field)) continue
    return { field, signed: brief(value[field] ?? null), computed: 'absent' }
  }
  return undefined
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
