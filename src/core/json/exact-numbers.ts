import { atOnce, type Pieces } from '../document/pieces.js'
import { inTurns, isSliceFull, passSteps } from '../document/work.js'
import { parseInTurns, reading } from './parse.js'
import type { Json } from './value.js'

/**
 * Numbers of JSON text from outside, with the digits that the text has.
 *
 * `JSON.parse` makes another number of what a double cannot hold: 1000000000000000001 becomes
 * ...000. Here such a number becomes its decimal text in quotes, so that a person, the ledger and a
 * tool see the digits that were said (semantics.md A7).
 */

/**
 * JSON text with each number in quotes that a ledger value cannot hold: integers beyond 2^53 - 1,
 * decimals that a double changes, and what is too large for one. Other text stays as it is, so text
 * that is no JSON stays none.
 *
 * @example exactNumbers('{"wei":1000000000000000001}') // '{"wei":"1000000000000000001"}'
 */
export function exactNumbers(text: string): string {
  return atOnce(exacting(text))
}

/** {@link exactNumbers} with turns of the event loop between the parts of a long text. */
export async function exactNumbersInTurns(text: string): Promise<string> {
  return text.length <= EXACT_AT_ONCE_LENGTH ? exactNumbers(text) : inTurns(exacting(text))
}

function* exacting(text: string): Pieces<string> {
  if (!suspicious.test(text)) return text
  const parts: string[] = []
  let copied = 0
  for (let at = 0; ; ) {
    stringOrNumber.lastIndex = at
    const found = stringOrNumber.exec(text)
    if (found === null) return parts.join('') + text.slice(copied)
    const [token] = found
    at = token === '"' ? stringEnd(text, found.index + 1) : found.index + token.length
    passSteps(STEPS_OF_TOKEN + (at - found.index) / CHARS_OF_STEP)
    if (isSliceFull()) yield
    if (token === '"' || !number.test(token) || isHeld(token) || isKey(text, at)) continue
    parts.push(text.slice(copied, found.index), `"${plainDecimal(token)}"`)
    copied = at
  }
}

const EXACT_AT_ONCE_LENGTH = 64 * 1024
const STEPS_OF_TOKEN = 4
const CHARS_OF_STEP = 16

/** The value of JSON text, with numbers as {@link exactNumbers} has them. Throws `SyntaxError`. */
export function exactJson(text: string): unknown {
  return JSON.parse(exactNumbers(text))
}

/** {@link exactJson} of a short text in one piece, and a strict reading of a long one in many. */
export function* exactReading(text: string): Pieces<unknown> {
  if (text.length <= EXACT_AT_ONCE_LENGTH) return exactJson(text)
  return yield* reading(yield* exacting(text))
}

/**
 * {@link exactJson} of a short text, {@link strictJsonInTurns} of a long one, which `JSON.parse`
 * would read in one call. Rejects with `SyntaxError` or `core.malformed_json`.
 */
export async function exactJsonInTurns(text: string): Promise<unknown> {
  return text.length <= EXACT_AT_ONCE_LENGTH ? exactJson(text) : strictJsonInTurns(text)
}

/** Strict JSON with exact numbers, in turns. Rejects with `core.malformed_json`. */
export async function strictJsonInTurns(text: string): Promise<Json> {
  return parseInTurns(await exactNumbersInTurns(text))
}

/** Whether text is a number in JSON's own form that a ledger value cannot hold. */
export function isUnheldNumber(text: string): boolean {
  return number.test(text) && !isHeld(text)
}

// Fifteen digits always survive a double, so shorter numbers without an exponent are passed over.
const suspicious = /[0-9.]{16}|[0-9][eE]/
const stringOrNumber = /"|[-+]?[0-9][0-9.+-]*[eE][0-9.eE+-]*|[-+]?[0-9][0-9.eE+-]{15,}/g
const number = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/

/** Digits that are written out; a number with more keeps its exponent. */
const PLAIN_DIGITS_MAX = 1_000

function stringEnd(text: string, from: number): number {
  for (let at = from; ; ) {
    const quote = text.indexOf('"', at)
    if (quote === -1) return text.length
    let slashes = 0
    while (text[quote - 1 - slashes] === '\\' && quote - 1 - slashes >= from) slashes += 1
    at = quote + 1
    if (slashes % 2 === 0) return at
  }
}

// A number in the place of a key is no JSON; in quotes it would be.
function isKey(text: string, end: number): boolean {
  keyEnd.lastIndex = end
  return keyEnd.test(text)
}

const keyEnd = /[ \t\r\n]*:/y

function isHeld(token: string): boolean {
  const value = Number(token)
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
    return false
  }
  // So many digits survive a double where the exponent is far from its bounds.
  if (token.length <= 15 && Math.abs(value) > 1e-290) return true
  const said = decimalOf(token)
  const kept = decimalOf(String(value))
  return said.digits === kept.digits && said.exponent === kept.exponent
}

interface Decimal {
  readonly sign: string
  /** Without zeros at either end; empty for zero. */
  readonly digits: string
  /** Of the last digit. */
  readonly exponent: number
}

function decimalOf(token: string): Decimal {
  const [mantissa = '', exponentText = '0'] = token.toLowerCase().split('e')
  const sign = mantissa.startsWith('-') ? '-' : ''
  const [whole = '', fraction = ''] = mantissa.slice(sign.length).split('.')
  const leading = withoutZeros(whole + fraction)
  if (leading === '') return { sign, digits: '', exponent: 0 }
  const digits = leading.slice(0, lastDigit(leading) + 1)
  const zeros = leading.length - digits.length
  return { sign, digits, exponent: Number(exponentText) - fraction.length + zeros }
}

function withoutZeros(digits: string): string {
  let at = 0
  while (digits[at] === '0') at += 1
  return digits.slice(at)
}

function lastDigit(digits: string): number {
  let at = digits.length - 1
  while (digits[at] === '0') at -= 1
  return at
}

function plainDecimal(token: string): string {
  const { sign, digits, exponent } = decimalOf(token)
  const places = digits.length + Math.abs(exponent)
  if (!Number.isSafeInteger(exponent) || places > PLAIN_DIGITS_MAX) return token
  if (exponent >= 0) return sign + digits + '0'.repeat(exponent)
  const padded = digits.padStart(1 - exponent, '0')
  return `${sign}${padded.slice(0, exponent)}.${padded.slice(exponent)}`
}
