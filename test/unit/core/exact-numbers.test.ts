import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exactJson, exactNumbers, isUnheldNumber } from '../../../src/core/index.js'

const held = [
  '0',
  '-0',
  '9007199254740991',
  '-9007199254740991',
  '0.1',
  '1.50',
  '100e-2',
  '1E5',
  '0.000000000000000000000',
  '123456789012345.5',
  '1.5000000000000000000',
  '-120.00000000000000000',
  '0.00000000000000000010',
  '1200000000000000000000e-20',
  '5e-324'
]
const unheld: readonly (readonly [string, string])[] = [
  ['9007199254740993', '9007199254740993'],
  ['9007199254740992', '9007199254740992'],
  ['-1000000000000000001', '-1000000000000000001'],
  ['1000000000000000001', '1000000000000000001'],
  ['0.12345678901234567', '0.12345678901234567'],
  ['0.10000000000000000001', '0.10000000000000000001'],
  ['-12.3456789012345678901', '-12.3456789012345678901'],
  ['1e21', '1000000000000000000000'],
  ['-1.25E+22', '-12500000000000000000000'],
  ['0.00012345678901234567891', '0.00012345678901234567891'],
  ['1e400', `1${'0'.repeat(400)}`],
  ['-1e-400', `-0.${'0'.repeat(399)}1`],
  ['12e999', '12e999'],
  ['1e999', `1${'0'.repeat(999)}`],
  ['1.5e308', `15${'0'.repeat(307)}`],
  ['1e1000', '1e1000'],
  ['1e99999999999999999999', '1e99999999999999999999']
]

describe('numbers of JSON text', () => {
  it.each(held)('stay as they are where a ledger value holds them: %s', (text) => {
    expect(isUnheldNumber(text)).toBe(false)
    expect(exactNumbers(`{"a":[${text},"x"]}`)).toBe(`{"a":[${text},"x"]}`)
  })

  it.each(unheld)('become their digits where none does: %s', (text, digits) => {
    expect(isUnheldNumber(text)).toBe(true)
    expect(exactNumbers(text)).toBe(`"${digits}"`)
    expect(exactNumbers(`{"a":[${text}, 1,${text}],"b":"${text}"}`)).toBe(
      `{"a":["${digits}", 1,"${digits}"],"b":"${text}"}`
    )
    expect(exactJson(`[${text}]`)).toEqual([digits])
  })

  it.each(['01234567890123456789', '+1e400', '1.e400', '.5e400', '1e400e1', '--1e400', '1e', ''])(
    'that JSON does not have do not become any: %j',
    (text) => {
      expect(isUnheldNumber(text)).toBe(false)
      expect(() => exactJson(`[${text},1e400]`)).toThrow(SyntaxError)
    }
  )

  it('are not looked for in strings, whatever is escaped in them', () => {
    for (const text of ['"1e400"', '"\\"1e400"', '"\\\\"', '"\\\\\\"1e400"', '"1e400']) {
      expect(exactNumbers(text)).toBe(text)
    }
    const digits = `"1${'0'.repeat(400)}"`
    expect(exactNumbers('["\\\\",1e400]')).toBe(`["\\\\",${digits}]`)
    expect(exactNumbers('["a\\\\\\"",1e400,"\\\\"]')).toBe(`["a\\\\\\"",${digits},"\\\\"]`)
    expect(exactNumbers('["",1e400]')).toBe(`["",${digits}]`)
  })

  it.each(['{1e400:1}', '{1e400 \t\r\n:1}'])(
    'stay no key of an object where they are none: %j',
    (text) => {
      expect(exactNumbers(text)).toBe(text)
      expect(() => exactJson(text)).toThrow(SyntaxError)
    }
  )

  it('have the value that their digits say', () => {
    const digits = fc.stringMatching(/^-?(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{1,30})?$/)
    fc.assert(
      fc.property(digits, fc.integer({ min: -40, max: 40 }), (mantissa, exponent) => {
        const found = exactJson(`${mantissa}e${exponent}`)
        if (typeof found === 'number') {
          expect(scaled(String(found))).toBe(scaled(`${mantissa}e${exponent}`))
        } else {
          expect(found).toMatch(/^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/)
          expect(scaled(String(found))).toBe(scaled(`${mantissa}e${exponent}`))
        }
      })
    )
  })
})

/** A decimal text as an integer of 10^-400. */
function scaled(text: string): bigint {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)([0-9]+)(?:\.([0-9]+))?(?:e([-+]?[0-9]+))?$/.exec(text) ?? []
  const places = 400 + Number(exponent) - fraction.length
  const value = BigInt(whole + fraction) * 10n ** BigInt(places)
  return sign === '-' ? -value : value
}
