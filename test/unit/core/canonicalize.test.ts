import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  atOnce,
  canonicalize,
  canonicalizeLedgerValue,
  canonicalizeOwn,
  canonicalizing,
  canonicalizingLedgerValue,
  DocumentWork,
  limits,
  parse
} from '../../../src/core/index.js'

describe('canonicalize', () => {
  it('writes keys in UTF-16 order, not insertion or integer order', () => {
    expect(canonicalize({ b: 1, '10': 2, '9': 3 })).toBe('{"10":2,"9":3,"b":1}')
    expect(canonicalize(JSON.parse('{"a":1,"__proto__":{"x":1}}'))).toBe(
      '{"__proto__":{"x":1},"a":1}'
    )
  })

  it('parse then canonicalize is the identity on canonical text', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const text = canonicalize(value)
        expect(canonicalize(parse(text))).toBe(text)
      })
    )
  })

  it('does not depend on the order in which keys were inserted', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.integer()), (object) => {
        const reversed = Object.fromEntries(Object.entries(object).reverse())
        expect(canonicalize(reversed)).toBe(canonicalize({ ...object }))
      })
    )
  })

  const cyclic: Record<string, unknown> = {}
  cyclic['self'] = cyclic
  it.each([
    ['undefined', undefined],
    ['NaN', Number.NaN],
    ['infinity', Number.POSITIVE_INFINITY],
    ['BigInt', 1n],
    ['a function', () => 1],
    ['a symbol', Symbol('s')],
    ['a symbol key', { [Symbol('s')]: 1 }],
    ['a member that is undefined', { a: undefined }],
    ['an accessor', Object.defineProperty({}, 'a', { get: () => 1, enumerable: true })],
    ['a hidden property', Object.defineProperty({}, 'a', { value: 1, enumerable: false })],
    ['a hole', [1, undefined, 3]],
    ['a named property on an array', Object.assign([1], { x: 1 })],
    ['a Date', new Date(0)],
    ['a Map', new Map()],
    ['a class instance', new (class A {})()],
    ['a proxy', new Proxy({}, {})],
    ['a cycle', cyclic],
    ['a lone surrogate', '\ud800'],
    ['a lone surrogate in a key', { '\ud800': 1 }],
    ['a boxed number', Object(1)],
    ['bytes', new Uint8Array(1)]
  ])('refuses %s', (_, value) => {
    expect(() => canonicalize(value)).toThrow(expect.objectContaining({ code: 'core.not_json' }))
  })

  it('refuses unsafe integers and reserved keys in ledger values only', () => {
    expect(canonicalize({ $blob: 2 ** 60 })).toBe('{"$blob":1152921504606847000}')
    expect(() => canonicalizeLedgerValue(2 ** 60)).toThrow(/safe range/)
    expect(() => canonicalizeLedgerValue({ $blob: 1 })).toThrow(/reserved/)
    expect(canonicalizeLedgerValue({ a: 0.5 })).toBe('{"a":0.5}')
  })
})

describe('parse', () => {
  it.each([
    ['a duplicate key', '{"a":1,"a":2}'],
    ['a byte-order mark', '\ufeff1'],
    ['an inexact integer', '9007199254740993'],
    ['overflow', '1e400'],
    ['a lone surrogate', '"\\ud800"'],
    ['trailing text', '1 2'],
    ['a leading zero', '01'],
    ['a trailing comma', '[1,]'],
    ['a control character', '"\u0001"'],
    ['too much depth', '['.repeat(1000) + ']'.repeat(1000)],
    ['nothing', '']
  ])('refuses %s', (_, text) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'core.malformed_json' }))
  })

  it('reads __proto__ as an ordinary key', () => {
    const value = parse('{"__proto__":{"polluted":true}}')
    expect(Object.keys(value as object)).toEqual(['__proto__'])
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  it('agrees with JSON.parse on what both accept', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parse(text)).toEqual(JSON.parse(text))
      })
    )
  })
})

describe('canonicalizing what the program has made itself', () => {
  it('gives the same text as for data of anybody', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6, stringUnit: 'binary' }), (value) => {
        const copy: unknown = JSON.parse(JSON.stringify(value))
        expect(canonicalizeOwn(copy)).toBe(canonicalize(copy))
      })
    )
  })

  it('gives the same text for more and longer keys than are kept', () => {
    const lengths = [1, limits.KEY_LITERAL_LENGTH_MAX, limits.KEY_LITERAL_LENGTH_MAX + 1]
    for (let n = 0; n < limits.KEY_LITERALS_MAX + 10; n += 1) {
      const keys = lengths.map((length) => `${n}`.padEnd(length, 'é'))
      const sorted = keys.toSorted().map((key) => `${JSON.stringify(key)}:${n}`)
      const value = Object.fromEntries(keys.map((key) => [key, n]))
      const text = `{${[...new Set(sorted)].join(',')}}`
      expect([canonicalizeOwn(value), canonicalize(value)]).toEqual([text, text])
    }
  })

  it('does not look for what only data of others can have', () => {
    const named = Object.assign([1, { b: 2 }], { c: 3 })
    const symbolic = { a: named, [Symbol('s')]: 4 }
    expect(canonicalizeOwn(symbolic)).toBe('{"a":[1,{"b":2}]}')
    expect(canonicalizeOwn(new Proxy({ a: 1 }, {}))).toBe('{"a":1}')
    const accessors = {
      get a() {
        return 1
      }
    }
    expect(canonicalizeOwn(accessors)).toBe('{"a":1}')
  })

  it('refuses what is no JSON before names that the ledger keeps for itself', () => {
    const said = { code: 'core.not_json', context: { path: '$.$a', problem: 'it is undefined' } }
    expect(() => canonicalizeOwn({ $a: undefined })).toThrow(expect.objectContaining(said))
  })

  const cyclic: Record<string, unknown> = {}
  cyclic['self'] = cyclic

  it.each([
    undefined,
    { a: undefined },
    [Number.NaN],
    { a: { b: 1n } },
    new Date(0),
    cyclic,
    ['\ud800'],
    { '\ud800': 1 },
    new Array(1)
  ])('refuses what is no JSON: %#', (value) => {
    expect(() => canonicalizeOwn(value)).toThrow(expect.objectContaining({ code: 'core.not_json' }))
  })
})

describe('canonicalizing in pieces', () => {
  const inPieces = (value: unknown) =>
    new DocumentWork().during(() => atOnce(canonicalizing(value)))
  const many = Array.from({ length: 200 }, (_, index) => ({ [`k${index}`]: [index, 'é', null] }))

  it('writes what is written at once, for large values too', () => {
    const values = fc.jsonValue({ maxDepth: 4 })
    fc.assert(
      fc.property(values, fc.string(), (value, key) => {
        const large = { b: many, [key]: value, a: [...many.keys()], again: { many } }
        expect(inPieces(large)).toBe(canonicalize(large))
      }),
      { numRuns: 20 }
    )
  })

  it('counts a step for each part of a large value, and for what is written, once', () => {
    const work = new DocumentWork()
    const list = Array.from({ length: 200 }, () => 'a text of 14 c')
    work.during(() => atOnce(canonicalizing([list, { list }, list])))
    // Each is looked into until it is known to be large, also what is around the list.
    const looks = 3 * 129 + 200
    expect(work.sliceSteps).toBe(looks / 4 + 200 * 2 + 3 + 1)
    work.during(() => canonicalize(list))
    expect(work.sliceSteps).toBe((200 * 17 + 1) / 16)
  })

  it('yields where a slice is full, and not before', () => {
    const slices = (first: string) => {
      const work = new DocumentWork()
      const pieces = canonicalizing([first, ...many])
      let count = 1
      while (work.during(() => pieces.next()).done !== true) count += 1
      return count
    }
    expect(slices('x')).toBe(1)
    expect(slices('x'.repeat(16 * limits.DOCUMENT_SLICE_STEPS))).toBe(2)
  })

  const under = (levels: number, value: unknown): unknown =>
    levels === 0 ? value : [under(levels - 1, value)]
  const nested = (levels: number) => under(levels, many)
  const ledgerInPieces = (value: unknown) =>
    new DocumentWork().during(() => atOnce(canonicalizingLedgerValue(value)))

  it('writes ledger values that are written at once', () => {
    for (const value of ['x', { b: [1, null], a: true }, { many, small: { z: 1, a: 2 } }]) {
      expect(ledgerInPieces(value)).toBe(canonicalizeLedgerValue(value))
      expect(atOnce(canonicalizing(value))).toBe(canonicalize(value))
    }
  })

  const cycle: Record<string, unknown> = { many }
  cycle['self'] = [cycle, cycle]
  it.each([
    ['a lone surrogate', { many, list: [...many, { bad: '\ud800' }] }],
    ['a key with a lone surrogate', { many, '\ud800': 1 }],
    ['a key with a lone surrogate before a value that is none', { many, '\ud800': undefined }],
    ['undefined', { many: [...many, undefined] }],
    ['undefined behind what no ledger keeps', { many: [...many, [{ $a: 2 ** 60 }, undefined]] }],
    ['a symbol behind it', { $a: 1, many, z: { $b: many, [Symbol('s')]: 1 } }],
    ['a member that is undefined', { many: { ...many, last: undefined } }],
    ['a symbol key', { many, [Symbol('s')]: 1 }],
    ['a symbol key below', { many: { list: many, [Symbol('s')]: 1 } }],
    ['more levels than are allowed', nested(70)],
    ['a level too many in a small part', [many, under(64, 1)]],
    ['a level too many in a small part of an object', { many, a: under(63, { b: [] }) }],
    ['an integer that no ledger keeps', { many, last: 2 ** 60 }],
    ['a key that the ledger has for itself', { many, last: { $a: 1 } }],
    ['such a key beside many values', { many, $a: 1 }],
    ['such a value alone', { $a: 2 ** 60 }],
    ['a cycle', cycle]
  ])('refuses %s with the words of writing at once', (_, value) => {
    const messageOf = (act: () => unknown) => {
      try {
        act()
      } catch (error) {
        return String(error)
      }
      return 'it was written'
    }
    expect(messageOf(() => inPieces(value))).toBe(messageOf(() => canonicalize(value)))
    const ledger = messageOf(() => canonicalizeLedgerValue(value))
    expect(ledger).not.toBe('it was written')
    expect(messageOf(() => ledgerInPieces(value))).toBe(ledger)
  })
})
