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
import { create, createFileRegistry } from '@bufbuild/protobuf'
import { isReflectMessage, type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect'
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema
} from '@bufbuild/protobuf/wkt'
import {
  isArrayPrototype,
  isLiteralPrototype,
  type Json,
  limits,
  present,
  TallyError
} from '../../core/index.js'
import { isAmountText } from '../amount.js'
import { FailureSignal } from '../failure.js'
import type { Budget } from './budget.js'

const amountFile = create(FileDescriptorProtoSchema, {
  name: 'tally/amount.proto',
  package: 'tally',
  syntax: 'proto3',
  messageType: [
    {
      name: 'Amount',
      field: [
        {
          name: 'atomic',
          jsonName: 'atomic',
          number: 1,
          type: FieldDescriptorProto_Type.STRING,
          label: FieldDescriptorProto_Label.OPTIONAL
        }
      ]
    }
  ]
})

/** Registry that knows the type `tally.Amount`. */
export const amountRegistry = createFileRegistry(amountFile, () => undefined)
/** The type of amounts: a message with one field, the decimal text of the atomic units. */
export const amountSchema = present(amountRegistry.getMessage('tally.Amount'), 'tally.Amount')
const amountField = present(amountSchema.fields[0], 'field of tally.Amount')

/** A CEL value that holds an amount. */
export function amountValue(value: bigint): ReflectMessage {
  const message = reflect(amountSchema)
  message.set(amountField, value.toString())
  return message
}

/** The amount in a CEL value, or undefined. */
export function amountOf(value: unknown): bigint | undefined {
  if (!isReflectMessage(value) || value.desc.typeName !== amountSchema.typeName) return undefined
  return BigInt(String(value.get(amountField)))
}

/** Paths below a value whose text is an amount; `*` stands for any one key or index. */
export type AmountPatterns = readonly (readonly string[])[]

/**
 * Copies plain JSON into CEL values: maps with sorted keys, safe integers as `int`, other numbers
 * as
 * `double` (JCS writes 1.0 as 1, so no other rule survives a round trip), amounts where the schema
 * says so. Throws `core.not_json` on anything else than plain own data.
 */
export function toCelValue(value: unknown, amounts: AmountPatterns, path: string): CelValue {
  return convert(value, amounts, path, 0)
}

function convert(value: unknown, amounts: AmountPatterns, path: string, depth: number): CelValue {
  if (amounts.some((pattern) => pattern.length === 0)) {
    if (typeof value === 'string' && isAmountText(value)) return amountValue(BigInt(value))
    throw new FailureSignal('type_error', `${path} is not an amount in atomic units`)
  }
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      if (!Number.isFinite(value)) throw notJson(path, `it is ${value}`)
      return Number.isSafeInteger(value) ? BigInt(value) : value
    case 'object':
      if (value === null) return null
      if (depth >= limits.JSON_DEPTH_MAX) throw notJson(path, 'it is nested too deep')
      if (types.isProxy(value)) throw notJson(path, 'it is a proxy')
      return Array.isArray(value)
        ? convertArray(value, amounts, path, depth)
        : convertObject(value, amounts, path, depth)
    default:
      throw notJson(path, `it is ${value === undefined ? 'undefined' : `a ${typeof value}`}`)
  }
}

function convertArray(
  value: readonly unknown[],
  amounts: AmountPatterns,
  path: string,
  depth: number
): CelList {
  if (!isArrayPrototype(Object.getPrototypeOf(value))) throw notJson(path, 'it is no plain array')
  const items: CelValue[] = []
  for (let index = 0; index < value.length; index += 1) {
    const key = String(index)
    const item = ownValue(value, key, path)
    items.push(convert(item, below(amounts, key), `${path}[${key}]`, depth + 1))
  }
  return celList(items)
}

function convertObject(
  value: object,
  amounts: AmountPatterns,
  path: string,
  depth: number
): CelMap {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (!isLiteralPrototype(prototype)) {
    throw notJson(path, 'it is no plain object')
  }
  const members = new Map<string, CelValue>()
  for (const key of Reflect.ownKeys(value).sort(byText)) {
    if (typeof key !== 'string') throw notJson(path, 'it has a symbol key')
    const member = ownValue(value, key, path)
    members.set(key, convert(member, below(amounts, key), `${path}.${key}`, depth + 1))
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

/** The patterns that remain one step further down. */
export function below(amounts: AmountPatterns, key: string): AmountPatterns {
  if (amounts.length === 0) return amounts
  return amounts
    .filter((pattern) => pattern[0] === key || pattern[0] === '*')
    .map((pattern) => pattern.slice(1))
}

function notJson(path: string, problem: string): TallyError {
  return new TallyError('core.not_json', { path, problem })
}

/**
 * The JSON of a CEL value; amounts become decimal strings. What JSON cannot carry fails as
 * `unrepresentable`: unsafe integers, NaN and infinities, bytes, types, timestamps, durations, maps
 * with other keys than text. Shared parts are paid for each time they appear.
 */
export function toJson(value: CelValue, budget: Budget, depth = 0): Json {
  budget.spend(1)
  switch (typeof value) {
    case 'string':
      budget.spendText(value.length)
      if (!value.isWellFormed()) throw unrepresentable('text with a lone surrogate')
      return value
    case 'boolean':
      return value
    case 'bigint':
      return safeNumber(Number(value))
    case 'number':
      return safeNumber(value)
    default:
  }
  if (value === null) return null
  if (depth >= limits.JSON_DEPTH_MAX) throw unrepresentable('a value nested too deep')
  if (isCelUint(value)) return safeNumber(Number(value.value))
  if (isCelList(value)) return Array.from(value, (item) => toJson(item, budget, depth + 1))
  if (isCelMap(value)) return Object.fromEntries(jsonEntries(value, budget, depth))
  const amount = amountOf(value)
  if (amount !== undefined) return amount.toString()
  throw unrepresentable(`a value of type ${typeName(value)}`)
}

function* jsonEntries(map: CelMap, budget: Budget, depth: number): Generator<[string, Json]> {
  for (const [key, member] of map) {
    if (typeof key !== 'string') throw unrepresentable('a map with keys other than text')
    yield [key, toJson(member, budget, depth + 1)]
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
