import { FailureSignal } from './failure.js'

/** Largest amount: 2^256 - 1, the largest uint256. */
export const AMOUNT_MAX = 2n ** 256n - 1n
/** Most decimal places a token may have. */
export const TOKEN_DECIMALS_MAX = 77

const atomic = /^(0|[1-9][0-9]{0,77})$/
const human = /^([0-9]{1,128})(?:\.([0-9]{1,128}))?$/

/** Rounding of a division that does not come out even. */
export type Rounding = 'floor' | 'ceil'

/**
 * Whether text is an amount in atomic units: decimal digits, no leading zero, at most 2^256 - 1.
 */
export function isAmountText(text: string): boolean {
  return atomic.test(text) && BigInt(text) <= AMOUNT_MAX
}

/** Reads an amount in atomic units; anything else than plain decimal digits is a failure. */
export function parseAmount(text: string): bigint {
  if (!atomic.test(text)) {
    throw new FailureSignal('invalid_argument', `${quoted(text)} is not an amount in atomic units`)
  }
  return checked(BigInt(text))
}

/** Passes an amount on if it lies within 0 to 2^256 - 1, else fails as `overflow`. */
export function checked(value: bigint): bigint {
  if (value < 0n) throw new FailureSignal('overflow', 'an amount would be negative')
  if (value > AMOUNT_MAX) throw new FailureSignal('overflow', 'an amount would exceed 2^256 - 1')
  return value
}

/**
 * Atomic units of a decimal amount, exactly: more (non-zero) decimals than the token has fail.
 *
 * @example toAtomic('1.23', 6n) // 1230000n
 */
export function toAtomic(text: string, decimals: bigint): bigint {
  const places = checkedDecimals(decimals)
  const match = human.exec(text)
  if (match === null) {
    throw new FailureSignal('invalid_argument', `${quoted(text)} is not a decimal amount`)
  }
  const fraction = match[2] ?? ''
  if (/[1-9]/.test(fraction.slice(places))) throw tooPrecise(text, places)
  const digits = fraction.slice(0, places).padEnd(places, '0')
  return checked(BigInt(`${match[1] ?? '0'}${digits}`))
}

/**
 * Decimal text of an amount in atomic units, without trailing zeros.
 *
 * @example toHuman(1230000n, 6n) // '1.23'
 */
export function toHuman(value: bigint, decimals: bigint): string {
  const places = checkedDecimals(decimals)
  const digits = checked(value)
    .toString()
    .padStart(places + 1, '0')
  const whole = digits.slice(0, digits.length - places)
  const fraction = digits.slice(digits.length - places).replace(/0+$/, '')
  return fraction === '' ? whole : `${whole}.${fraction}`
}

/**
 * value * numerator / denominator, exact before one rounding; only the result must fit an amount.
 */
export function mulDiv(
  value: bigint,
  numerator: bigint,
  denominator: bigint,
  rounding: Rounding
): bigint {
  const product = checked(value) * checked(numerator)
  if (checked(denominator) === 0n) throw divisionByZero()
  const quotient = product / denominator
  const isEven = quotient * denominator === product
  return checked(rounding === 'ceil' && !isEven ? quotient + 1n : quotient)
}

/** The operators that amounts have. Division rounds down; a negative result is an overflow. */
export function amountArithmetic(operator: AmountOperator, left: bigint, right: bigint): bigint {
  switch (operator) {
    case '+':
      return checked(left + right)
    case '-':
      return checked(left - right)
    case '*':
      return checked(left * right)
    case '/':
      if (right === 0n) throw divisionByZero()
      return checked(left / right)
    case '%':
      if (right === 0n) throw divisionByZero()
      return checked(left % right)
  }
}

export type AmountOperator = '+' | '-' | '*' | '/' | '%'

function checkedDecimals(decimals: bigint): number {
  if (decimals < 0n || decimals > BigInt(TOKEN_DECIMALS_MAX)) {
    throw new FailureSignal('invalid_argument', `decimals must be 0 to ${TOKEN_DECIMALS_MAX}`)
  }
  return Number(decimals)
}

function tooPrecise(text: string, places: number): FailureSignal {
  return new FailureSignal('invalid_argument', `${quoted(text)} has more than ${places} decimals`)
}

function divisionByZero(): FailureSignal {
  return new FailureSignal('divide_by_zero', 'division of an amount by zero')
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}...` : text)
}
