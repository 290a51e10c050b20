import {
  type CelFunc,
  type CelList,
  type CelValue,
  celEnv,
  isCelList,
  isCelMap,
  isCelUint
} from '@bufbuild/cel'
import { assert, present } from '../../core/index.js'
import { FailureSignal } from '../failure.js'
import { amountOf } from './amount-type.js'
import type { Budget } from './budget.js'
import { typeName } from './values.js'

const engineEquals = present(celEnv().funcs.find('_==_'), 'the operator ==')

/**
 * CEL equality, with amounts: an amount equals an amount or an integer of the same value, and
 * comparing it with text or a double is an error, never silently false (semantics.md W4).
 */
export function equalValues(left: CelValue, right: CelValue, budget: Budget): boolean {
  if (typeof left === 'string' && typeof right === 'string') {
    if (left.length === right.length) budget.spendText(left.length)
    return left === right
  }
  if (isCelList(left) && isCelList(right)) {
    if (left.size !== right.size) return false
    budget.spend(left.size)
    for (let index = 0; index < left.size; index += 1) {
      if (!equalValues(elementOf(left, index), elementOf(right, index), budget)) return false
    }
    return true
  }
  if (isCelMap(left) && isCelMap(right)) {
    if (left.size !== right.size) return false
    budget.spend(left.size)
    for (const [key, value] of left) {
      const other = right.get(key)
      if (other === undefined || !equalValues(value, other, budget)) return false
    }
    return true
  }
  const amount = amountOf(left) ?? amountOf(right)
  if (amount === undefined) return engineEqual(left, right)
  return sameAmount(left) === sameAmount(right)
}

/** The element at an index that the list is known to have; it may be null. */
export function elementOf(list: CelList, index: number): CelValue {
  const value = list.get(index)
  assert(value !== undefined, 'a list is shorter than its size')
  return value
}

function sameAmount(value: CelValue): bigint | null {
  const amount = amountOf(value)
  if (amount !== undefined) return amount
  if (typeof value === 'bigint') return value
  if (isCelUint(value)) return value.value
  if (value === null) return null
  const detail = `an amount cannot be compared with a ${typeName(value)}`
  throw new FailureSignal('type_error', detail)
}

function engineEqual(left: CelValue, right: CelValue): boolean {
  const result: ReturnType<CelFunc['call']> = engineEquals.call(0, undefined, [left, right])
  return result === true
}
