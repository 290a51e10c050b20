import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CanonicalScan, canonicalize, isJsonObject, type Json } from '../../../src/core/index.js'

const scan = new CanonicalScan()

/** What {@link CanonicalScan} has to decide, by making the value and writing it. */
function isCanonical(text: string): boolean {
  try {
    return canonicalize(JSON.parse(text)) === text
  } catch {
    return false
  }
}

// Characters at which the order of bytes and that of UTF-16 differ, or that are escaped.
const character = fc.constantFrom(
  ...['a', 'b', '0', '1', '10', '$', ' ', '"', '\\', '/', '\b', '\t', '\n', '\f', '\r', '\u0001'],
  ...['\u001f', '\u007f', 'é', '漢', '\u2028', '\ue000', '\ufffd', '\u{1f600}', '__proto__']
)
const string = fc.string({ unit: character, maxLength: 4 })
const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    string,
    fc.boolean(),
    fc.constant(null),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(string, tie('value'), { maxKeys: 6 })
  )
}))
const piece = fc.constantFrom(
  ...[
    '',
    ' ',
    '"',
    ',',
    ':',
    '{',
    '}',
    '[',
    ']',
    '0',
    '1',
    '-',
    '.',
    'e5',
    'E',
    '+',
    'true',
    'nul'
  ],
  ...['\\u0001', '\\u000a', '\\u000b', '\\u001F', '\\u0041', '\\ud83d', '\\/', '\\n', '\ud83d'],
  ...['"a":1,', ',"z":0', '\u0000', '\n', '\ufeff', '"\\n":1,']
)

describe('CanonicalScan', () => {
  it('accepts every text that canonicalize writes, and gives its members', () => {
    fc.assert(
      fc.property(value, (json) => {
        const text = canonicalize(json)
        expect(scan.read(text)).toBe(true)
        expect(scan.bytes.toString()).toBe(text)
        expect(scan.bytesBehindZero.toString()).toBe(`\0${text}`)
        const parsed = JSON.parse(text) as Json
        if (scan.keepsOrder) expect(JSON.stringify(parsed)).toBe(text)
        if (!isJsonObject(parsed)) return
        const names = Object.keys(parsed).sort()
        names.forEach((name, number) => {
          const written = canonicalize(parsed[name])
          const { from, valueFrom, to } = scan.place(number)
          const literal = canonicalize(name)
          expect(scan.bytes.toString('utf8', valueFrom, to)).toBe(written)
          expect(scan.bytes.toString('utf8', from, to)).toBe(`${literal}:${written}`)
          if (/^\w+$/.test(name)) expect(scan.member(name)).toBe(written)
        })
        expect(scan.member('absent')).toBe(undefined)
      })
    )
  })

  it('refuses every text that its value is not written as', () => {
    const changed = fc.tuple(value, fc.nat(), fc.nat(2), piece, fc.boolean())
    fc.assert(
      fc.property(changed, ([json, place, cut, put, isCanonicalFirst]) => {
        const text = isCanonicalFirst ? canonicalize(json) : JSON.stringify(json)
        const at = place % (text.length + 1)
        const other = text.slice(0, at) + put + text.slice(at + cut)
        expect(scan.read(other)).toBe(isCanonical(other))
      }),
      { numRuns: 2_000 }
    )
  })

  it.each([
    ['nothing', ''],
    ['an object that does not end', '{"a":1'],
    ['a string that does not end', '"abc'],
    ['a control character before a letter of an escape', '"\u0001n"'],
    ['a line break before a letter of an escape', '"\nb"'],
    ['a comma at the end', '{"a":1,}'],
    ['a name twice', '{"a":1,"a":1}'],
    ['a name twice, with a value that is larger', '{"a":1,"a":2}'],
    ['a name twice, before another', '{"a":1,"a":1,"b":1}'],
    ['an empty name twice', '{"":1,"":2}'],
    ['a name twice, behind an escape', '{"\\n":0,"a":1,"a":2}'],
    ['a name twice beyond ASCII', '{"é":1,"é":1}'],
    ['a name behind one that begins with it', '{"aa":0,"a":0}'],
    ['a name behind one that ends later', '{"a!":0,"a":0}'],
    ['numbers with a point at the end', '1.'],
    ['an exponent that is written otherwise', '1E5'],
    ['a literal that goes on', 'truex'],
    ['names by the order of their integers', '{"2":0,"10":0}'],
    ['names by the order of their escapes', '{"\\n":0,"\\t":0}'],
    ['names by the order of their bytes', '{"\ue000":0,"\u{1f600}":0}'],
    ['a lone surrogate', '"\ud800"'],
    ['an escape that is not needed', '"\\u0061"'],
    ['a zero before an integer', '01'],
    ['minus zero', '-0'],
    ['an integer that a double cannot hold', '9007199254740993'],
    ['a number that is too large', '1e400'],
    ['white space', '{"a": 1}'],
    ['text behind the value', '{}{}'],
    ['more levels than are allowed', `${'['.repeat(65)}${']'.repeat(65)}`]
  ])('refuses %s', (_, text) => {
    expect(isCanonical(text)).toBe(false)
    expect(scan.read(text)).toBe(false)
  })

  it.each([
    ['names that look like integers', '{"10":0,"2":0}'],
    ['names beyond ASCII', '{"\u{1f600}":0,"\ue000":0}'],
    ['names that begin like the one before', '{"a":0,"a ":0,"a!":0,"a\\"":0,"aa":0}'],
    ['names that end before the one before', '{"":0," ":0,"é":0,"é ":0,"éé":0,"\u{1f600}":0}'],
    ['names of one level like those of another', '{"a":{"a":{"b":0}},"b":{"a":0}}'],
    ['as many levels as are allowed', `${'['.repeat(64)}${']'.repeat(64)}`],
    ['a long text', `["${'漢'.repeat(1_000_000)}"]`],
    [
      'many members',
      canonicalize(Object.fromEntries(Array.from('x'.repeat(500), (x, n) => [x + n, n])))
    ]
  ])('accepts %s', (_, text) => {
    expect(scan.read(text)).toBe(true)
  })

  it('tells whether a name begins with a digit, of the text that it read last', () => {
    const texts = ['{"10":0}', '{"a":{"2x":1}}', '{"a":"1","b":[2]}', '{"1":0}', '[1,2]']
    expect(
      texts.map((text) => {
        expect(scan.read(text)).toBe(true)
        return scan.keepsOrder
      })
    ).toEqual([false, false, true, false, true])
  })

  it('gives a member by its whole name alone', () => {
    expect(scan.read('{"":0,"ab":1,"abc":2,"b":[{"c":3}]}')).toBe(true)
    expect(['', 'ab', 'abc', 'b'].map((name) => scan.member(name))).toEqual([
      '0',
      '1',
      '2',
      '[{"c":3}]'
    ])
    for (const name of ['a', 'abcd', 'c', 'bc', 'x']) expect(scan.member(name)).toBe(undefined)
  })

  it('gives each of many members', () => {
    const names = Array.from({ length: 100 }, (_, at) => `x${100 + at}`)
    const text = canonicalize(Object.fromEntries(names.map((name, at) => [name, at])))
    // One that has read no text with so many before.
    const fresh = new CanonicalScan()
    expect(fresh.read(text)).toBe(true)
    expect(names.map((name) => fresh.member(name))).toEqual(names.map((_, at) => String(at)))
    expect(fresh.place(99).to).toBe(text.length - 1)
  })

  it('has no members beyond the last, nor of a list, nor of the text before', () => {
    expect(scan.read('{"a":1,"b":2}')).toBe(true)
    expect(() => scan.place(2)).toThrow('a member that is not there is asked for')
    expect(scan.read('[{"a":1}]')).toBe(true)
    expect(() => scan.place(0)).toThrow('a member that is not there is asked for')
    expect(scan.member('a')).toBe(undefined)
    // Where the second member stood is what could be taken for its name.
    expect(scan.read('{"a":1,"b":2}')).toBe(true)
    expect(scan.read('{"a":"xxb"}')).toBe(true)
    expect(scan.member('b')).toBe(undefined)
  })

  it('keeps its bytes for the next text, and those of a very long text for none', () => {
    const fresh = new CanonicalScan()
    const bytesOf = (length: number) => {
      const text = `"${'x'.repeat(length - 2)}"`
      expect(fresh.read(text)).toBe(true)
      expect(fresh.bytes.toString()).toBe(text)
      return fresh.bytes.buffer
    }
    const first = bytesOf(10)
    expect(bytesOf(16 * 1024 - 2)).toBe(first)
    const second = bytesOf(16 * 1024 - 1)
    expect(second).not.toBe(first)
    expect(bytesOf(10)).toBe(second)
    const largest = bytesOf(1024 * 1024 - 2)
    expect(bytesOf(10)).toBe(largest)
    const tooLarge = bytesOf(1024 * 1024 - 1)
    expect(bytesOf(1024 * 1024 - 1)).toBe(tooLarge)
    expect(bytesOf(1024 * 1024 - 2)).not.toBe(tooLarge)
    bytesOf(2 * 1024 * 1024)
    expect(bytesOf(10).byteLength).toBe(16 * 1024)
  })

  it('is not misled by what stands behind a shorter text from a longer one', () => {
    const long = '{"a":"nnnnnnnnnnnn","b":[1,2,3],"c":12345678901234}'
    for (let length = 1; length < long.length; length += 1) {
      expect(scan.read(long)).toBe(true)
      expect(scan.read(long.slice(0, length))).toBe(false)
    }
  })

  it('leaves members out, with the comma behind each', () => {
    expect(scan.read('{"a":1,"b":2}')).toBe(true)
    expect(scan.bytesWithout([0]).toString()).toBe('{"b":2}')
    const value = { a: 'x'.repeat(20_000), b: 'é'.repeat(20_000), c: 1 }
    expect(scan.read(canonicalize(value))).toBe(true)
    expect(scan.bytesWithout([0]).toString()).toBe(canonicalize({ b: value.b, c: 1 }))
    expect(scan.read('{"a":{"b":1},"b":[],"c":"x","d":1}')).toBe(true)
    expect(scan.bytesWithout([0, 2]).toString()).toBe('{"b":[],"d":1}')
    expect(scan.bytesWithout([]).toString()).toBe('{"a":{"b":1},"b":[],"c":"x","d":1}')
    expect(scan.bytesWithout([1, 2]).toString()).toBe('{"a":{"b":1},"d":1}')
    expect(scan.bytes.toString()).toBe('{"a":{"b":1},"b":[],"c":"x","d":1}')
  })
})
