import { capabilityError } from '../../core/index.js'

/** An exact fraction of zero or more; the denominator is not zero. */
export interface Rational {
  readonly numerator: bigint
  readonly denominator: bigint
}

const decimalText = /^([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,3}))?$/

/**
 * The fraction that a decimal number is written as: 0.1 is one tenth, not the double next to it.
 * Throws `capability.invalid_score` for negative numbers and for what is no number.
 */
export function rationalOf(value: number | string, what = 'a number'): Rational {
  const match = decimalText.exec(String(value))
  if (match === null) {
    throw capabilityError('capability.invalid_score', { what, value: String(value).slice(0, 40) })
  }
  const [, whole = '0', fraction = '', exponent = '0'] = match
  const shift = Number(exponent) - fraction.length
  const digits = BigInt(whole + fraction)
  return shift >= 0
    ? { numerator: digits * 10n ** BigInt(shift), denominator: 1n }
    : { numerator: digits, denominator: 10n ** BigInt(-shift) }
}

/** reliability / (1 + cost + latency), semantics.md K4. */
export function scoreOf(
  score: {
    readonly cost?: number | string
    readonly latency?: number | string
    readonly reliability?: number | string
  },
  what: string
): Rational {
  const cost = rationalOf(score.cost ?? 0, `cost of ${what}`)
  const latency = rationalOf(score.latency ?? 0, `latency of ${what}`)
  const reliability = rationalOf(score.reliability ?? 1, `reliability of ${what}`)
  const shared = cost.denominator * latency.denominator
  const effort =
    shared + cost.numerator * latency.denominator + latency.numerator * cost.denominator
  return {
    numerator: reliability.numerator * shared,
    denominator: reliability.denominator * effort
  }
}

/** Negative when the left is less. */
export function compareRationals(left: Rational, right: Rational): number {
  const difference = left.numerator * right.denominator - right.numerator * left.denominator
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}
