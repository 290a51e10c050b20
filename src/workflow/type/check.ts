import { isJsonObject, type Json, type JsonObject, setOwn } from '../../core/index.js'
import { type AisType, parseType } from './type.js'

/** A value in the one form its type has, or what is wrong with it. */
export type Typed =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly problem: string }

const hex = /^0x([0-9a-fA-F]{2})*$/
const decimal = /^(0|[1-9][0-9]{0,127})(\.[0-9]{1,128})?$/
const signedDecimal = /^-?[0-9]{1,128}(\.[0-9]{1,128})?$/
const whole = /^-?(0|[1-9][0-9]{0,77})$/
const evmAddress = /^0x[0-9a-fA-F]{40}$/
const anyAddress = /^[A-Za-z0-9][A-Za-z0-9:._-]{2,127}$/
const decimalsMax = 77

/**
 * Checks a value against a type and writes it in the one form that type has: integers become
 * decimal strings, so that no number of a chain ever passes through a double (W4).
 */
export function typedValue(type: AisType, value: Json): Typed {
  switch (type.kind) {
    case 'bool':
      return typeof value === 'boolean' ? good(value) : bad('it is not true or false')
    case 'string':
      return typeof value === 'string' ? good(value) : bad('it is not text')
    case 'address':
      return addressOf(value)
    case 'bytes':
      return matching(value, hex, 'it is not bytes as 0x and pairs of hex digits')
    case 'fixed_bytes': {
      const digits = 2 + 2 * type.size
      const found = matching(value, hex, 'it is not bytes as 0x and pairs of hex digits')
      if (!found.ok || String(found.value).length === digits) return found
      return bad(`it is not exactly ${type.size} bytes`)
    }
    case 'float':
      return floatOf(value)
    case 'integer':
      return integerOf(type, value)
    case 'token_amount':
      return amountOf(value)
    case 'asset':
      return assetOf(value)
    case 'array':
      if (!Array.isArray(value)) return bad('it is not a list')
      return listOf(value, () => type.item)
    case 'tuple':
      if (!Array.isArray(value)) return bad('it is not a list')
      if (value.length !== type.members.length) {
        return bad(`it has ${value.length} members, not ${type.members.length}`)
      }
      return listOf(value, (index) => type.members[index] ?? { kind: 'string' })
  }
}

/** {@link typedValue} of a type that is written as text and was checked before. */
export function typedAs(type: string, value: Json): Typed {
  const parsed = parseType(type)
  return parsed === undefined ? bad(`${type} is not a type`) : typedValue(parsed, value)
}

function addressOf(value: Json): Typed {
  const problem = 'it is not an address'
  if (typeof value !== 'string') return bad(problem)
  const pattern = value.startsWith('0x') && value.length < 60 ? evmAddress : anyAddress
  return matching(value, pattern, problem)
}

function floatOf(value: Json): Typed {
  if (typeof value === 'number') return good(value)
  return matching(value, signedDecimal, 'it is not a number')
}

function integerOf(type: AisType & { readonly kind: 'integer' }, value: Json): Typed {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    return bad('it is not a whole number, or too large for one; write decimal digits as text')
  }
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string' || !whole.test(text) || text === '-0') {
    return bad('it is not a whole number as decimal digits')
  }
  if (fits(type, text)) return good(text)
  return bad(`it does not fit ${type.signed ? '' : 'u'}int${type.bits}`)
}

/** Whether a whole number, as decimal digits, is one of the type. */
function fits({ signed, bits }: { readonly signed: boolean; readonly bits: number }, text: string) {
  const valueBits = signed ? bits - 1 : bits
  // Of so few digits all numbers do; a sign counts as one.
  const isShort = text.length <= Math.floor(valueBits * Math.log10(2))
  if (isShort && (signed || !text.startsWith('-'))) return true
  const number = BigInt(text)
  const most = 2n ** BigInt(valueBits) - 1n
  return number <= most && number >= (signed ? -most - 1n : 0n)
}

function amountOf(value: Json): Typed {
  if (value === 'max') return good(value)
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) {
    return good(String(value))
  }
  return matching(value, decimal, 'it is not a decimal amount as text, such as "1.23", or "max"')
}

const assetKeys: ReadonlySet<string> = new Set(['chain_id', 'address', 'symbol', 'decimals'])

function assetOf(value: Json): Typed {
  if (!isJsonObject(value)) return bad('it is not an asset {chain_id, address, decimals}')
  const unknown = Object.keys(value).find((key) => !assetKeys.has(key))
  if (unknown !== undefined) return bad(`an asset has no ${unknown}`)
  const { chain_id: chain, address, symbol, decimals } = value
  if (typeof chain !== 'string') return bad('an asset needs a chain_id')
  if (typeof address !== 'string' || !addressOf(address).ok) return bad('an asset needs an address')
  if (symbol !== undefined && typeof symbol !== 'string') return bad('its symbol is not text')
  if (decimals !== undefined && !isDecimals(decimals)) {
    return bad(`its decimals are not 0 to ${decimalsMax}`)
  }
  return good(value)
}

function isDecimals(value: Json): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= decimalsMax
}

function listOf(values: readonly Json[], typeAt: (index: number) => AisType): Typed {
  const list: Json[] = []
  for (const [index, value] of values.entries()) {
    const typed = typedValue(typeAt(index), value)
    if (!typed.ok) return bad(`member ${index}: ${typed.problem}`)
    list.push(typed.value)
  }
  return good(list)
}

function matching(value: Json, pattern: RegExp, problem: string): Typed {
  return typeof value === 'string' && pattern.test(value) ? good(value) : bad(problem)
}

function good(value: Json): Typed {
  return { ok: true, value }
}

function bad(problem: string): Typed {
  return { ok: false, problem }
}

/** Bounds of a parameter: `min` and `max` compare exactly, `pattern` is the whole text. */
export interface Constraints {
  readonly min?: Json | undefined
  readonly max?: Json | undefined
  readonly enum?: readonly Json[] | undefined
  readonly pattern?: string | undefined
}

/** What of a value breaks its bounds; undefined when nothing does. */
export function brokenConstraint(value: Json, constraints: Constraints): string | undefined {
  const { min, max, pattern } = constraints
  const allowed = constraints.enum
  if (min !== undefined && compareDecimals(value, min) === -1) return `it is below ${String(min)}`
  if (max !== undefined && compareDecimals(value, max) === 1) return `it is above ${String(max)}`
  if (allowed !== undefined && !allowed.some((one) => one === value)) {
    return `it is none of ${allowed.map((one) => JSON.stringify(one)).join(', ')}`
  }
  if (pattern !== undefined && !matchesWhole(value, pattern)) return `it does not match ${pattern}`
  return undefined
}

function matchesWhole(value: Json, pattern: string): boolean {
  if (typeof value !== 'string' || value.length > patternTextMax) return false
  return isPlainPattern(pattern) && new RegExp(`^(?:${pattern})$`).test(value)
}

const patternTextMax = 1_024
const patternParts =
  /^(?:(?:\[\^?[^\]\\[]+\]|\\[dw.]|[A-Za-z0-9 _.:@#/-])(?:[*+?]|\{[0-9]{1,4}(?:,[0-9]{0,4})?\})?)*$/
const openEnds = /[*+?]|\{[0-9]+,[0-9]*\}/g

/**
 * Whether a pattern is of the small language whose matching cannot take long: characters and
 * classes with counts, at most two of which are open; no groups and no alternatives.
 */
export function isPlainPattern(pattern: string): boolean {
  if (pattern.length > 256 || !patternParts.test(pattern)) return false
  return (pattern.match(openEnds)?.length ?? 0) <= 2
}

/** Orders two decimal numbers exactly; undefined when one is none. */
export function compareDecimals(left: Json, right: Json): -1 | 0 | 1 | undefined {
  const [one, other] = [scaled(left), scaled(right)]
  if (one === undefined || other === undefined) return undefined
  const places = Math.max(one.scale, other.scale)
  const a = one.digits * 10n ** BigInt(places - one.scale)
  const b = other.digits * 10n ** BigInt(places - other.scale)
  return a < b ? -1 : a > b ? 1 : 0
}

function scaled(value: Json): { readonly digits: bigint; readonly scale: number } | undefined {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string' || !signedDecimal.test(text)) return undefined
  const [integer = '', fraction = ''] = text.split('.')
  return { digits: BigInt(`${integer}${fraction}`), scale: fraction.length }
}

/** The members of an object under their types, in the order of `types`. */
export function typedMembers(
  types: readonly { readonly name: string; readonly type: string }[],
  values: JsonObject
): Typed {
  const members: Record<string, Json> = {}
  for (const { name, type } of types) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (value === undefined) return bad(`there is no ${name}`)
    const typed = typedAs(type, value)
    if (!typed.ok) return bad(`${name}: ${typed.problem}`)
    setOwn(members, name, typed.value)
  }
  return good(members)
}
