import { types } from 'node:util'
import { TallyError } from '../errors/error.js'
import { JSON_DEPTH_MAX } from '../limits.js'

/**
 * Canonical JSON, RFC 8785 (JCS), for plain JSON values only (formats.md §1).
 *
 * Keys are sorted by UTF-16 code units and written by us, never through object insertion order.
 * Throws `core.not_json` on anything JSON cannot carry: other prototypes, accessors, holes, symbols,
 * functions, `undefined`, NaN, infinities, BigInt, cycles, proxies, lone surrogates, too much depth.
 *
 * @example canonicalize({ b: 1, a: [true, null] }) // '{"a":[true,null],"b":1}'
 */
export function canonicalize(value: unknown): string {
  return write(value, '$', 0, false)
}

/**
 * Canonical JSON of a value from outside that the ledger is to keep (formats.md §1 "Ledger values"):
 * integers must be safe and keys must not begin with `$`. Throws `core.not_ledger_value` otherwise.
 */
export function canonicalizeLedgerValue(value: unknown): string {
  return write(value, '$', 0, true)
}

// Strings of printable ASCII without quote and backslash need no escaping.
const plainText = /^[ !#-[\]-~]*$/

/** One canonical JSON string literal. */
export function canonicalString(text: string): string {
  if (plainText.test(text)) return `"${text}"`
  if (!text.isWellFormed()) throw notJson('$', 'a string has a lone surrogate')
  return JSON.stringify(text)
}

function write(value: unknown, path: string, depth: number, ledger: boolean): string {
  switch (typeof value) {
    case 'string':
      if (plainText.test(value)) return `"${value}"`
      if (!value.isWellFormed()) throw notJson(path, 'the string has a lone surrogate')
      return JSON.stringify(value)
    case 'number':
      return writeNumber(value, path, ledger)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      if (value === null) return 'null'
      if (depth >= JSON_DEPTH_MAX) {
        throw notJson(path, `it is nested deeper than ${JSON_DEPTH_MAX} levels, or it is a cycle`)
      }
      if (types.isProxy(value)) throw notJson(path, 'it is a proxy')
      return Array.isArray(value)
        ? writeArray(value, path, depth, ledger)
        : writeObject(value, path, depth, ledger)
    default:
      throw notJson(path, value === undefined ? 'it is undefined' : `it is a ${typeof value}`)
  }
}

function writeNumber(value: number, path: string, ledger: boolean): string {
  if (!Number.isFinite(value)) throw notJson(path, `it is ${value}`)
  if (ledger && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw notLedgerValue(path, 'the integer is outside the safe range')
  }
  return Object.is(value, -0) ? '0' : String(value)
}

function writeArray(
  value: readonly unknown[],
  path: string,
  depth: number,
  ledger: boolean
): string {
  if (Object.getPrototypeOf(value) !== Array.prototype)
    throw notJson(path, 'it is not a plain array')
  if (Reflect.ownKeys(value).length !== value.length + 1) {
    throw notJson(path, 'the array has holes or named properties')
  }
  let text = '['
  for (let index = 0; index < value.length; index += 1) {
    const item = dataProperty(value, String(index), path)
    text += (index === 0 ? '' : ',') + write(item, `${path}[${index}]`, depth + 1, ledger)
  }
  return `${text}]`
}

function writeObject(value: object, path: string, depth: number, ledger: boolean): string {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) {
    throw notJson(path, 'it is not a plain object')
  }
  const keys = Reflect.ownKeys(value)
  if (keys.length > 1) keys.sort()
  let text = '{'
  for (let index = 0; index < keys.length; index += 1) {
    const key = keys[index]
    if (typeof key !== 'string') throw notJson(path, 'it has a symbol key')
    if (ledger && key.charCodeAt(0) === 36)
      throw notLedgerValue(path, `the key "${key}" is reserved`)
    const member = dataProperty(value, key, path)
    const literal = plainText.test(key) ? `"${key}"` : keyLiteral(key, path)
    text += `${index === 0 ? '' : ','}${literal}:${write(member, `${path}.${key}`, depth + 1, ledger)}`
  }
  return `${text}}`
}

function keyLiteral(key: string, path: string): string {
  if (!key.isWellFormed()) throw notJson(path, 'a key has a lone surrogate')
  return JSON.stringify(key)
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
  return new TallyError('core.not_json', { path, problem })
}

function notLedgerValue(path: string, problem: string): TallyError {
  return new TallyError('core.not_ledger_value', { path, problem })
}
