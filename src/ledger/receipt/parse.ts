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
  const computedHash = sha256Hex(
    without(text, value as JsonObject, [hashField, 'signature'], textOf)
  )
  return { ok: true, record: value as unknown as Signed, computedHash, textOf }
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
 * Canonical text of a record without some of its members, none of them the last. They are cut where
 * the values after them say that they stand: what a caller wrote into a payload is never searched.
 */
function without(
  text: string,
  record: JsonObject,
  names: readonly string[],
  textOf: TextOf
): string {
  let rest = text
  let to = text.length - 1
  let left = names.length
  for (const name of Object.keys(record).reverse()) {
    const from = to - `"${name}":`.length - textOf(record[name] ?? null).length
    if (names.includes(name)) {
      rest = rest.slice(0, from) + rest.slice(to + 1)
      left -= 1
      if (left === 0) break
    }
    to = from - 1
  }
  return rest
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
  for (const field of Object.keys(checks)) {
    const member = value[field]
    if (member === undefined) {
      if (optional.has(field)) continue
      return { field, signed: 'absent', computed: 'present' }
    }
    if (checks[field]?.(member) !== true) return malformed(value, field)
  }
  const unknown = Object.keys(value).find((field) => !Object.hasOwn(checks, field))
  if (unknown === undefined) return undefined
  return { field: unknown, signed: brief(value[unknown] ?? null), computed: 'absent' }
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
