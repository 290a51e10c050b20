import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareRationals, rationalOf, scoreOf } from '../../../../src/capability/index.js'

const decimal = fc
  .tuple(fc.nat(999), fc.nat(999))
  .map(([whole, part]) => `${whole}.${String(part).padStart(3, '0')}`)

describe('rationals', () => {
  it('reads decimals exactly', () => {
    expect(rationalOf(0.1)).toEqual({ numerator: 1n, denominator: 10n })
    expect(rationalOf('12.50')).toEqual({ numerator: 1250n, denominator: 100n })
    expect(rationalOf(1e-7)).toEqual({ numerator: 1n, denominator: 10_000_000n })
    expect(rationalOf(1e21)).toEqual({ numerator: 10n ** 21n, denominator: 1n })
  })

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY, '-0.5', '', '1e9999', '0x10', '1.', '.5'])(
    'refuses %j',
    (value) => {
      expect(() => rationalOf(value)).toThrow(
        expect.objectContaining({ code: 'capability.invalid_score' })
      )
    }
  )

  it('K4: the score is reliability / (1 + cost + latency), without rounding', () => {
    const score = scoreOf({ cost: '0.1', latency: 0.2, reliability: '1.3' }, 'it')
    expect(compareRationals(score, { numerator: 1n, denominator: 1n })).toBe(0)
    expect(compareRationals(scoreOf({}, 'it'), { numerator: 1n, denominator: 1n })).toBe(0)
  })

  it('orders scores as integers do', () => {
    fc.assert(
      fc.property(decimal, decimal, decimal, decimal, (a, b, c, d) => {
        const thousandths = (text: string) => BigInt(text.replace('.', ''))
        const left = scoreOf({ reliability: a, cost: b }, 'left')
        const right = scoreOf({ reliability: c, latency: d }, 'right')
        const difference =
          thousandths(a) * (1000n + thousandths(d)) - thousandths(c) * (1000n + thousandths(b))
        const expected = difference < 0n ? -1 : difference > 0n ? 1 : 0
        expect(compareRationals(left, right)).toBe(expected)
        expect(compareRationals(right, left) + expected).toBe(0)
      })
    )
  })
})
