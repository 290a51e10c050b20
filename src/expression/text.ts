import { FailureSignal } from './failure.js'

const integerText = /^[+-]?[0-9]{1,40}$/
const unsignedText = /^[0-9]{1,40}$/
const decimalText = /^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$/
const intMin = -(2n ** 63n)
const intMax = 2n ** 63n - 1n
const uintMax = 2n ** 64n - 1n

/**
 * Order of two texts by code point; UTF-16 order differs where surrogates meet U+E000 to U+FFFF.
 */
export function compareCodePoints(left: string, right: string): number {
  const shorter = Math.min(left.length, right.length)
  for (let index = 0; index < shorter; index += 1) {
    const a = left.charCodeAt(index)
    const b = right.charCodeAt(index)
    if (a === b) continue
    const isSurrogateA = a >= 0xd800 && a <= 0xdfff
    const isSurrogateB = b >= 0xd800 && b <= 0xdfff
    if (isSurrogateA !== isSurrogateB) return isSurrogateA ? 1 : -1
    return a - b
  }
  return left.length - right.length
}

/** A signed 64-bit integer from decimal digits; empty text, hexadecimal and spaces are refused. */
export function parseInt64(text: string): bigint {
  if (!integerText.test(text)) throw notNumber(text, 'an int')
  const value = text.startsWith('+') ? BigInt(text.slice(1)) : BigInt(text)
  if (value < intMin || value > intMax) throw outOfRange('int')
  return value
}

/** An unsigned 64-bit integer from decimal digits. */
export function parseUint64(text: string): bigint {
  if (!unsignedText.test(text)) throw notNumber(text, 'a uint')
  const value = BigInt(text)
  if (value > uintMax) throw outOfRange('uint')
  return value
}

/** A finite double from decimal text. */
export function parseDouble(text: string): number {
  if (text.length > 400 || !decimalText.test(text)) throw notNumber(text, 'a double')
  const value = Number(text)
  if (!Number.isFinite(value)) throw outOfRange('double')
  return value
}

/** Whether an integer fits CEL's `int`. */
export function isInt64(value: bigint): boolean {
  return value >= intMin && value <= intMax
}

/** Whether an integer fits CEL's `uint`. */
export function isUint64(value: bigint): boolean {
  return value >= 0n && value <= uintMax
}

function notNumber(text: string, kind: string): FailureSignal {
  const shown = JSON.stringify(text.slice(0, 80))
  return new FailureSignal('invalid_argument', `${shown} is not the text of ${kind}`)
}

function outOfRange(kind: string): FailureSignal {
  return new FailureSignal('overflow', `the value does not fit ${kind}`)
}
