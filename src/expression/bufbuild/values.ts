import { types } from 'node:util'
import {
  type CelList,
  type CelMap,
  type CelValue,
  celList,
  celMap,
  isCelList,
  isCelMap,
  isCelType,
  isCelUint
} from '@bufbuild/cel'
import { isReflectMessage } from '@bufbuild/protobuf/reflect'
import {
  coreError,
  isArrayPrototype,
  isLiteralPrototype,
  type Json,
  limits,
  type TallyError
} from '../../core/index.js'
import { isAmountText } from '../amount.js'
import { type Decimal, decimalText as decimalOf, parseDecimal } from '../decimal.js'
import { type AmountPaths, type EvaluationResult, FailureSignal } from '../failure.js'
import { below } from '../reference.js'
import { amountOf, amountValue } from './amount-type.js'
import type { Budget } from './budget.js'
import { decimalValue, numberOf } from './decimals.js'

/**
 * Copies plain JSON into CEL values: maps with sorted keys, safe integers as `int`, other numbers
 * as
 * `double` (JCS writes 1.0 as 1, so no other rule survives a round trip), amounts where the schema
 * says so. Throws `core.not_json` on anything else than plain own data.
 */
export function toCelValue(value: unknown, { amounts, isExact }: Reading, path: string): CelValue {
  return convert(value, { amounts, isExact, depth: 0 }, path)
}

/** How data is read: where text is a number, and whether numbers are exact decimals. */
export interface Reading {
  readonly amounts: AmountPaths
  readonly isExact: boolean
}

interface Place extends Reading {
  readonly depth: number
}

function within({ amounts, isExact, depth }: Place, key: string): Place {
  return { amounts: below(amounts, key), isExact, depth: depth + 1 }
}

function convert(value: unknown, place: Place, path: string): CelValue {
  const { amounts, isExact, depth } = place
  if (amounts.some((pattern) => pattern.length === 0)) {
    if (isExact) return exactNumber(value, path)
    if (typeof value === 'string' && isAmountText(value)) return amountValue(BigInt(value))
    throw new FailureSignal('type_error', `${path} is not an amount in atomic units`)
  }
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      if (!Number.isFinite(value)) throw notJson(path, `it is ${value}`)
      if (isExact) return exactNumber(value, path)
      return Number.isSafeInteger(value) ? BigInt(value) : value
    case 'object':
      if (value === null) return null
      if (depth >= limits.JSON_DEPTH_MAX) throw notJson(path, 'it is nested too deep')
      if (types.isProxy(value)) throw notJson(path, 'it is a proxy')
      return Array.isArray(value)
        ? convertArray(value, place, path)
        : convertObject(value, place, path)
    default:
      throw notJson(path, `it is ${value === undefined ? 'undefined' : `a ${typeof value}`}`)
  }
}

/** A number of the profile of AIS: a safe integer, or decimal text where it is known to be one. */
function exactNumber(value: unknown, path: string): CelValue {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value)
  if (typeof value === 'string' && decimalText.test(value)) {
    return decimalValue(parseDecimal(value, () => undefined))
  }
  const problem = 'is neither a safe integer nor decimal text that its schema says is a number'
  throw new FailureSignal('type_error', `${path} ${problem}`)
}

const decimalText = /^-?[0-9]{1,16384}(?:\.[0-9]{1,16384})?$/

function convertArray(value: readonly unknown[], place: Place, path: string): CelList {
  if (!isArrayPrototype(Object.getPrototypeOf(value))) throw notJson(path, 'it is no plain array')
  const items: CelValue[] = []
  for (let index = 0; index < value.length; index += 1) {
    const key = String(index)
    const item = ownValue(value, key, path)
    items.push(convert(item, within(place, key), `${path}[${key}]`))
  }
  return celList(items)
}

function convertObject(value: object, place: Place, path: string): CelMap {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (!isLiteralPrototype(prototype)) {
    throw notJson(path, 'it is no plain object')
  }
  const members = new Map<string, CelValue>()
  for (const key of Reflect.ownKeys(value).sort(byText)) {
    if (typeof key !== 'string') throw notJson(path, 'it has a symbol key')
    const member = ownValue(value, key, path)
    members.set(key, convert(member, within(place, key), `${path}.${key}`))
  }
  return celMap(members)
}

function byText(left: string | symbol, right: string | symbol): number {
  const [a, b] = [String(left), String(right)]
  return a < b ? -1 : a > b ? 1 : 0
}

function ownValue(owner: object, key: string, path: string): unknown {
  const descriptor = Object.getOwnPropertyDescriptor(owner, key)
  if (descriptor === undefined || !('value' in descriptor) || !descriptor.enumerable) {
    throw notJson(`${path}.${key}`, 'it is an accessor, a hole or hidden')
  }
  return descriptor.value
}

function notJson(path: string, problem: string): TallyError {
  return coreError('core.not_json', { path, problem })
}

/**
 * The JSON of a CEL value; amounts become decimal strings. What JSON cannot carry fails as
 * `unrepresentable`: unsafe integers, NaN and infinities, bytes, types, timestamps, durations, maps
 * with other keys than text. Shared parts are paid for each time they appear.
 */
export function toJson(
  value: CelValue,
  budget: Budget,
  { isExact }: Pick<Reading, 'isExact'>
): EvaluationResult {
  const writer = new JsonWriter(budget, isExact)
  const json = writer.write(value)
  const { amounts } = writer
  return amounts.length === 0 ? { ok: true, value: json } : { ok: true, value: json, amounts }
}

class JsonWriter {
  readonly amounts: (readonly string[])[] = []
  readonly #budget: Budget
  readonly #isExact: boolean
  readonly #path: string[] = []

  constructor(budget: Budget, isExact: boolean) {
    this.#budget = budget
    this.#isExact = isExact
  }

  write(value: CelValue): Json {
    this.#budget.spend(1)
    switch (typeof value) {
      case 'string':
        this.#budget.spendText(value.length)
        if (!value.isWellFormed()) throw unrepresentable('text with a lone surrogate')
        return value
      case 'boolean':
        return value
      case 'bigint': {
        const number = Number(value)
        const isText = this.#isExact && !Number.isSafeInteger(number)
        return isText ? this.#number({ int: value, scale: 0 }) : safeNumber(number)
      }
      case 'number':
        return safeNumber(value)
      default:
    }
    if (value === null) return null
    const decimal = numberOf(value)
    if (decimal !== undefined) return this.#number(decimal)
    if (this.#path.length >= limits.JSON_DEPTH_MAX) throw unrepresentable('a value nested too deep')
    if (isCelUint(value)) return safeNumber(Number(value.value))
    if (isCelList(value)) return this.#list(value)
    if (isCelMap(value)) return Object.fromEntries(this.#entries(value))
    const amount = amountOf(value)
    if (amount === undefined) throw unrepresentable(`a value of type ${typeName(value)}`)
    this.#note()
    return amount.toString()
  }

  #number(decimal: Decimal): Json {
    this.#note()
    return decimalOf(decimal, (steps) => this.#budget.spend(steps))
  }

  #note(): void {
    if (this.amounts.length < limits.EXPRESSION_AMOUNTS_MAX) this.amounts.push([...this.#path])
    else if (this.#isExact) {
      throw unrepresentable(`more than ${limits.EXPRESSION_AMOUNTS_MAX} amounts`)
    }
  }

  /** A list of nothing but numbers is one place of amounts, however long it is. */
  #list(list: CelList): Json {
    const isNumbers = this.#isExact && [...list].every((item) => numberOf(item) !== undefined)
    if (!isNumbers) return Array.from(list, (item, index) => this.#member(index, item))
    const before = this.amounts.length
    const items: Json[] = []
    for (const item of list) {
      items.push(this.#member('*', item))
      this.amounts.length = Math.min(this.amounts.length, before + 1)
    }
    return items
  }

  #member(key: string | number, value: CelValue): Json {
    this.#path.push(String(key))
    const json = this.write(value)
    this.#path.pop()
    return json
  }

  *#entries(map: CelMap): Generator<[string, Json]> {
    for (const [key, member] of map) {
      if (typeof key !== 'string') throw unrepresentable('a map with keys other than text')
      yield [key, this.#member(key, member)]
    }
  }
}

function safeNumber(value: number): number {
  if (!Number.isFinite(value)) throw unrepresentable('a number that is not finite')
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw unrepresentable('an integer beyond 2^53 - 1; use string() or amount()')
  }
  return Object.is(value, -0) ? 0 : value
}

/** Name of a CEL value's type, as the profile spells it. */
export function typeName(value: CelValue): string {
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'bool'
    case 'bigint':
      return 'int'
    case 'number':
      return 'double'
    default:
  }
  if (value === null) return 'null_type'
  if (isCelUint(value)) return 'uint'
  if (isCelList(value)) return 'list'
  if (isCelMap(value)) return 'map'
  if (isReflectMessage(value)) return value.desc.typeName
  return isCelType(value) ? 'type' : 'bytes'
}

function unrepresentable(what: string): FailureSignal {
  return new FailureSignal('unrepresentable', `the result is ${what}`)
}
