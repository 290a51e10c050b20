import { limits } from '../core/index.js'
import { FailureSignal } from './failure.js'

/** An exact decimal number, `int / 10^scale`, in its only form: a whole number has scale 0. */
export interface Decimal {
  readonly int: bigint
  readonly scale: number
}

/** Pays for work before it is done, in steps of an evaluation. */
export type Pay = (steps: number) => void

const plain = /^([+-]?)([0-9]+)(?:\.([0-9]+))?$/
const written = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,6}))?$/

/** A decimal out of digits with a point or without: the form that numbers have as text. */
export function parseDecimal(text: string, pay: Pay): Decimal {
  const match = plain.exec(text)
  if (match === null) throw notNumber(text)
  const [, sign = '', whole = '', fraction = ''] = match
  return ofDigits(sign, whole, { fraction, exponent: 0 }, pay)
}

/** A decimal as it is written in an expression: `1.5e-3`, `.5`. */
export function parseLiteral(text: string, pay: Pay): Decimal {
  const match = written.exec(text)
  if (match === null) throw notNumber(text)
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match
  return ofDigits(sign, whole, { fraction, exponent: Number(exponent) }, pay)
}

function ofDigits(
  sign: string,
  whole: string,
  { fraction, exponent }: { readonly fraction: string; readonly exponent: number },
  pay: Pay
): Decimal {
  const digits = `${whole}${fraction}`
  if (digits.length > limits.EXPRESSION_DIGITS_MAX) throw tooLong()
  const scale = fraction.length - exponent
  if (Math.abs(scale) > limits.EXPRESSION_DIGITS_MAX) throw tooLong()
  payFor(pay, limbsOfDigits(digits.length), limbsOfDigits(digits.length + Math.abs(scale)))
  const magnitude = BigInt(digits)
  const int = sign === '-' ? -magnitude : magnitude
  return scale >= 0 ? decimal(int, scale, pay) : decimal(int * tenTo(-scale), 0, pay)
}

/** The decimal `int / 10^scale`; fails as `overflow` when it has too many digits. */
export function decimal(int: bigint, scale: number, pay: Pay): Decimal {
  const found = scale === 0 ? { int, scale } : withoutZeros(int, scale, pay)
  const fits = isSmall(found.int) || (found.int > -most() && found.int < most())
  if (!fits || found.scale > limits.EXPRESSION_DIGITS_MAX) throw tooLong()
  return found
}

/** Its digits, with a point if it is no whole number. */
export function decimalText({ int, scale }: Decimal, pay: Pay): string {
  payFor(pay, limbsOf(int), limbsOf(int))
  if (scale === 0) return int.toString()
  const digits = (int < 0n ? -int : int).toString().padStart(scale + 1, '0')
  const at = digits.length - scale
  return `${int < 0n ? '-' : ''}${digits.slice(0, at)}.${digits.slice(at)}`
}

/** The operators on numbers. A quotient is exact or a failure; a remainder is of whole numbers. */
export function decimalArithmetic(
  operator: '+' | '-' | '*' | '/' | '%',
  left: Decimal,
  right: Decimal,
  pay: Pay
): Decimal {
  switch (operator) {
    case '+':
    case '-': {
      const { a, b, scale } = aligned(left, right, pay)
      return decimal(operator === '+' ? a + b : a - b, scale, pay)
    }
    case '*':
      payFor(pay, limbsOf(left.int), limbsOf(right.int))
      return decimal(left.int * right.int, left.scale + right.scale, pay)
    case '/':
      return quotient(left, right, pay)
    case '%':
      if (left.scale !== 0 || right.scale !== 0) {
        throw new FailureSignal('type_error', '% is of whole numbers')
      }
      if (right.int === 0n) throw divisionByZero()
      payFor(pay, limbsOf(left.int), limbsOf(right.int))
      return { int: left.int % right.int, scale: 0 }
  }
}

/** Order of two numbers: negative, 0 or positive. */
export function compareDecimals(left: Decimal, right: Decimal, pay: Pay): number {
  const { a, b } = aligned(left, right, pay)
  return a < b ? -1 : a > b ? 1 : 0
}

/** `base` to the power of a whole number. */
export function power(base: Decimal, exponent: Decimal, pay: Pay): Decimal {
  const { int: times, scale } = exponent
  if (scale !== 0 || times < 0n || times > BigInt(limits.EXPRESSION_EXPONENT_MAX)) {
    const most = limits.EXPRESSION_EXPONENT_MAX
    throw new FailureSignal('invalid_argument', `an exponent is a whole number from 0 to ${most}`)
  }
  let result: Decimal = { int: 1n, scale: 0 }
  // The highest bit first, so that no square is made that the result does not contain.
  for (const bit of times.toString(2)) {
    result = decimalArithmetic('*', result, result, pay)
    if (bit === '1') result = decimalArithmetic('*', result, base, pay)
  }
  return result
}

/** The whole number below, above, or nearest; of two as near, the one further from zero. */
export function whole(how: 'floor' | 'ceil' | 'round', { int, scale }: Decimal, pay: Pay): Decimal {
  if (scale === 0) return { int, scale }
  payFor(pay, limbsOf(int), limbsOfDigits(scale))
  const unit = tenTo(scale)
  const cut = int / unit
  const rest = int - cut * unit
  switch (how) {
    case 'floor':
      return { int: rest < 0n ? cut - 1n : cut, scale: 0 }
    case 'ceil':
      return { int: rest > 0n ? cut + 1n : cut, scale: 0 }
    case 'round':
      if (2n * (rest < 0n ? -rest : rest) < unit) return { int: cut, scale: 0 }
      return { int: rest < 0n ? cut - 1n : cut + 1n, scale: 0 }
  }
}

/** Without what stands behind the point. */
export function truncated(value: Decimal, pay: Pay): Decimal {
  return whole(value.int < 0n ? 'ceil' : 'floor', value, pay)
}

function aligned(left: Decimal, right: Decimal, pay: Pay) {
  const scale = Math.max(left.scale, right.scale)
  const shift = (one: Decimal): bigint => {
    if (one.scale === scale) return one.int
    payFor(pay, limbsOf(one.int), limbsOfDigits(scale - one.scale))
    return one.int * tenTo(scale - one.scale)
  }
  return { a: shift(left), b: shift(right), scale }
}

function quotient(left: Decimal, right: Decimal, pay: Pay): Decimal {
  if (right.int === 0n) throw divisionByZero()
  const { a, b } = aligned(left, right, pay)
  const size = Math.max(limbsOf(a), limbsOf(b))
  payFor(pay, WORK_OF_QUOTIENT * size, size)
  const divisor = b < 0n ? -b : b
  const dividend = b < 0n ? -a : a
  // a / b ends when what of b is neither a power of 2 nor of 5 divides a.
  const halved = divided(divisor, 2n)
  const { rest, times: fives } = divided(halved.rest, 5n)
  if (dividend % rest !== 0n) {
    throw new FailureSignal('invalid_argument', 'the quotient has no end; mul_div rounds')
  }
  const twos = halved.times
  const scale = Math.max(twos, fives)
  const raised = (dividend / rest) * 2n ** BigInt(scale - twos) * 5n ** BigInt(scale - fives)
  return decimal(raised, scale, pay)
}

/** How often a factor divides a number, by squares of the factor, and what remains. */
function divided(value: bigint, factor: bigint): { readonly rest: bigint; readonly times: number } {
  const squares: bigint[] = []
  for (let square = factor; square <= value && value % square === 0n; square *= square) {
    squares.push(square)
  }
  let rest = value
  let times = 0
  for (let index = squares.length - 1; index >= 0; index -= 1) {
    const square = squares[index] ?? factor
    while (rest % square === 0n) {
      rest /= square
      times += 2 ** index
    }
  }
  return { rest, times }
}

function withoutZeros(int: bigint, scale: number, pay: Pay): Decimal {
  if (int === 0n) return { int, scale: 0 }
  if (int % 10n !== 0n) return { int, scale }
  const size = limbsOf(int)
  payFor(pay, WORK_OF_QUOTIENT * size, size)
  let rest = int
  let left = scale
  for (let step = 2 ** Math.floor(Math.log2(scale)); step >= 1; step /= 2) {
    const unit = step <= left ? tenTo(step) : 0n
    if (unit === 0n || rest % unit !== 0n) continue
    rest /= unit
    left -= step
  }
  return { int: rest, scale: left }
}

function tenTo(exponent: number): bigint {
  return 10n ** BigInt(exponent)
}

let bound: bigint | undefined
function most(): bigint {
  bound ??= tenTo(limits.EXPRESSION_DIGITS_MAX)
  return bound
}

/** Words of 64 bits. Numbers of chains have at most four. */
function limbsOf(int: bigint): number {
  if (isSmall(int)) return 4
  return (int.toString(16).length >> 4) + 1
}

function limbsOfDigits(digits: number): number {
  return 1 + Math.ceil(digits / 19)
}

const small = 2n ** 256n
const leastSmall = -small

/** A bound of so many digits as the largest takes kilobytes each time that it is negated. */
function isSmall(int: bigint): boolean {
  return int > leastSmall && int < small
}

/** Divisions of a quotient, each as dear as a product. */
const WORK_OF_QUOTIENT = 32
/** Products of two words that are paid for as one step. */
const PRODUCTS_OF_STEP = 256

function payFor(pay: Pay, left: number, right: number): void {
  pay(Math.floor((left * right) / PRODUCTS_OF_STEP))
}

function notNumber(text: string): FailureSignal {
  const shown = JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}...` : text)
  return new FailureSignal('invalid_argument', `${shown} is not a decimal number`)
}

function tooLong(): FailureSignal {
  const digits = limits.EXPRESSION_DIGITS_MAX
  return new FailureSignal('overflow', `a number has more than ${digits} digits`)
}

function divisionByZero(): FailureSignal {
  return new FailureSignal('divide_by_zero', 'division by zero')
}
