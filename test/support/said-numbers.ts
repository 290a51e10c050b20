import fc from 'fast-check'
import type { Json } from '../../src/core/index.js'

/** Numbers as a model, a server or a client writes them, and what becomes of them. */

const digits = (least: number, most: number) =>
  fc
    .array(fc.integer({ min: 0, max: 9 }), { minLength: least, maxLength: most })
    .map((list) => list.join(''))

const whole = digits(1, 40).map((text) => text.replace(/^0+(?=.)/, ''))

const written = fc
  .record({
    sign: fc.constantFrom('', '-'),
    whole,
    fraction: fc.option(digits(1, 25), { nil: undefined }),
    exponent: fc.option(fc.integer({ min: -340, max: 340 }), { nil: undefined })
  })
  .map(({ sign, whole: before, fraction, exponent }) => {
    const point = fraction === undefined ? '' : `.${fraction}`
    return sign + before + point + (exponent === undefined ? '' : `e${exponent}`)
  })

/** Edges of what a double, and of what a ledger value holds. */
const edges = [
  '1000000000000000001',
  '-1000000000000000001',
  '9007199254740991',
  '9007199254740992',
  '9007199254740993',
  '9007199254740993.0',
  '18446744073709551615',
  '115792089237316195423570985008687907853269984665640564039457584007913129639935',
  '0.1',
  '0.30000000000000004',
  '0.3000000000000000444',
  '123456789.123456789123',
  '1.0',
  '1e21',
  '1e-7',
  '1e308',
  '1e309',
  '5e-324',
  '1e-400',
  '-0',
  '0e99'
]

/** JSON text of a number. */
export const saidNumber: fc.Arbitrary<string> = fc.oneof(fc.constantFrom(...edges), written)

/** Whether a value says the number that was written, as a JSON number only where one holds it. */
export function saysExactly(value: Json | undefined, text: string): boolean {
  if (typeof value === 'string') return !isHeld(text) && isEqual(value, text)
  return typeof value === 'number' && isHeld(text) && isEqual(String(value), text)
}

function isHeld(text: string): boolean {
  const value = Number(text)
  if (!Number.isFinite(value)) return false
  return (!Number.isInteger(value) || Number.isSafeInteger(value)) && isEqual(String(value), text)
}

/** Compared as whole numbers of a unit small enough for both. */
function isEqual(one: string, other: string): boolean {
  return scaled(one) === scaled(other)
}

const PLACES = 800

function scaled(text: string): bigint {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(text)
  if (match === null) throw new Error(`no number: ${text}`)
  const [, sign, before = '', fraction = '', exponent = '0'] = match
  const size =
    BigInt(before + fraction) * 10n ** BigInt(PLACES + Number(exponent) - fraction.length)
  return sign === '-' ? -size : size
}
