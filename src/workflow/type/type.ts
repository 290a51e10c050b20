import { limits } from '../../core/index.js'

/**
 * The types of AIS parameters, inputs and returns. Numbers on chain are decimal strings (W4): a
 * `token_amount` is a decimal number for people or `max`, an `intN` or `uintN` is in atomic units.
 */
export type AisType =
  | { readonly kind: SimpleKind }
  | { readonly kind: 'integer'; readonly signed: boolean; readonly bits: number }
  | { readonly kind: 'fixed_bytes'; readonly size: number }
  | { readonly kind: 'array'; readonly item: AisType }
  | { readonly kind: 'tuple'; readonly members: readonly AisType[] }

export type SimpleKind =
  | 'address'
  | 'bool'
  | 'string'
  | 'bytes'
  | 'float'
  | 'asset'
  | 'token_amount'

const simple: ReadonlySet<string> = new Set<SimpleKind>([
  'address',
  'bool',
  'string',
  'bytes',
  'float',
  'asset',
  'token_amount'
])

const integer = /^(u?)int([0-9]{1,3})?$/
const fixedBytes = /^bytes([0-9]{1,2})$/
const bits = 256
const depthMax = 8

/** Whether text is a type. */
export function isAisType(text: string): boolean {
  return parseType(text) !== undefined
}

/**
 * Reads a type, or gives undefined. `uint` and `int` are short for 256 bits.
 *
 * @example parseType('array<uint8>') // { kind: 'array', item: { kind: 'integer', ... } }
 */
export function parseType(text: string): AisType | undefined {
  const known = knownTypes.get(text)
  if (known !== undefined) return known
  const type = typeIn(text, 0)
  const { TYPES_KEPT_MAX, TYPE_KEPT_LENGTH_MAX } = limits
  const isKept = knownTypes.size < TYPES_KEPT_MAX && text.length <= TYPE_KEPT_LENGTH_MAX
  if (isKept && type !== undefined) knownTypes.set(text, type)
  return type
}

/** Types are few and come again with each node: each is read once. */
const knownTypes = new Map<string, AisType>()

function typeIn(text: string, depth: number): AisType | undefined {
  if (depth > depthMax) return undefined
  const trimmed = text.trim()
  if (isSimple(trimmed)) return { kind: trimmed }
  const whole = integer.exec(trimmed)
  if (whole !== null) {
    const size = whole[2] === undefined ? bits : Number(whole[2])
    if (size < 8 || size > bits || size % 8 !== 0) return undefined
    return { kind: 'integer', signed: whole[1] === '', bits: size }
  }
  const bytes = fixedBytes.exec(trimmed)
  if (bytes !== null) {
    const size = Number(bytes[1])
    return size >= 1 && size <= 32 ? { kind: 'fixed_bytes', size } : undefined
  }
  if (trimmed.startsWith('array<') && trimmed.endsWith('>')) {
    const item = typeIn(trimmed.slice('array<'.length, -1), depth + 1)
    return item === undefined ? undefined : { kind: 'array', item }
  }
  if (trimmed.startsWith('tuple<') && trimmed.endsWith('>')) {
    return tupleOf(trimmed.slice('tuple<'.length, -1), depth)
  }
  return undefined
}

function isSimple(text: string): text is SimpleKind {
  return simple.has(text)
}

function tupleOf(text: string, depth: number): AisType | undefined {
  const members: AisType[] = []
  for (const part of partsOf(text)) {
    const member = typeIn(part, depth + 1)
    if (member === undefined) return undefined
    members.push(member)
  }
  return members.length === 0 ? undefined : { kind: 'tuple', members }
}

// Commas inside of a nested type do not separate.
function partsOf(text: string): readonly string[] {
  const parts: string[] = []
  let open = 0
  let from = 0
  for (const [at, mark] of [...text].entries()) {
    if (mark === '<') open += 1
    else if (mark === '>') open -= 1
    else if (mark === ',' && open === 0) {
      parts.push(text.slice(from, at))
      from = at + 1
    }
  }
  return [...parts, text.slice(from)]
}

/** Whether values of the type are amounts in atomic units for expressions (W4). */
export function isAtomic(type: AisType): boolean {
  return type.kind === 'integer'
}
