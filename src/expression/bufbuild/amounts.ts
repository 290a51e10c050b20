import {
  type CelFunc,
  CelScalar,
  type CelValue,
  celFunc,
  isCelMap,
  mapType,
  objectType
} from '@bufbuild/cel'
import {
  type AmountOperator,
  amountArithmetic,
  checked,
  mulDiv,
  parseAmount,
  type Rounding,
  toAtomic,
  toHuman
} from '../amount.js'
import { FailureSignal } from '../failure.js'
import { amountOf, amountSchema, amountValue } from './amount-type.js'
import { typeName } from './values.js'

const { BOOL, DYN, INT, STRING } = CelScalar
const MAP = mapType(DYN, DYN)
const AMOUNT = objectType(amountSchema)

/**
 * The amount type of the profile: functions, operators and comparisons (docs/spec/expressions.md).
 */
export function amountFunctions(): readonly CelFunc[] {
  return [...operators(), ...comparisons(), ...conversions(), ...scaling()]
}

function operators(): readonly CelFunc[] {
  const operator = (symbol: AmountOperator): readonly CelFunc[] => {
    const apply = (left: CelValue, right: CelValue) =>
      amountValue(amountArithmetic(symbol, whole(left), whole(right)))
    return [
      celFunc(`_${symbol}_`, [AMOUNT, AMOUNT], AMOUNT, apply),
      celFunc(`_${symbol}_`, [AMOUNT, INT], AMOUNT, apply),
      celFunc(`_${symbol}_`, [INT, AMOUNT], AMOUNT, apply)
    ]
  }
  return (['+', '-', '*', '/', '%'] as const).flatMap(operator)
}

function comparisons(): readonly CelFunc[] {
  const tests = {
    '_<_': (left: bigint, right: bigint) => left < right,
    '_<=_': (left: bigint, right: bigint) => left <= right,
    '_>_': (left: bigint, right: bigint) => left > right,
    '_>=_': (left: bigint, right: bigint) => left >= right
  }
  return Object.entries(tests).flatMap(([name, test]) => {
    const apply = (left: CelValue, right: CelValue) => test(whole(left), whole(right))
    return [
      celFunc(name, [AMOUNT, AMOUNT], BOOL, apply),
      celFunc(name, [AMOUNT, INT], BOOL, apply),
      celFunc(name, [INT, AMOUNT], BOOL, apply)
    ]
  })
}

function conversions(): readonly CelFunc[] {
  return [
    celFunc('amount', [STRING], AMOUNT, (text) => amountValue(parseAmount(text))),
    celFunc('amount', [INT], AMOUNT, (value) => amountValue(checked(value))),
    celFunc('amount', [AMOUNT], AMOUNT, (value) => value),
    celFunc('string', [AMOUNT], STRING, (value) => whole(value).toString())
  ]
}

function scaling(): readonly CelFunc[] {
  const scaled = (text: string, token: CelValue) => amountValue(toAtomic(text, decimalsOf(token)))
  const unscaled = (value: CelValue, token: CelValue) => toHuman(whole(value), decimalsOf(token))
  const divided = (a: CelValue, b: CelValue, c: CelValue, rounding = 'floor') =>
    amountValue(mulDiv(whole(a), whole(b), whole(c), roundingOf(rounding)))
  return [
    ...[INT, MAP].flatMap((token) => [
      celFunc('to_atomic', [STRING, token], AMOUNT, scaled),
      celFunc('to_atomic', [INT, token], AMOUNT, (value, of) => scaled(value.toString(), of)),
      celFunc('to_human', [DYN, token], STRING, unscaled)
    ]),
    celFunc('mul_div', [DYN, DYN, DYN], AMOUNT, (a, b, c) => divided(a, b, c)),
    celFunc('mul_div', [DYN, DYN, DYN, STRING], AMOUNT, divided)
  ]
}

function whole(value: CelValue): bigint {
  if (typeof value === 'bigint') return value
  if (typeof value === 'string') return parseAmount(value)
  const amount = amountOf(value)
  if (amount === undefined) {
    throw new FailureSignal('type_error', `a ${typeName(value)} is not an amount`)
  }
  return amount
}

function decimalsOf(token: CelValue): bigint {
  const decimals = isCelMap(token) ? token.get('decimals') : token
  if (typeof decimals === 'bigint') return decimals
  throw new FailureSignal('type_error', 'a token needs an integer "decimals"')
}

/** How a division rounds, by its name. */
export function roundingOf(text: string): Rounding {
  if (text === 'floor' || text === 'ceil') return text
  throw new FailureSignal('invalid_argument', 'rounding must be "floor" or "ceil"')
}
