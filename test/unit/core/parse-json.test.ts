import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../src/core/document/pieces.js'
import { isTallyError, type Json, parse } from '../../../src/core/index.js'
import { reading } from '../../../src/core/json/parse.js'

/** The strict reader: what it refuses, where and why; and what it shows while it reads. */

function saidOf(text: string): unknown {
  try {
    return { value: parse(text) }
  } catch (error) {
    if (!isTallyError(error)) throw error
    expect(error.code).toBe('core.malformed_json')
    const { offset, problem } = error.context
    return `${String(offset)}: ${String(problem)}`
  }
}

const expected = 'a value is expected'
const control = 'a control character or lone surrogate must be escaped'
const digits = 'four hex digits expected after \\u'
const inexact = 'the integer cannot be held exactly'

describe('a string of many escapes', () => {
  const ends = ['"', '\\x"', '\\u12G4"', '\n"', '', '\\ud800"', '\ud800"', '\\', '" ']

  it.each(ends)('reads as one of few does, up to the same place: %j', (end) => {
    for (const written of ['\\n', '\\u0041', 'a\\"', '\u00e9\\\\']) {
      const few = saidOf(`"${written.repeat(2)}${end}`)
      for (const count of [31, 32, 33, 3_000]) {
        const more = written.length * (count - 2)
        const said = saidOf(`"${written.repeat(count)}${end}`)
        if (typeof few === 'string') {
          const [offset = '', ...problem] = few.split(': ')
          // A lone surrogate that an escape makes is found at the beginning of the string.
          const place = offset === '0' ? 0 : Number(offset) + more
          expect(said).toBe([place, ...problem].join(': '))
        } else expect(said).toEqual({ value: JSON.parse(`"${written.repeat(count)}"`) })
      }
    }
  })
})

describe('JSON that is refused', () => {
  it.each([
    ['', `0: ${expected}`],
    [' \n', `2: ${expected}`],
    ['\ufeff1', '0: it begins with a byte-order mark'],
    ['1\ufeff', '1: there is text after the value'],
    ['1 2', '2: there is text after the value'],
    ['{}{}', '2: there is text after the value'],
    ['01', '1: there is text after the value'],
    ['1.', '1: there is text after the value'],
    ['1e', '1: there is text after the value'],
    ['.5', `0: ${expected}`],
    ['+1', `0: ${expected}`],
    ['-', `0: ${expected}`],
    ['[1,]', `3: ${expected}`],
    ['[,1]', `1: ${expected}`],
    ['[1 2]', '3: "," or "]" expected'],
    ['[1', '2: "," or "]" expected'],
    ['[1}', '2: "," or "]" expected'],
    ['[[]', '3: "," or "]" expected'],
    ['{"a":1', '6: "," or "}" expected'],
    ['{"a":1]', '6: "," or "}" expected'],
    ['{"a":{} "b"', '8: "," or "}" expected'],
    ['{"a" 1}', '5: ":" expected'],
    ['{"a"', '4: ":" expected'],
    ['{"a":}', `5: ${expected}`],
    ['{"a":1,}', '7: a key must be a string'],
    ['{a:1}', '1: a key must be a string'],
    ['{ 1:1}', '2: a key must be a string'],
    ['{', '1: a key must be a string'],
    ['[', `1: ${expected}`],
    ['{"a":1, "a":2}', '11: the key "a" stands twice'],
    ['{"\\u0061":1,"a":2}', '15: the key "a" stands twice'],
    ['{"__proto__":1,"__proto__":2}', '26: the key "__proto__" stands twice'],
    ['tru', `0: ${expected}`],
    ['[falsy]', `1: ${expected}`],
    ['nul', `0: ${expected}`],
    ['undefined', `0: ${expected}`],
    ['True', `0: ${expected}`],
    ['"abc', '4: the string does not end'],
    ['"', '1: the string does not end'],
    ['"a\nb"', `2: ${control}`],
    ['"\u0000"', `1: ${control}`],
    ['"\u001f"', `1: ${control}`],
    ['"\ud800"', '0: the string has a lone surrogate'],
    ['["\\ud800"]', '1: the string has a lone surrogate'],
    ['"\\udc00\\ud800"', '0: the string has a lone surrogate'],
    ['"\\x"', '1: unknown escape'],
    ['"\\', '1: unknown escape'],
    ['"\\U0061"', '1: unknown escape'],
    ['"\\u12"', `1: ${digits}`],
    ['"\\u12g4"', `1: ${digits}`],
    ['"\\u', `1: ${digits}`],
    ['1e400', '0: the number is too large'],
    ['[-1e400]', '1: the number is too large'],
    ['9007199254740993', `0: ${inexact}`],
    ['-9007199254740993', `0: ${inexact}`],
    ['\u00a01', `0: ${expected}`],
    ['1\u000b', '1: there is text after the value'],
    [`${'['.repeat(65)}`, '64: it is nested deeper than 64 levels'],
    [`${'{"a":'.repeat(65)}`, '320: it is nested deeper than 64 levels']
  ])('says where and why: %j', (text, said) => {
    expect(saidOf(text)).toBe(said)
  })
})

describe('JSON that is read', () => {
  it.each<[string, Json]>([
    [' \t\r\n1 \t\r\n', 1],
    ['-0', -0],
    ['0', 0],
    ['-12', -12],
    ['1.50', 1.5],
    ['1e5', 1e5],
    ['1E+05', 1e5],
    ['12e-1', 1.2],
    ['9007199254740991', 2 ** 53 - 1],
    ['9007199254740992', 2 ** 53],
    ['-9007199254740994', -9007199254740994],
    ['1152921504606847000', 2 ** 60],
    ['1152921504606846976', 2 ** 60],
    ['9007199254740993.0', 2 ** 53],
    ['9007199254740993e0', 2 ** 53],
    ['true', true],
    ['false', false],
    ['null', null],
    ['""', ''],
    ['" !#[]~\u007f\u2028é\u{1f600}"', ' !#[]~\u007f\u2028é\u{1f600}'],
    ['"\\"\\\\\\/\\b\\f\\n\\r\\t"', '"\\/\b\f\n\r\t'],
    ['"a\\u0041\\u00e9\\u00E9\\ud83d\\ude00z"', 'aAéé\u{1f600}z'],
    ['[]', []],
    ['[ ]', []],
    ['{}', {}],
    ['{\n}', {}],
    ['[ 1 , [ ] , { } , "a" ]', [1, [], {}, 'a']],
    ['{ "a" : 1 , "b" : { "c" : [ null ] } , "" : 2 }', { a: 1, b: { c: [null] }, '': 2 }],
    [`${'['.repeat(64)}${']'.repeat(64)}`, JSON.parse(`${'['.repeat(64)}${']'.repeat(64)}`)]
  ])('has the value that it says: %j', (text, value) => {
    expect(saidOf(text)).toEqual({ value })
  })

  it('makes a key that is called as a setter of all objects an ordinary member', () => {
    const value = parse('{"a":{"__proto__":{"b":1}},"constructor":1}') as Record<string, object>
    const inner = value['a'] ?? {}
    expect(Object.getOwnPropertyDescriptor(inner, '__proto__')).toEqual({
      value: { b: 1 },
      enumerable: true,
      writable: true,
      configurable: true
    })
    expect(Object.getPrototypeOf(inner)).toBe(Object.prototype)
    expect(value['constructor']).toBe(1)
  })

  it('is what JSON.parse reads, where a text is cut or changed, or it is refused', () => {
    const piece = fc.constantFrom(
      ...['', ' ', '"', ',', ':', '{', '}', '[', ']', '0', '-', '.', 'e', '\\', '\\u00e9', 'true']
    )
    const changed = fc.tuple(fc.json(), fc.nat(), fc.nat(2), piece)
    fc.assert(
      fc.property(changed, ([json, place, cut, put]) => {
        const at = place % (json.length + 1)
        const text = json.slice(0, at) + put + json.slice(at + cut)
        const said = saidOf(text)
        if (typeof said === 'object') {
          expect(said).toEqual({ value: JSON.parse(text) })
          return
        }
        const isOnlyStricter = /twice|lone surrogate|too large|exactly|deeper/.test(String(said))
        if (!isOnlyStricter) expect(() => JSON.parse(text)).toThrow()
      }),
      { numRuns: 500 }
    )
  })
})

describe('a reader of JSON that is watched', () => {
  it('shows each key, and each value where it ends, with its place', () => {
    const text = ' {"a": [1, "x", {}], "b":{"c":null}, "d": "" }'
    const seen: unknown[] = []
    atOnce(
      reading(text, {
        key: (key, offset) => seen.push(['key', key, text.slice(offset, offset + 2)]),
        value: (value, offset) => seen.push([structuredClone(value), offset])
      })
    )
    const a = text.indexOf('a"')
    const [b, c, d] = ['b"', 'c"', 'd"'].map((key) => text.indexOf(key))
    expect(seen).toEqual([
      ['key', 'a', 'a"'],
      [1, text.indexOf('1')],
      ['x', text.indexOf('x')],
      [{}, text.indexOf('{}')],
      [[1, 'x', {}], a],
      ['key', 'b', 'b"'],
      ['key', 'c', 'c"'],
      [null, c],
      [{ c: null }, b],
      ['key', 'd', 'd"'],
      ['', d],
      [{ a: [1, 'x', {}], b: { c: null }, d: '' }, 1]
    ])
  })

  it.each([
    ['"ab"', 'ab', 1],
    ['  7', 7, 2],
    [' []', [], 1],
    [' [[]]', [], 2]
  ])('shows a root that is no object: %j', (text, value, offset) => {
    const seen: unknown[] = []
    atOnce(reading(text, { key: () => seen.push('key'), value: (one, at) => seen.push([one, at]) }))
    expect(seen[0]).toEqual([value, offset])
  })
})
