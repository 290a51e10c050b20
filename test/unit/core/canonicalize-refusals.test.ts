import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  canonicalize,
  canonicalizeLedgerValue,
  canonicalizeOwnLedgerValue,
  isTallyError
} from '../../../src/core/index.js'
import { canonicalString } from '../../../src/core/json/canonicalize.js'

/** What `canonicalize` refuses, with the place and the reason that it gives. */

const hidden = (value: object, name: string) =>
  Object.defineProperty(value, name, { value: 1, enumerable: false })
const getter = (value: object, name: string) =>
  Object.defineProperty(value, name, { get: () => 1, enumerable: true })
const setter = (value: object, name: string) =>
  Object.defineProperty(value, name, { set: () => undefined, enumerable: true })
const cyclic: Record<string, unknown> = {}
cyclic['a'] = cyclic
const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)])
const tooDeep = 'it is nested deeper than 64 levels, or it is a cycle'

/** Values by what is said of them, and where; each stands in a list or object, too. */
const refused: readonly (readonly [problem: string, value: unknown, below?: string])[] = [
  ['it is undefined', undefined],
  ['it is NaN', Number.NaN],
  ['it is Infinity', Number.POSITIVE_INFINITY],
  ['it is -Infinity', Number.NEGATIVE_INFINITY],
  ['it is a bigint', 1n],
  ['it is a function', () => 1],
  ['it is a symbol', Symbol('s')],
  ['the string has a lone surrogate', '\ud800'],
  ['the string has a lone surrogate', 'a\udc00b'],
  ['a key has a lone surrogate', { '\ud800': 1 }],
  ['it has a symbol key', { [Symbol('s')]: 1, a: 1 }],
  ['it is not a plain object', new Date(0)],
  ['it is not a plain object', new Map()],
  ['it is not a plain object', Object(1)],
  ['it is not a plain object', Object.create({})],
  ['it is not a plain array', Object.setPrototypeOf([1], null)],
  ['it is not a plain array', new (class Many extends Array {})()],
  ['the array has holes or named properties', new Array(1)],
  ['the array has holes or named properties', Object.assign([1], { x: 1 })],
  ['the array has holes or named properties', Object.assign([1], { [Symbol('s')]: 1 })],
  ['it is a proxy', new Proxy({}, {})],
  ['it is a proxy', new Proxy([], {})],
  ['it is an accessor', getter({}, 'a'), '.a'],
  ['it is an accessor', setter({}, 'a'), '.a'],
  ['it is an accessor', getter([0, 1], '1'), '[1]'],
  ['it is an accessor', Object.assign(new Array(1), { x: 1 }), '[0]'],
  ['the property is not enumerable', hidden({ b: 1 }, 'a'), '.a'],
  ['the property is not enumerable', hidden([0, 1], '1'), '[1]']
]

function saidOf(act: () => unknown): unknown {
  try {
    return act()
  } catch (error) {
    if (!isTallyError(error)) throw error
    return { code: error.code, ...error.context }
  }
}

describe('a value that is no JSON', () => {
  const places: readonly (readonly [path: string, put: (value: unknown) => unknown])[] = [
    ['$', (value) => value],
    ['$.a', (value) => ({ b: 1, a: value })],
    ['$[1]', (value) => [0, value]],
    ['$.c[0].d', (value) => ({ a: true, b: null, c: [{ d: value }] })]
  ]
  const cases = refused.map(([problem, value, below = '']) => ({ problem, value, below }))
  it.each(cases)('is refused with where it is and why: $problem', ({ problem, value, below }) => {
    for (const [path, put] of places) {
      const said = { code: 'core.not_json', path: placed(path, below), problem }
      expect(saidOf(() => canonicalize(put(value)))).toEqual(said)
      expect(saidOf(() => canonicalizeLedgerValue(put(value)))).toEqual(said)
    }
  })

  // The place of an item that is an accessor is that of a member of the list.
  const placed = (path: string, below: string) => path + below.replace(/^\[(\d)\]$/, '.$1')

  it('is refused where it is nested too deep, and not a level before', () => {
    expect(canonicalize(nested(64))).toBe(`${'['.repeat(64)}1${']'.repeat(64)}`)
    const path = `$${'[0]'.repeat(64)}`
    expect(saidOf(() => canonicalize(nested(65)))).toEqual({
      code: 'core.not_json',
      path,
      problem: tooDeep
    })
    expect(saidOf(() => canonicalize(cyclic))).toMatchObject({ problem: tooDeep })
  })
})

describe('a value that is JSON', () => {
  it.each<[unknown, string]>([
    [null, 'null'],
    [true, 'true'],
    [false, 'false'],
    [-0, '0'],
    [[-0], '[0]'],
    [0.1, '0.1'],
    [1e-7, '1e-7'],
    [5e-324, '5e-324'],
    ['', '""'],
    ['é"\\\n', '"é\\"\\\\\\n"'],
    [[], '[]'],
    [{}, '{}'],
    [Object.create(null), '{}'],
    [[1, [2], 'a'], '[1,[2],"a"]'],
    [{ b: { d: 1, c: [] }, a: null }, '{"a":null,"b":{"c":[],"d":1}}'],
    [{ é: 1, '"': 2, '': 3 }, '{"":3,"\\"":2,"é":1}']
  ])('is written as RFC 8785 says: %j', (value, text) => {
    expect(canonicalize(value)).toBe(text)
    expect(canonicalizeLedgerValue(value)).toBe(text)
  })

  it.each(['', 'plain ~', 'é', '"', '\\', '\u0000', '\u007f', '\u{1f600}'])(
    'is one string literal: %j',
    (text) => {
      expect(canonicalString(text)).toBe(JSON.stringify(text))
    }
  )

  it('is written with the exponent of ECMAScript where a number is large', () => {
    expect(canonicalize([1e20, 1e21])).toBe('[100000000000000000000,1e+21]')
  })

  it('is no string literal with half a character', () => {
    expect(saidOf(() => canonicalString('a\ud800'))).toEqual({
      code: 'core.not_json',
      path: '$',
      problem: 'a string has a lone surrogate'
    })
  })

  it('has its keys in the order of UTF-16, however many there are', () => {
    const key = fc.string({ unit: fc.constantFrom('a', 'b', '0', '10', '\ue000', '\u{1f600}') })
    const keys = fc.uniqueArray(key, { maxLength: 40, size: 'max' })
    fc.assert(
      fc.property(keys, (names) => {
        const object = Object.fromEntries(names.map((name) => [name, name.length]))
        const members = [...names].sort().map((name) => `${JSON.stringify(name)}:${name.length}`)
        expect(canonicalize(object)).toBe(`{${members.join(',')}}`)
      })
    )
    for (const count of [15, 16, 17, 18]) {
      const names = Array.from({ length: count }, (_, at) => `k${(at * 7) % count}`)
      const object = Object.fromEntries(names.map((name) => [name, 0]))
      const sorted = [...new Set(names)].sort()
      expect(Object.keys(JSON.parse(canonicalize(object)) as object)).toEqual(sorted)
    }
  })

  it('is not looked at again where its text is known', () => {
    const inner = { a: 1 }
    const list = [1]
    const known = new Map<object, string>([
      [inner, 'KNOWN'],
      [list, 'LIST']
    ])
    expect(canonicalize({ x: inner, y: [inner, list] }, known)).toBe('{"x":KNOWN,"y":[KNOWN,LIST]}')
    expect(canonicalize({ x: inner })).toBe('{"x":{"a":1}}')
  })
})

describe('a value that the ledger does not keep', () => {
  it.each<[unknown, string, string]>([
    [2 ** 53, '$', 'the integer is outside the safe range'],
    [{ a: [0, -(2 ** 53)] }, '$.a[1]', 'the integer is outside the safe range'],
    [{ $: 1 }, '$', 'the key "$" is reserved'],
    [[{ a: { $blob: 1 } }], '$[0].a', 'the key "$blob" is reserved']
  ])('is refused with its place: %j', (value, path, problem) => {
    expect(saidOf(() => canonicalizeLedgerValue(value))).toEqual({
      code: 'core.not_ledger_value',
      path,
      problem
    })
    expect(typeof saidOf(() => canonicalize(value))).toBe('string')
  })

  it('is no reason to refuse a value of others', () => {
    const said = { code: 'core.not_json', path: '$.b', problem: 'it is undefined' }
    for (const member of [{ $a: 1 }, { a: 2 ** 60 }]) {
      expect(saidOf(() => canonicalize({ ...member, b: undefined }))).toEqual(said)
    }
    expect(saidOf(() => canonicalize([2 ** 60, 0.5, '$']))).toBe('[1152921504606847000,0.5,"$"]')
  })

  it.each([2 ** 53 - 1, -(2 ** 53) + 1, 0.5, 1.5e300 / 7e299, { a$: 1 }, { a: '$' }])(
    'is not this one: %j',
    (value) => {
      expect(canonicalizeLedgerValue(value)).toBe(JSON.stringify(value))
    }
  )
})

it('plain data is refused alike whoever has made it, where the ledger is to keep it', () => {
  const keys = fc.constantFrom('a', 'b', '$', '$a', 'a$', '__proto__')
  const big = fc.constantFrom(2 ** 53, -(2 ** 53), 2 ** 53 - 1, 1e300, 0.5, -0)
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.oneof(big, fc.constantFrom('x', '\ud800', null, true, undefined, Number.NaN)),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(keys, tie('value'), { maxKeys: 3, noNullPrototype: true })
    )
  }))
  fc.assert(
    fc.property(value, (given) => {
      const own = saidOf(() => canonicalizeOwnLedgerValue(given))
      expect(own).toEqual(saidOf(() => canonicalizeLedgerValue(given)))
    })
  )
})
