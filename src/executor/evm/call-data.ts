import { type JsonObject, limits } from '../../core/index.js'
import { InvalidArgument } from '../invalid-argument.js'
import type { AbiParameter } from './abi-types.js'
import { toAbiValues } from './values.js'

/** A decoded value: tuples and lists as lists, addresses in lower case, bytes as 0x-hex. */
export type AbiPlain = bigint | string | boolean | readonly AbiPlain[]

/** Parameters of a signature: `transfer(address,uint256)`. Their names are empty. */
export function parametersOf(signature: string): readonly AbiParameter[] {
  const inside = signature.slice(signature.indexOf('(') + 1, -1)
  return inside === '' ? [] : splitTop(inside).map(parameterOf)
}

function splitTop(text: string): readonly string[] {
  const parts: string[] = []
  let depth = 0
  let from = 0
  for (let index = 0; index <= text.length; index += 1) {
    const char = text[index]
    if (char === '(') depth += 1
    if (char === ')') depth -= 1
    if (index < text.length && (char !== ',' || depth > 0)) continue
    parts.push(text.slice(from, index))
    from = index + 1
  }
  return parts
}

function parameterOf(text: string): AbiParameter {
  if (!text.startsWith('(')) return { name: '', type: text }
  const end = text.lastIndexOf(')')
  const components = splitTop(text.slice(1, end)).map(parameterOf)
  return { name: '', type: `tuple${text.slice(end + 1)}`, components }
}

/** Named arguments by their place, as the coder would encode them; undefined: it would not. */
export function plainArguments(
  inputs: readonly AbiParameter[],
  args: JsonObject
): readonly AbiPlain[] | undefined {
  try {
    const values = toAbiValues({ isAddress }, inputs, args)
    return inputs.map((input, index) => plain(input, values[index]))
  } catch (error) {
    if (error instanceof InvalidArgument) return undefined
    throw error
  }
}

function isAddress(value: string): value is `0x${string}` {
  return /^0x[0-9a-fA-F]{40}$/.test(value)
}

function plain(parameter: AbiParameter, value: unknown): AbiPlain {
  const item = itemOf(parameter)
  if (item !== undefined) return (value as readonly unknown[]).map((one) => plain(item.type, one))
  if (parameter.type === 'tuple') {
    const members = value as Readonly<Record<string, unknown>>
    return (parameter.components ?? []).map((component, index) =>
      plain(component, Array.isArray(value) ? value[index] : members[component.name])
    )
  }
  return parameter.type === 'address' ? String(value).toLowerCase() : (value as AbiPlain)
}

/** What a list is made of; undefined for what is no list. */
function itemOf(
  parameter: AbiParameter
): { readonly type: AbiParameter; readonly length: number | undefined } | undefined {
  const list = /^(.*)\[([0-9]*)\]$/.exec(parameter.type)
  if (list === null) return undefined
  const [, type = '', length = ''] = list
  return { type: { ...parameter, type }, length: length === '' ? undefined : Number(length) }
}

/**
 * Values of encoded parameters; undefined for bytes that are not what the types say, or not said as
 * coders say it. `data` is hex without 0x, after the selector.
 */
export function plainParameters(
  parameters: readonly AbiParameter[],
  data: string
): readonly AbiPlain[] | undefined {
  try {
    return new Reader(data).members(parameters, 0)
  } catch (error) {
    if (error instanceof Unreadable) return undefined
    throw error
  }
}

class Unreadable extends Error {}

const WORD = 64

/** Reads hex digits; all places are counted in digits. */
class Reader {
  readonly #data: string
  #items = 0

  constructor(data: string) {
    this.#data = data
  }

  members(parameters: readonly AbiParameter[], base: number): readonly AbiPlain[] {
    let head = base
    return parameters.map((parameter) => {
      const at = isDynamic(parameter) ? base + this.#place(head) : head
      head += isDynamic(parameter) ? WORD : sizeOf(parameter)
      return this.#value(parameter, at)
    })
  }

  #value(parameter: AbiParameter, at: number): AbiPlain {
    this.#items += 1
    if (this.#items > ITEMS_MAX) throw new Unreadable()
    const item = itemOf(parameter)
    if (item !== undefined) {
      const length = item.length ?? this.#place(at, 1)
      if (length > ITEMS_MAX) throw new Unreadable()
      const from = item.length === undefined ? at + WORD : at
      return this.members(
        Array.from({ length }, () => item.type),
        from
      )
    }
    const { type, components = [] } = parameter
    if (type === 'tuple') return this.members(components, at)
    if (type === 'bytes' || type === 'string') {
      const length = this.#place(at)
      return `0x${this.#digits(at + WORD, length)}`
    }
    return scalar(type, this.#digits(at, WORD))
  }

  /** An offset or a length in bytes, as digits; with `unit` 1, as it stands. */
  #place(at: number, unit = 2): number {
    const value = BigInt(`0x${this.#digits(at, WORD)}`)
    if (value > BigInt(this.#data.length)) throw new Unreadable()
    return Number(value) * unit
  }

  #digits(at: number, length: number): string {
    if (at + length > this.#data.length) throw new Unreadable()
    return this.#data.slice(at, at + length)
  }
}

const ITEMS_MAX = limits.CHAIN_CALLS_MAX * 16

/** What is not a value of the type may be cut by one contract and refused by the next. */
function scalar(type: string, word: string): AbiPlain {
  const value = BigInt(`0x${word}`)
  if (type === 'address') {
    if (value >= 2n ** 160n) throw new Unreadable()
    return `0x${word.slice(-40)}`
  }
  if (type === 'bool') {
    if (value > 1n) throw new Unreadable()
    return value === 1n
  }
  const whole = /^uint([0-9]+)$/.exec(type)
  if (whole !== null) {
    if (value >= 2n ** BigInt(whole[1] ?? '')) throw new Unreadable()
    return value
  }
  const bytes = /^bytes([0-9]+)$/.exec(type)
  if (bytes === null) throw new Unreadable()
  return `0x${word.slice(0, 2 * Number(bytes[1]))}`
}

function isDynamic(parameter: AbiParameter): boolean {
  const item = itemOf(parameter)
  if (item !== undefined) return item.length === undefined || isDynamic(item.type)
  if (parameter.type === 'tuple') return (parameter.components ?? []).some(isDynamic)
  return parameter.type === 'bytes' || parameter.type === 'string'
}

function sizeOf(parameter: AbiParameter): number {
  const item = itemOf(parameter)
  if (item !== undefined) return (item.length ?? 0) * sizeOf(item.type)
  if (parameter.type !== 'tuple') return WORD
  return (parameter.components ?? []).reduce((sum, one) => sum + sizeOf(one), 0)
}
