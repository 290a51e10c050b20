import {
  type CelFunc,
  CelScalar,
  type CelValue,
  celFunc,
  celList,
  isCelList,
  isCelMap
} from '@bufbuild/cel'
import { limits } from '../../core/index.js'
import { mulDiv, parseAmount, toAtomic, toHuman } from '../amount.js'
import {
  compareDecimals,
  type Decimal,
  decimalArithmetic,
  decimalText,
  type Pay,
  parseDecimal,
  power,
  truncated,
  whole
} from '../decimal.js'
import { FailureSignal } from '../failure.js'
import { AIS_PREFIX } from '../profile.js'
import { compareCodePoints } from '../text.js'
import { roundingOf } from './amounts.js'
import type { Budget } from './budget.js'
import { decimalValue, numberOf } from './decimals.js'
import { elementOf } from './equality.js'
import { codePoints, matchesPattern, member, sized } from './functions.js'
import { typeName } from './values.js'

const { DYN } = CelScalar
const NUMBERS_MAX = 8

/**
 * The functions and operators of the profile of AIS (docs/spec/ais-cel.md). They stand under names
 * of their own, so that none of CEL's own, which round or wrap, is ever called.
 */
export function aisFunctions(budget: Budget): readonly CelFunc[] {
  const pay: Pay = (steps) => {
    if (steps > 0) budget.spend(steps)
  }
  return [
    ...arithmetic(budget, pay),
    ...comparisons(budget, pay),
    ...texts(budget),
    ...conversions(budget, pay),
    ...numbers(budget, pay),
    ...scaling(budget, pay)
  ]
}

type Apply = (...args: CelValue[]) => CelValue

/** A function of any arguments, each call of which is a step. */
function aisFunc(name: string, count: number, budget: Budget, apply: Apply): CelFunc {
  const args = Array.from({ length: count }, () => DYN)
  return celFunc(`${AIS_PREFIX}${name}`, args, DYN, (...given: CelValue[]) => {
    budget.spend(1)
    return apply(...given)
  })
}

function arithmetic(budget: Budget, pay: Pay): readonly CelFunc[] {
  const operators = (['+', '-', '*', '/', '%'] as const).map((symbol) =>
    aisFunc(`_${symbol}_`, 2, budget, (left = null, right = null) => {
      const [a, b] = [numberOf(left), numberOf(right)]
      if (a !== undefined && b !== undefined) {
        return written(decimalArithmetic(symbol, a, b, pay), left, right)
      }
      if (symbol === '+') return joined(left, right, budget, pay)
      throw mixed(symbol, left, right)
    })
  )
  const negated = aisFunc('-_', 1, budget, (value = null) => {
    const { int, scale } = demanded(value)
    return written({ int: -int, scale }, value)
  })
  const indexed = aisFunc('_[_]', 2, budget, (owner = null, key = null) => {
    const number = numberOf(key)
    return member(owner, number === undefined || number.scale > 0 ? key : number.int)
  })
  return [...operators, negated, indexed]
}

/** `+` where one side is text, or both are lists. */
function joined(left: CelValue, right: CelValue, budget: Budget, pay: Pay): CelValue {
  if (isCelList(left) && isCelList(right)) {
    const size = left.size + right.size
    if (size > limits.EXPRESSION_LIST_LENGTH_MAX) {
      throw new FailureSignal('budget_exceeded', 'a list is too long')
    }
    budget.spend(size)
    return celList([...left, ...right])
  }
  if (typeof left !== 'string' && typeof right !== 'string') throw mixed('+', left, right)
  const [a, b] = [textOf(left, pay), textOf(right, pay)]
  sized(a, b, budget)
  return a + b
}

function textOf(value: CelValue, pay: Pay): string {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return String(value)
  return decimalText(demanded(value), pay)
}

function comparisons(budget: Budget, pay: Pay): readonly CelFunc[] {
  const orders = {
    '_<_': (order: number) => order < 0,
    '_<=_': (order: number) => order <= 0,
    '_>_': (order: number) => order > 0,
    '_>=_': (order: number) => order >= 0
  }
  const isSame = (left: CelValue, right: CelValue) => sameValues(left, right, budget, pay)
  return [
    ...Object.entries(orders).map(([name, test]) =>
      aisFunc(name, 2, budget, (left = null, right = null) => {
        const [a, b] = [numberOf(left), numberOf(right)]
        if (a !== undefined && b !== undefined) return test(compareDecimals(a, b, pay))
        if (typeof left !== 'string' || typeof right !== 'string') throw mixed(name, left, right)
        budget.spendText(Math.min(left.length, right.length))
        return test(compareCodePoints(left, right))
      })
    ),
    aisFunc('_==_', 2, budget, (left = null, right = null) => isSame(left, right)),
    aisFunc('_!=_', 2, budget, (left = null, right = null) => !isSame(left, right)),
    aisFunc('@in', 2, budget, (value = null, owner = null) => {
      if (isCelMap(owner)) {
        const number = numberOf(value)
        const key = number === undefined || number.scale > 0 ? value : number.int
        if (typeof key === 'string' || typeof key === 'bigint' || typeof key === 'boolean') {
          return owner.get(key) !== undefined
        }
        throw mixed('in', value, owner)
      }
      if (!isCelList(owner)) throw mixed('in', value, owner)
      for (const item of owner) {
        budget.spend(1)
        if (isSame(value, item)) return true
      }
      return false
    })
  ]
}

/** Equality of two values of one type; null is a value of each. Others are compared by mistake. */
function sameValues(left: CelValue, right: CelValue, budget: Budget, pay: Pay): boolean {
  if (left === null || right === null) return left === right
  const [a, b] = [numberOf(left), numberOf(right)]
  if (a !== undefined && b !== undefined) return compareDecimals(a, b, pay) === 0
  if (typeof left === 'string' && typeof right === 'string') {
    if (left.length === right.length) budget.spendText(left.length)
    return left === right
  }
  if (typeof left === 'boolean' && typeof right === 'boolean') return left === right
  if (isCelList(left) && isCelList(right)) {
    if (left.size !== right.size) return false
    budget.spend(left.size)
    for (let index = 0; index < left.size; index += 1) {
      const isSame = sameValues(elementOf(left, index), elementOf(right, index), budget, pay)
      if (!isSame) return false
    }
    return true
  }
  if (isCelMap(left) && isCelMap(right)) {
    if (left.size !== right.size) return false
    budget.spend(left.size)
    for (const [key, value] of left) {
      const other = right.get(key)
      if (other === undefined || !sameValues(value, other, budget, pay)) return false
    }
    return true
  }
  throw mixed('==', left, right)
}

const blanks = ' \t\n\v\f\r'

/** Without blanks at both ends. */
function trimmed(text: string): string {
  let from = 0
  let to = text.length
  while (from < to && blanks.includes(text.charAt(from))) from += 1
  while (to > from && blanks.includes(text.charAt(to - 1))) to -= 1
  return text.slice(from, to)
}

function texts(budget: Budget): readonly CelFunc[] {
  const tests = {
    contains: (text: string, part: string) => text.includes(part),
    startsWith: (text: string, part: string) => text.startsWith(part),
    endsWith: (text: string, part: string) => text.endsWith(part),
    matches: (text: string, pattern: string) => matchesPattern(text, pattern, budget)
  }
  const changes = {
    // Only letters of ASCII: tables of others differ between versions of Node.
    lower: (text: string) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()),
    upper: (text: string) => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase()),
    trim: trimmed
  }
  return [
    ...Object.entries(tests).map(([name, test]) =>
      aisFunc(name, 2, budget, (text = null, part = null) => {
        if (typeof text !== 'string' || typeof part !== 'string') throw mixed(name, text, part)
        budget.spendText(text.length + part.length)
        return test(text, part)
      })
    ),
    ...Object.entries(changes).map(([name, change]) =>
      aisFunc(name, 1, budget, (text = null) => {
        if (typeof text !== 'string') throw wrongType(name, text)
        budget.spendText(text.length)
        return change(text)
      })
    ),
    aisFunc('size', 1, budget, (value = null) => {
      if (typeof value === 'string') return codePoints(value, budget)
      if (isCelList(value) || isCelMap(value)) return BigInt(value.size)
      throw wrongType('size', value)
    })
  ]
}

function conversions(budget: Budget, pay: Pay): readonly CelFunc[] {
  const number = (value: CelValue): Decimal =>
    typeof value === 'string' ? parseDecimal(value, pay) : demanded(value)
  const wholeOf = (value: CelValue): Decimal => {
    const found = number(value)
    if (typeof value !== 'string') return truncated(found, pay)
    if (found.scale === 0) return found
    throw new FailureSignal('invalid_argument', 'the text is not that of a whole number')
  }
  return [
    aisFunc('int', 1, budget, (value = null) => wholeOf(value).int),
    aisFunc('uint', 1, budget, (value = null) => {
      const found = wholeOf(value)
      if (found.int < 0n) throw new FailureSignal('overflow', 'uint() of a negative number')
      return found.int
    }),
    aisFunc('double', 1, budget, (value = null) => written(number(value), value)),
    aisFunc('string', 1, budget, (value = null) => textOf(value, pay)),
    aisFunc('bool', 1, budget, (value = null) => {
      if (typeof value === 'boolean') return value
      if (value === 'true' || value === 'false') return value === 'true'
      throw new FailureSignal('invalid_argument', 'bool() takes "true" and "false" alone')
    }),
    aisFunc('type', 1, budget, (value = null) => {
      const found = numberOf(value)
      if (found === undefined) return typeName(value)
      return found.scale === 0 ? 'int' : 'double'
    })
  ]
}

function numbers(budget: Budget, pay: Pay): readonly CelFunc[] {
  const extreme = (name: 'min' | 'max') => {
    const best = (values: readonly CelValue[]): CelValue => {
      const [first, ...others] = values
      if (first === undefined) throw new FailureSignal('invalid_argument', `${name} of nothing`)
      let found = first
      demanded(first)
      for (const other of others) {
        budget.spend(1)
        const order = compareDecimals(demanded(other), demanded(found), pay)
        if (name === 'min' ? order < 0 : order > 0) found = other
      }
      return found
    }
    return Array.from({ length: NUMBERS_MAX }, (_, index) =>
      aisFunc(name, index + 1, budget, (...values) => {
        const [only = null] = values
        return best(values.length === 1 && isCelList(only) ? [...only] : values)
      })
    )
  }
  return [
    ...extreme('min'),
    ...extreme('max'),
    aisFunc('abs', 1, budget, (value = null) => {
      const { int, scale } = demanded(value)
      return written({ int: int < 0n ? -int : int, scale }, value)
    }),
    ...(['floor', 'ceil', 'round'] as const).map((how) =>
      aisFunc(how, 1, budget, (value = null) => written(whole(how, demanded(value), pay), value))
    ),
    aisFunc('pow', 2, budget, (base = null, exponent = null) =>
      written(power(demanded(base), demanded(exponent), pay), base, exponent)
    )
  ]
}

function scaling(budget: Budget, pay: Pay): readonly CelFunc[] {
  const atomic = (value: CelValue): bigint => {
    if (typeof value === 'string') return parseAmount(value)
    const { int, scale } = demanded(value)
    if (scale === 0) return int
    throw new FailureSignal('invalid_argument', 'a number of atomic units is whole')
  }
  const decimals = (token: CelValue): bigint => {
    const given = isCelMap(token) ? (token.get('decimals') ?? null) : token
    const found = numberOf(given)
    if (found?.scale === 0) return found.int
    throw new FailureSignal('type_error', 'a token needs an integer "decimals"')
  }
  const scaled = (values: readonly CelValue[], rounding: string) => {
    const [a = 0n, b = 0n, c = 0n] = values.map(atomic)
    return decimalValue({ int: mulDiv(a, b, c, roundingOf(rounding)), scale: 0 })
  }
  return [
    aisFunc('to_atomic', 2, budget, (value = null, token = null) => {
      const text = typeof value === 'string' ? value : decimalText(demanded(value), pay)
      return decimalValue({ int: toAtomic(text, decimals(token)), scale: 0 })
    }),
    aisFunc('to_human', 2, budget, (value = null, token = null) =>
      toHuman(atomic(value), decimals(token))
    ),
    aisFunc('mul_div', 3, budget, (...values) => scaled(values, 'floor')),
    aisFunc('mul_div', 4, budget, (...values) => {
      const rounding = values[3]
      if (typeof rounding !== 'string') throw wrongType('mul_div', rounding ?? null)
      return scaled(values.slice(0, 3), rounding)
    })
  ]
}

/**
 * A number as CEL has it on. Whole numbers that come of JSON numbers and literals alone become JSON
 * numbers again; all others are text in JSON.
 */
function written(value: Decimal, ...from: readonly CelValue[]): CelValue {
  const isPlain = value.scale === 0 && from.every((one) => typeof one === 'bigint')
  return isPlain ? value.int : decimalValue(value)
}

function demanded(value: CelValue): Decimal {
  const found = numberOf(value)
  if (found !== undefined) return found
  throw new FailureSignal('type_error', `a ${nameOf(value)} is not a number`)
}

function mixed(operator: string, left: CelValue, right: CelValue): FailureSignal {
  const symbol = operator.replaceAll('_', '')
  return new FailureSignal('type_error', `${nameOf(left)} ${symbol} ${nameOf(right)}`)
}

function wrongType(name: string, value: CelValue): FailureSignal {
  return new FailureSignal('type_error', `${name}() of a ${nameOf(value)}`)
}

function nameOf(value: CelValue): string {
  return numberOf(value) === undefined ? typeName(value) : 'number'
}
