import {
  type CelFunc,
  type CelList,
  type CelMap,
  CelScalar,
  type CelType,
  type CelUint,
  type CelValue,
  celEnv,
  celFunc,
  celList,
  celMap,
  celMethod,
  celUint,
  isCelList,
  isCelMap,
  isCelUint,
  listType,
  mapType
} from '@bufbuild/cel'
import { limits, present } from '../../core/index.js'
import { FailureSignal } from '../failure.js'
import { compareCodePoints, parseDouble, parseInt64, parseUint64 } from '../text.js'
import type { Budget } from './budget.js'
import { elementOf, equalValues } from './equality.js'
import { typeName } from './values.js'

const { BOOL, BYTES, DOUBLE, DYN, INT, STRING, UINT } = CelScalar
const LIST = listType(DYN)
const MAP = mapType(DYN, DYN)
/**
 * The functions in which the profile differs from the engine (docs/decisions/0002-cel-engine.md):
 * stricter, or bounded, where the engine's own are lenient or depend on the host.
 */
export function profileOverrides(budget: Budget): readonly CelFunc[] {
  return [
    ...accessFunctions(),
    ...loopFunctions(budget),
    ...comparisonFunctions(budget),
    ...textFunctions(budget),
    ...conversionFunctions()
  ]
}

function accessFunctions(): readonly CelFunc[] {
  return [
    celFunc('@select', [DYN, STRING], DYN, (value, field) => member(value, field)),
    celFunc('@index', [DYN, DYN], DYN, (value, index) => member(value, index)),
    celFunc('@has', [DYN, STRING], BOOL, (value, field) => {
      if (!isCelMap(value)) throw wrongType(`has() of a ${typeName(value)}`)
      return value.get(field) !== undefined
    }),
    celFunc('@map', [LIST, LIST], MAP, mapOf)
  ]
}

function mapOf(keys: CelList, values: CelList): CelMap {
  const members = new Map<string | bigint | boolean | CelUint, CelValue>()
  const seen = new Set<string | bigint | boolean>()
  for (let index = 0; index < keys.size; index += 1) {
    const key = elementOf(keys, index)
    const value = elementOf(values, index)
    const plain = isCelUint(key) ? key.value : key
    if (typeof plain !== 'string' && typeof plain !== 'bigint' && typeof plain !== 'boolean') {
      throw wrongType(`map key of type ${typeName(key)}`)
    }
    if (seen.has(plain)) throw new FailureSignal('invalid_argument', 'a map key stands twice')
    seen.add(plain)
    members.set(isCelUint(key) ? key : plain, value)
  }
  return celMap(members)
}

/** The member of a map or list at a key or index. */
export function member(value: CelValue, key: CelValue): CelValue {
  const found = isCelMap(value)
    ? value.get(mapKey(key))
    : isCelList(value)
      ? value.get(listIndex(key))
      : undefined
  if (found !== undefined) return found
  if (!isCelMap(value) && !isCelList(value)) throw wrongType(`a member of a ${typeName(value)}`)
  const shown = typeof key === 'string' ? key : typeof key === 'bigint' ? `[${key}]` : 'a member'
  throw new FailureSignal('missing_reference', shown)
}

function mapKey(key: CelValue): Parameters<CelMap['get']>[0] {
  if (typeof key === 'string' || typeof key === 'bigint' || typeof key === 'boolean') return key
  if (typeof key === 'number' || isCelUint(key)) return key as Parameters<CelMap['get']>[0]
  throw wrongType(`a map key of type ${typeName(key)}`)
}

function listIndex(key: CelValue): number {
  if (typeof key === 'bigint') return Number(key)
  if (isCelUint(key)) return Number(key.value)
  if (typeof key === 'number' && Number.isInteger(key)) return key
  throw wrongType(`a list index of type ${typeName(key)}`)
}

function loopFunctions(budget: Budget): readonly CelFunc[] {
  const gathering = new WeakMap<CelList, CelValue[]>()
  return [
    celFunc('@tick', [DYN], DYN, (condition) => {
      budget.spend(1)
      return condition
    }),
    celFunc('@gather', [], LIST, () => {
      const items: CelValue[] = []
      const list = celList(items)
      gathering.set(list, items)
      return list
    }),
    celFunc('@append', [LIST, DYN], LIST, (list, item) => {
      present(gathering.get(list), 'list that a loop gathers').push(item)
      return list
    }),
    celFunc('_+_', [LIST, LIST], LIST, (left, right) => {
      const size = left.size + right.size
      if (size > limits.EXPRESSION_LIST_LENGTH_MAX)
        throw new FailureSignal('budget_exceeded', 'a list is too long')
      budget.spend(size)
      return celList([...left, ...right])
    })
  ]
}

function comparisonFunctions(budget: Budget): readonly CelFunc[] {
  const compared = (left: string, right: string) => {
    budget.spendText(Math.min(left.length, right.length))
    return compareCodePoints(left, right)
  }
  const inMap = (type: CelType) =>
    celFunc('@in', [type, MAP], BOOL, (key, map) => map.get(mapKey(key as CelValue)) !== undefined)
  return [
    celFunc('_==_', [DYN, DYN], BOOL, (left, right) => equalValues(left, right, budget)),
    celFunc('_!=_', [DYN, DYN], BOOL, (left, right) => !equalValues(left, right, budget)),
    celFunc('@in', [DYN, LIST], BOOL, (value, list) => {
      for (const item of list) {
        budget.spend(1)
        if (equalValues(value, item, budget)) return true
      }
      return false
    }),
    ...[STRING, INT, UINT, DOUBLE, BOOL].map(inMap),
    celFunc('_<_', [STRING, STRING], BOOL, (left, right) => compared(left, right) < 0),
    celFunc('_<=_', [STRING, STRING], BOOL, (left, right) => compared(left, right) <= 0),
    celFunc('_>_', [STRING, STRING], BOOL, (left, right) => compared(left, right) > 0),
    celFunc('_>=_', [STRING, STRING], BOOL, (left, right) => compared(left, right) >= 0)
  ]
}

function textFunctions(budget: Budget): readonly CelFunc[] {
  return [
    celFunc('_+_', [STRING, STRING], STRING, (left, right) => {
      sized(left, right, budget)
      return left + right
    }),
    celFunc('_+_', [BYTES, BYTES], BYTES, (left, right) => {
      sized(left, right, budget)
      const joined = new Uint8Array(left.length + right.length)
      joined.set(left)
      joined.set(right, left.length)
      return joined
    }),
    celMethod('contains', STRING, [STRING], BOOL, function (part) {
      budget.spendText(this.length + part.length)
      return this.includes(part)
    }),
    celFunc('size', [STRING], INT, (text) => codePoints(text, budget)),
    celMethod('size', STRING, [], INT, function () {
      return codePoints(this, budget)
    }),
    celFunc('bytes', [STRING], BYTES, (text) => {
      budget.spendText(text.length)
      return new TextEncoder().encode(text)
    }),
    celMethod('matches', STRING, [STRING], BOOL, function (pattern) {
      return matchesPattern(this, pattern, budget)
    })
  ]
}

/** Refuses what would be too long together, and pays for it. */
export function sized(
  left: { readonly length: number },
  right: { readonly length: number },
  budget: Budget
): void {
  const length = left.length + right.length
  if (length > limits.EXPRESSION_TEXT_LENGTH_MAX) {
    throw new FailureSignal('budget_exceeded', 'a text is too long')
  }
  budget.spendText(length)
}

const engineMatches = present(celEnv().funcs.find('matches'), 'the function matches')

/** Whether a text has a part that a pattern of RE2 describes. */
export function matchesPattern(text: string, pattern: string, budget: Budget): boolean {
  if (pattern.length > limits.EXPRESSION_PATTERN_LENGTH_MAX) {
    throw new FailureSignal('invalid_argument', 'the pattern is too long')
  }
  budget.spend(1 + (text.length >> 4) * (1 + (pattern.length >> 4)))
  const result = engineMatches.call(0, text, [pattern])
  if (typeof result === 'boolean') return result
  throw new FailureSignal('invalid_argument', 'the pattern is not a valid expression')
}

/** Characters of a text. */
export function codePoints(text: string, budget: Budget): bigint {
  budget.spendText(text.length)
  let count = 0
  for (const _ of text) count += 1
  return BigInt(count)
}

function conversionFunctions(): readonly CelFunc[] {
  return [
    celFunc('int', [STRING], INT, (text) => parseInt64(text)),
    celFunc('uint', [STRING], UINT, (text) => celUint(parseUint64(text))),
    celFunc('double', [STRING], DOUBLE, (text) => parseDouble(text))
  ]
}

function wrongType(what: string): FailureSignal {
  return new FailureSignal('type_error', `there is no ${what}`)
}
