import { types } from 'node:util'
import type { Pieces } from '../document/pieces.js'
import { isSliceFull, isWorkCounted, passSteps } from '../document/work.js'
import { coreError, type TallyError } from '../errors/error.js'
import { JSON_DEPTH_MAX, KEY_LITERAL_LENGTH_MAX, KEY_LITERALS_MAX } from '../limits.js'
import { findingLarge } from './length.js'

/**
 * Canonical JSON, RFC 8785 (JCS), for plain JSON values only (formats.md §1).
 *
 * Keys are sorted by UTF-16 code units and written by us, never through object insertion order.
 * Throws `core.not_json` on anything JSON cannot carry: other prototypes, accessors, holes,
 * symbols, functions, `undefined`, NaN, infinities, BigInt, cycles, proxies, lone surrogates, too
 * much depth.
 *
 * `known` gives texts that were made here before, by object: such an object is not looked at again.
 *
 * @example canonicalize({ b: 1, a: [true, null] }) // '{"a":[true,null],"b":1}'
 */
export function canonicalize(value: unknown, known?: KnownTexts): string {
  const text = attempt(value, 0, 'any', known) ?? refuse(value, false)
  passSteps(text.length / CHARS_OF_STEP)
  return text
}

/**
 * {@link canonicalize} of data that this program has parsed or put together itself, in half the
 * time: accessors, symbols, hidden members and proxies, which such data cannot have, are not looked
 * for. Code of users gets no such data back that it could have changed.
 */
export function canonicalizeOwn(value: unknown, known?: KnownTexts): string {
  const text = attempt(value, 0, 'own', known) ?? refuse(value, false)
  passSteps(text.length / CHARS_OF_STEP)
  return text
}

/** {@link canonicalize} of plain data in pieces, where the work of a document is counted. */
export function* canonicalizing(value: unknown): Pieces<string> {
  const large = isWorkCounted() ? yield* findingLarge(value) : undefined
  if (large === undefined || !large.has(value as object)) return canonicalize(value)
  return yield* writingLarge(value as object, '$', 0, { large, origin: 'any', known: new Map() })
}

/** {@link canonicalizeOwn} in pieces, where the work of a document is counted. */
export function* canonicalizingOwn(value: unknown): Pieces<string> {
  const large = isWorkCounted() ? yield* findingLarge(value) : undefined
  if (large === undefined || !large.has(value as object)) return canonicalizeOwn(value)
  return yield* writingLarge(value as object, '$', 0, { large, origin: 'own', known: new Map() })
}

/** {@link canonicalizeLedgerValue} of plain data in pieces. */
export function* canonicalizingLedgerValue(value: unknown): Pieces<string> {
  const large = yield* findingLarge(value)
  if (!large.has(value as object)) return canonicalizeLedgerValue(value)
  return yield* writingLarge(value as object, '$', 0, { large, origin: 'ledger', known: new Map() })
}

/** Characters that are written for one step of work. */
const CHARS_OF_STEP = 16

interface Written {
  readonly large: ReadonlySet<object>
  readonly origin: Origin
  readonly known: Map<object, string>
}

function* writingLarge(
  value: object,
  path: string,
  depth: number,
  written: Written
): Pieces<string> {
  const { large, origin } = written
  const ledger = isKept(origin)
  const before = written.known.get(value)
  if (before !== undefined) return before
  const isList = Array.isArray(value)
  const members = value as Readonly<Record<string, unknown>>
  let text = ''
  for (const key of isList ? value.keys() : (sortedKeys(value) ?? refuse(value, ledger, path))) {
    if (isSliceFull()) yield
    if (!isList) {
      checkReserved(String(key), path, ledger)
      checkKey(String(key), path)
    }
    const member = members[key]
    const at = isList ? `${path}[${key}]` : `${path}.${key}`
    const isWhole = depth + 1 >= JSON_DEPTH_MAX || !large.has(member as object)
    const item = isWhole
      ? (attempt(member, depth + 1, origin, undefined) ?? refuse(member, ledger, at, depth + 1))
      : yield* writingLarge(member as object, at, depth + 1, written)
    passSteps(1 + (isWhole ? item.length / CHARS_OF_STEP : 0))
    if (text !== '') text += ','
    text += isList ? item : `${JSON.stringify(key)}:${item}`
  }
  const whole = isList ? `[${text}]` : `{${text}}`
  written.known.set(value, whole)
  return whole
}

/** Canonical texts by the objects that they are of; a Map or a WeakMap will do. */
export interface KnownTexts {
  get(value: object): string | undefined
}

/**
 * Canonical JSON of a value from outside that the ledger is to keep (formats.md §1 "Ledger
 * values"): integers must be safe and keys must not begin with `$`. Throws `core.not_ledger_value`
 * otherwise.
 */
export function canonicalizeLedgerValue(value: unknown): string {
  return attempt(value, 0, 'ledger', undefined) ?? refuse(value, true)
}

/** {@link canonicalizeLedgerValue} of data that this program has put together itself. */
export function canonicalizeOwnLedgerValue(value: unknown): string {
  return attempt(value, 0, 'own ledger', undefined) ?? refuse(value, true)
}

// Strings of printable ASCII without quote and backslash need no escaping.
const plainText = /^[ !#-[\]-~]*$/

/** One canonical JSON string literal. */
export function canonicalString(text: string): string {
  const literal = literalOf(text)
  if (literal === undefined) throw notJson('$', 'a string has a lone surrogate')
  return literal
}

function literalOf(text: string): string | undefined {
  if (plainText.test(text)) return `"${text}"`
  return text.isWellFormed() ? JSON.stringify(text) : undefined
}

/** Whose values they are, anybody's or our own, and whether the ledger is to keep them. */
type Origin = 'any' | 'ledger' | 'own' | 'own ledger'

function isOurs(origin: Origin): boolean {
  return origin === 'own' || origin === 'own ledger'
}

function isKept(origin: Origin): boolean {
  return origin === 'ledger' || origin === 'own ledger'
}

/**
 * Canonical text, or undefined when there is anything to refuse: `refuse` then says what and where.
 * Keeping track of the place costs more than all the rest.
 */
function attempt(
  value: unknown,
  depth: number,
  origin: Origin,
  known: KnownTexts | undefined
): string | undefined {
  switch (typeof value) {
    case 'string':
      return literalOf(value)
    case 'number':
      if (Number.isSafeInteger(value)) return `${value}`
      if (!Number.isFinite(value) || (isKept(origin) && Number.isInteger(value))) return undefined
      return `${value}`
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      if (value === null) return 'null'
      if (depth >= JSON_DEPTH_MAX || (!isOurs(origin) && types.isProxy(value))) return undefined
      return (
        known?.get(value) ??
        (Array.isArray(value)
          ? attemptArray(value, depth, origin, known)
          : attemptObject(value, depth, origin, known))
      )
    default:
      return undefined
  }
}

function attemptArray(
  value: readonly unknown[],
  depth: number,
  origin: Origin,
  known: KnownTexts | undefined
): string | undefined {
  if (!isArrayPrototype(Object.getPrototypeOf(value))) return undefined
  const isOwn = isOurs(origin)
  if (!isOwn && Reflect.ownKeys(value).length !== value.length + 1) return undefined
  let text = '['
  for (let index = 0; index < value.length; index += 1) {
    const given = isOwn ? value[index] : memberOf(value, index)
    const item = attempt(given, depth + 1, origin, known)
    if (item === undefined) return undefined
    text += index === 0 ? item : `,${item}`
  }
  return `${text}]`
}

function attemptObject(
  value: object,
  depth: number,
  origin: Origin,
  known: KnownTexts | undefined
): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (!isLiteralPrototype(prototype)) return undefined
  const isOwn = isOurs(origin)
  const keys = isOwn ? inOrder(Object.keys(value)) : sortedKeys(value)
  if (keys === undefined) return undefined
  const members = value as Readonly<Record<string, unknown>>
  const isForLedger = isKept(origin)
  let text = ''
  for (const key of keys) {
    if (isForLedger && key.charCodeAt(0) === 36) return undefined
    const given = isOwn ? members[key] : memberOf(value, key)
    const member = attempt(given, depth + 1, origin, known)
    const literal = keyLiteral(key)
    if (member === undefined || literal === undefined) return undefined
    text += (text === '' ? literal.first : literal.next) + member
  }
  return text === '' ? '{}' : `${text}}`
}

/** A key as it stands in an object, as its first member and behind another. */
interface KeyLiteral {
  readonly first: string
  readonly next: string
}

/** Keys are few and come again: each is written once. Says nothing of what was written. */
const keyLiterals = new Map<string, KeyLiteral>()

/** Undefined for a lone surrogate. */
function keyLiteral(key: string): KeyLiteral | undefined {
  const known = keyLiterals.get(key)
  if (known !== undefined) return known
  const text = literalOf(key)
  if (text === undefined) return undefined
  const literal = { first: `{${text}:`, next: `,${text}:` }
  const isKept = keyLiterals.size < KEY_LITERALS_MAX && key.length <= KEY_LITERAL_LENGTH_MAX
  if (isKept) keyLiterals.set(key, literal)
  return literal
}

/** Undefined, which is refused, for nothing and what is hidden; an accessor has no value. */
function memberOf(owner: object, key: string | number): unknown {
  const descriptor = Object.getOwnPropertyDescriptor(owner, key)
  return descriptor?.enumerable === true ? descriptor.value : undefined
}

/** Lists up to this long are sorted in place: `sort` copies them first. */
const SHORT_KEYS = 16

/** Own keys in the order of their UTF-16 code units; undefined when one is a symbol. */
function sortedKeys(value: object): readonly string[] | undefined {
  const keys = Reflect.ownKeys(value)
  return areNames(keys) ? inOrder(keys) : undefined
}

/** Own keys without a symbol: those are the last. */
function areNames(keys: (string | symbol)[]): keys is string[] {
  return typeof keys.at(-1) !== 'symbol'
}

function inOrder(keys: string[]): readonly string[] {
  if (keys.length > SHORT_KEYS) return keys.sort()
  for (let end = 1; end < keys.length; end += 1) {
    const key = keys[end] as string
    let at = end
    for (; at > 0 && (keys[at - 1] as string) > key; at -= 1) keys[at] = keys[at - 1] as string
    keys[at] = key
  }
  return keys
}

/** Throws what is wrong with a value that `attempt` has refused, and where it stands. */
function refuse(value: unknown, ledger: boolean, path = '$', depth = 0): never {
  check(value, path, depth, ledger)
  throw notJson(path, 'it is no plain value')
}

function check(value: unknown, path: string, depth: number, ledger: boolean): void {
  switch (typeof value) {
    case 'string':
      if (!value.isWellFormed()) throw notJson(path, 'the string has a lone surrogate')
      return
    case 'number':
      return checkNumber(value, path, ledger)
    case 'boolean':
      return
    case 'object':
      if (value === null) return
      if (depth >= JSON_DEPTH_MAX) {
        throw notJson(path, `it is nested deeper than ${JSON_DEPTH_MAX} levels, or it is a cycle`)
      }
      if (types.isProxy(value)) throw notJson(path, 'it is a proxy')
      return Array.isArray(value)
        ? checkArray(value, path, depth, ledger)
        : checkObject(value, path, depth, ledger)
    default:
      throw notJson(path, value === undefined ? 'it is undefined' : `it is a ${typeof value}`)
  }
}

function checkNumber(value: number, path: string, ledger: boolean): void {
  if (!Number.isFinite(value)) throw notJson(path, `it is ${value}`)
  if (ledger && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw notLedgerValue(path, 'the integer is outside the safe range')
  }
}

function checkArray(value: readonly unknown[], path: string, depth: number, ledger: boolean): void {
  if (!isArrayPrototype(Object.getPrototypeOf(value)))
    throw notJson(path, 'it is not a plain array')
  if (Reflect.ownKeys(value).length !== value.length + 1) {
    throw notJson(path, 'the array has holes or named properties')
  }
  for (let index = 0; index < value.length; index += 1) {
    check(dataProperty(value, String(index), path), `${path}[${index}]`, depth + 1, ledger)
  }
}

function checkObject(value: object, path: string, depth: number, ledger: boolean): void {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (!isLiteralPrototype(prototype)) {
    throw notJson(path, 'it is not a plain object')
  }
  const keys = sortedKeys(value)
  if (keys === undefined) throw notJson(path, 'it has a symbol key')
  for (const key of keys) {
    checkReserved(key, path, ledger)
    const member = dataProperty(value, key, path)
    checkKey(key, path)
    check(member, `${path}.${key}`, depth + 1, ledger)
  }
}

function checkReserved(key: string, path: string, ledger: boolean): void {
  if (ledger && key.charCodeAt(0) === 36) {
    throw notLedgerValue(path, `the key "${key}" is reserved`)
  }
}

function checkKey(key: string, path: string): void {
  if (!key.isWellFormed()) throw notJson(path, 'a key has a lone surrogate')
}

function dataProperty(owner: object, key: string, path: string): unknown {
  const descriptor = Object.getOwnPropertyDescriptor(owner, key)
  if (descriptor === undefined || !('value' in descriptor)) {
    throw notJson(`${path}.${key}`, 'it is an accessor')
  }
  if (!descriptor.enumerable) throw notJson(`${path}.${key}`, 'the property is not enumerable')
  return descriptor.value
}

function notJson(path: string, problem: string): TallyError {
  return coreError('core.not_json', { path, problem })
}

function notLedgerValue(path: string, problem: string): TallyError {
  return coreError('core.not_ledger_value', { path, problem })
}

// A test runner may execute modules in a realm of their own, and what Node makes is of another.

/**
 * Whether objects with this prototype are object literals, of this realm or of another, or have
 * nothing but their own members, as the parameters of a request have in HTTP frameworks.
 */
export function isLiteralPrototype(prototype: unknown): boolean {
  if (prototype === Object.prototype || prototype === null) return true
  return isOfOtherRealm(prototype) || isEmpty(prototype)
}

/** An object without members, its own or inherited. */
function isEmpty(prototype: unknown): boolean {
  if (typeof prototype !== 'object' || prototype === null || types.isProxy(prototype)) return false
  return Object.getPrototypeOf(prototype) === null && Reflect.ownKeys(prototype).length === 0
}

/** Whether arrays with this prototype are array literals, of this realm or of another. */
export function isArrayPrototype(prototype: unknown): boolean {
  if (prototype === Array.prototype) return true
  if (types.isProxy(prototype) || !Array.isArray(prototype)) return false
  return isOfOtherRealm(Object.getPrototypeOf(prototype)) && Object.hasOwn(prototype, 'flatMap')
}

/** An `Object.prototype`: nothing above it, and members that no class has of its own. */
function isOfOtherRealm(prototype: unknown): boolean {
  if (typeof prototype !== 'object' || prototype === null || types.isProxy(prototype)) return false
  if (Object.getPrototypeOf(prototype) !== null) return false
  return Object.hasOwn(prototype, 'isPrototypeOf') && Object.hasOwn(prototype, '__proto__')
}
