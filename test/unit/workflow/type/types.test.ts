import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Json, limits } from '../../../../src/core/index.js'
import { brokenConstraint, compareDecimals, typedAs } from '../../../../src/workflow/type/check.js'
import { isAisType, parseType } from '../../../../src/workflow/type/type.js'

const accepted: readonly (readonly [string, Json, Json])[] = [
  ['uint256', '0', '0'],
  ['uint256', 5, '5'],
  ['uint8', '255', '255'],
  ['int8', '-128', '-128'],
  ['token_amount', '1.23', '1.23'],
  ['token_amount', 'max', 'max'],
  ['token_amount', 5, '5'],
  ['bytes4', '0xa9059cbb', '0xa9059cbb'],
  ['bytes', '0x', '0x'],
  [
    'address',
    '0x893411580e590D62dDBca8a703d61Cc4A8c7b2b9',
    '0x893411580e590D62dDBca8a703d61Cc4A8c7b2b9'
  ],
  [
    'address',
    'PERPHjGBqRHArX4DySjwM6UJHiR3sWAatqfdBS2qQJu',
    'PERPHjGBqRHArX4DySjwM6UJHiR3sWAatqfdBS2qQJu'
  ],
  ['array<uint8>', [1, '2'], ['1', '2']],
  ['tuple<bool,string>', [true, 'a'], [true, 'a']],
  ['float', 0.5, 0.5]
]

const refused: readonly (readonly [string, Json])[] = [
  ['uint8', '256'],
  ['uint8', '-1'],
  ['int8', '128'],
  ['uint256', '1.5'],
  ['uint256', '01'],
  ['uint256', '1e3'],
  ['uint256', ''],
  ['uint256', 1.5],
  ['uint256', 2 ** 53],
  ['uint256', (2n ** 256n).toString()],
  ['token_amount', '-1'],
  ['token_amount', '.5'],
  ['token_amount', '1.'],
  ['token_amount', '1e2'],
  ['token_amount', ' 1'],
  ['token_amount', 0.1],
  ['bytes4', '0xa9059c'],
  ['bytes', '0xabc'],
  ['address', '0x1234'],
  [
    'asset',
    { chain_id: 'eip155:1', address: '0x893411580e590D62dDBca8a703d61Cc4A8c7b2b9', decimals: 78 }
  ],
  ['asset', { address: '0x' }],
  ['bool', 'true'],
  ['array<bool>', [true, 1]],
  ['tuple<bool,bool>', [true]]
]

describe('W4: types', () => {
  it.each(accepted)('%s takes %j', (type, value, canonical) => {
    expect(typedAs(type, value)).toEqual({ ok: true, value: canonical })
  })

  it.each(refused)('%s refuses %j', (type, value) => {
    expect(typedAs(type, value)).toMatchObject({ ok: false })
  })

  it.each([
    ['uint', true],
    ['uint7', false],
    ['uint264', false],
    ['bytes33', false],
    ['array<tuple<address,array<uint8>>>', true],
    ['array<>', false],
    ['map<string>', false]
  ])('knows whether %s is a type', (type, isOne) => {
    expect(isAisType(type)).toBe(isOne)
  })

  it('take the whole numbers of their bits, and no others', () => {
    const bits = fc.integer({ min: 1, max: 32 }).map((bytes) => bytes * 8)
    const given = fc.record({ bits, signed: fc.boolean(), negative: fc.boolean() })
    const near = fc.bigInt({ min: -2n, max: 2n })
    fc.assert(
      fc.property(given, fc.integer({ min: 0, max: 256 }), near, (type, exponent, by) => {
        const number = (type.negative ? -1n : 1n) * 2n ** BigInt(exponent) + by
        const name = `${type.signed ? '' : 'u'}int${type.bits}`
        const isOf = (type.signed ? BigInt.asIntN : BigInt.asUintN)(type.bits, number) === number
        expect(typedAs(name, `${number}`).ok).toBe(isOf)
      }),
      { numRuns: 2_000 }
    )
  })

  it('compares decimals exactly, far beyond doubles', () => {
    expect(compareDecimals('0.1', '0.10')).toBe(0)
    expect(compareDecimals('9007199254740993', '9007199254740992')).toBe(1)
    expect(compareDecimals('-1', '0')).toBe(-1)
    expect(compareDecimals('x', '0')).toBeUndefined()
  })

  it('keeps bounds', () => {
    expect(brokenConstraint('5', { min: '6' })).toBe('it is below 6')
    expect(brokenConstraint('5', { max: 4 })).toBe('it is above 4')
    expect(brokenConstraint('a', { enum: ['b'] })).toContain('none of')
    expect(brokenConstraint('ab', { pattern: '[a-z]' })).toContain('match')
    expect(brokenConstraint('5', { min: 5, max: '5', enum: ['5'], pattern: '[0-9]+' })).toBe(
      undefined
    )
  })
})

it('types are read alike for the first time, again, and when many were read before', () => {
  const many = Array.from({ length: limits.TYPES_KEPT_MAX + 8 }, (_, index) => {
    const digits = index.toString(2).padStart(11, '0').split('')
    return { text: `tuple<${digits.map((digit) => (digit === '0' ? 'bool' : 'int8'))}>`, digits }
  })
  for (let time = 0; time < 2; time += 1) {
    for (const { text, digits } of many) {
      const kinds = digits.map((digit) => (digit === '0' ? 'bool' : 'integer'))
      const type = parseType(text)
      expect(type?.kind === 'tuple' && type.members.map(({ kind }) => kind)).toEqual(kinds)
      expect(parseType(`${text}x`)).toBeUndefined()
    }
    expect(parseType(' uint8 ')).toEqual({ kind: 'integer', signed: false, bits: 8 })
  }
})
