import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalize, limits, Redactor } from '../../../src/core/index.js'
import { cases } from '../../support/effort.js'

/** Where a redactor finds secrets, which of them it names, and what of a text is settled. */

function redactorOf(secrets: Readonly<Record<string, string>>): Redactor {
  const redactor = new Redactor()
  for (const [name, secret] of Object.entries(secrets)) redactor.know(name, secret)
  return redactor
}

const three = redactorOf({ a: 'abcdefgh', b: 'efghijklm', c: '12345678' })

describe('the places of secrets', () => {
  it.each<[string, readonly (readonly [number, number, string])[]]>([
    ['', []],
    ['abcdefg', []],
    ['abcdefgh', [[0, 8, 'a']]],
    ['xabcdefghx', [[1, 9, 'a']]],
    [
      'abcdefghabcdefgh',
      [
        [0, 8, 'a'],
        [8, 16, 'a']
      ]
    ],
    [
      'abcdefgh12345678',
      [
        [0, 8, 'a'],
        [8, 16, 'c']
      ]
    ],
    [
      '12345678 abcdefgh',
      [
        [0, 8, 'c'],
        [9, 17, 'a']
      ]
    ],
    // What overlaps is one place, named for the longest that is in it.
    ['abcdefghijklm', [[0, 13, 'b']]],
    ['%61bcdefgh!', [[0, 10, 'a']]],
    ['\\u0061bcdefg\\u0068!', [[0, 18, 'a']]],
    ['%2561bcdefgh!', [[0, 12, 'a']]],
    ['%61%62%63%64%65%66%67%68', [[0, 24, 'a']]],
    ['a\\/bcdefgh', []]
  ])('in %j', (text, places) => {
    expect(three.places(text)).toEqual(
      places.map(([from, to, reference]) => ({ from, to, reference }))
    )
    expect(three.finds(text)).toBe(places.length > 0)
  })

  it('are joined along a chain of any length, and named for the first of equal lengths', () => {
    const chain = redactorOf({ a: 'abcdefgh', b: 'ghabcdef', c: 'efghabcdefghabcd' })
    expect(chain.places('abcdefghabcdef')).toEqual([{ from: 0, to: 14, reference: 'a' }])
    expect(chain.places('abcdefghabcdefghabcdefgh')).toEqual([{ from: 0, to: 24, reference: 'c' }])
    const nested = redactorOf({ in: 'bcdefghi', out: 'abcdefghijk', behind: 'ijklmnop' })
    expect(nested.places('abcdefghijklmnop.bcdefghi')).toEqual([
      { from: 0, to: 16, reference: 'out' },
      { from: 17, to: 25, reference: 'in' }
    ])
  })

  it.each<[string, Record<string, string>, string]>([
    ['the second', { a: 'aaaabbbb', b: 'bbbbccccdd', c: 'ccccddeee' }, '!!!![b]'],
    ['the first', { a: 'aaaaaaaabbbb', b: 'bbbbcccc', c: 'ccccddddd' }, '!!!![a]'],
    ['the third', { a: 'aaaabbbb', b: 'bbbbccccc', c: 'cccccddddd' }, '!!!![c]']
  ])('are named for the longest of a chain, %s', (_, secrets, clean) => {
    const [one = '', two = '', three = ''] = Object.values(secrets)
    const shared = (left: string, right: string) => {
      let length = Math.min(left.length, right.length)
      while (!left.endsWith(right.slice(0, length))) length -= 1
      return right.slice(length)
    }
    const text = `!!!!${one}${shared(one, two)}${shared(two, three)}`
    expect(redactorOf(secrets).text(text)).toBe(clean)
  })

  it('are named for what each secret was read under last, whenever a text was looked at', () => {
    const [outer, inner] = [0, 1] as const
    const learned = fc.record({
      by: fc.constantFrom(outer, inner),
      secret: fc.constantFrom('abcdefgh', '12345678', 'ABCDEFGH'),
      reference: fc.constantFrom('a', 'b', 'c', 'd')
    })
    fc.assert(
      fc.property(fc.array(learned, { maxLength: 12 }), (all) => {
        const redactors = [new Redactor(), new Redactor()] as const
        redactors[outer].include(redactors[inner])
        const last = [new Map<string, string>(), new Map<string, string>()] as const
        for (const { by, secret, reference } of all) {
          redactors[by].know(reference, secret)
          last[by].set(secret, reference)
          // What it knows itself goes before what it includes.
          const expected = new Map([...last[inner], ...last[outer]])
          for (const [known, name] of expected)
            expect(redactors[outer].text(known)).toBe(`[${name}]`)
          for (const [known, name] of last[inner])
            expect(redactors[inner].text(known)).toBe(`[${name}]`)
        }
      }),
      { numRuns: cases({ usual: 60, long: 1100 }) }
    )
  })

  it('are none without a secret, and those of the secrets of all that is included', () => {
    const [outer, middle, inner] = [new Redactor(), new Redactor(), new Redactor()]
    outer.include(middle)
    middle.include(inner)
    expect(outer.places('abcdefgh')).toEqual([])
    expect(outer.settledLength('abcdefg')).toBe(7)
    inner.know('a', 'abcdefgh')
    expect(outer.isEmpty).toBe(false)
    expect(outer.text('abcdefgh')).toBe('[a]')
    middle.know('b', '12345678')
    expect(outer.text('12345678 abcdefgh')).toBe('[b] [a]')
    inner.know('c', 'ABCDEFGH')
    expect(outer.text('ABCDEFGH')).toBe('[c]')
    const other = redactorOf({ d: 'ijklmnop' })
    inner.include(other)
    expect(outer.text('ijklmnop')).toBe('[d]')
    expect([...outer.known()]).toEqual([
      ['12345678', 'b'],
      ['abcdefgh', 'a'],
      ['ABCDEFGH', 'c'],
      ['ijklmnop', 'd']
    ])
  })

  it('are those of what was learned on both sides since they were last asked for', () => {
    const [outer, inner] = [redactorOf({ a: 'abcdefgh' }), new Redactor()]
    expect(outer.finds('12345678')).toBe(false)
    outer.know('c', '12345678')
    outer.include(inner)
    expect(outer.text('12345678')).toBe('[c]')
    outer.know('d', 'ABCDEFGH')
    inner.know('e', 'ijklmnop')
    expect(outer.text('ABCDEFGH ijklmnop')).toBe('[d] [e]')
  })

  it('are those of as many secrets as a redactor knows', () => {
    const redactor = new Redactor()
    const secretAt = (at: number) => `secret${String(at).padStart(6, '0')}`
    for (let at = 0; at < limits.SECRETS_KNOWN_MAX; at += 1) redactor.know(`r${at}`, secretAt(at))
    expect(redactor.text(secretAt(0))).toBe('[r0]')
    expect([...redactor.known()]).toHaveLength(limits.SECRETS_KNOWN_MAX)
    redactor.know('next', 'abcdefgh')
    expect(redactor.text(`${secretAt(0)} ${secretAt(1)}`)).toBe(`${secretAt(0)} [r1]`)
  })

  it('are those of secrets from their shortest length on, without the blanks around them', () => {
    const redactor = redactorOf({ short: '1234567', exact: ' abcdefgh\n' })
    expect(redactor.text('1234567 abcdefgh')).toBe('1234567 [exact]')
    expect(redactor.exempt).toEqual(['short'])
  })

  it('names a bounded number of secrets that are too short, each once', () => {
    const [redactor, inner] = [new Redactor(), new Redactor()]
    redactor.include(inner)
    inner.know('short-0', '1')
    for (let at = 0; at <= limits.SECRETS_KNOWN_MAX; at += 1) redactor.know(`short-${at}`, '1')
    expect(redactor.exempt).toHaveLength(limits.SECRETS_KNOWN_MAX)
    expect(redactor.exempt).not.toContain(`short-${limits.SECRETS_KNOWN_MAX}`)
  })
})

describe('JSON without secrets', () => {
  it('keeps numbers as they are that hold none, and all else', () => {
    const value = { n: 1.5, t: true, f: false, z: null, l: [] }
    expect(three.json(value)).toEqual(value)
    expect(three.canonical('{"a":1}')).toBe('{"a":1}')
    expect(three.json(12_345_678)).toBe('[c]')
    expect(three.json(912_345_678.5)).toBe('9[c].5')
  })

  it('has a short mark where references of more bytes than characters are too long', () => {
    const redactor = redactorOf({ [`env:${'\u00e4'.repeat(28)}`]: '12345678' })
    const places = limits.VALUE_BYTES_MAX / 64
    const text = canonicalize(`12345678${'x'.repeat(24)}`.repeat(places))
    expect(redactor.canonical(text)).toBe(text.replaceAll('12345678', '[secret]'))
    expect(redactor.text('12345678')).toBe(`[env:${'\u00e4'.repeat(28)}]`)
  })

  it.each([
    ['env:B', '[env:B]'],
    ['env:BB', '[env:BB]'],
    ['env:BBB', '[secret]']
  ])('has the reference %s where the longest text has room for it: %s', (reference, mark) => {
    const redactor = redactorOf({ [reference]: 'abcdefgh' })
    const before = 'x'.repeat(limits.VALUE_BYTES_MAX - 8)
    expect(redactor.text(`${before}abcdefgh`).slice(before.length)).toBe(mark)
  })

  it('has a short mark for all secrets where their references are too long', () => {
    const redactor = redactorOf({ ['file:/'.padEnd(limits.VALUE_BYTES_MAX, 'x')]: '12345678' })
    redactor.know('env:B', 'abcdefgh')
    expect(redactor.text('1 12345678 abcdefgh 2')).toBe('1 [secret] [secret] 2')
    expect(redactor.text('1 abcdefgh 2')).toBe('1 [env:B] 2')
    expect(redactor.canonical('{"a":["abcdefgh",12345678],"b":"12345678"}')).toBe(
      '{"a":["[secret]",null],"b":"[secret]"}'
    )
  })
})

describe('a text of which more may follow', () => {
  it.each([
    ['', 0],
    ['xyz', 3],
    ['xyz a', 4],
    ['xyz abcdefg', 4],
    ['xyz 12345678', 12],
    // The end of one may be the beginning of another.
    ['xyz abcdefgh', 4],
    ['abcdefgh1', 8],
    ['abcdefghijkl', 0],
    ['abcdefghijklm', 13],
    ['abcdefgh!', 9],
    ['xyz %', 4],
    ['xyz %6', 4],
    ['xyz %61', 4],
    ['xyz %2A', 7],
    ['xyz \\u006', 4],
    ['xyz \\u0061b', 4],
    ['xyz \\u002A', 10],
    ['ab%', 0],
    ['ab%25', 0],
    ['xyz %25', 4],
    ['xyz %252A', 9]
  ])('is settled up to where a secret may have begun: %j', (text, length) => {
    expect(three.settledLength(text)).toBe(length)
  })

  it('is settled so that no secret is cut, and what is held can become one', () => {
    const piece = fc.constantFrom(
      ...['abcd', 'efgh', 'ijklm', '1234', '5678', '!', '%', '61', '\\', 'u0061', '%2561', '\\n']
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (parts) => {
        const text = parts.join('')
        const settled = three.settledLength(text)
        const [before, behind] = [text.slice(0, settled), text.slice(settled)]
        expect(`${three.text(before)}${three.text(behind)}`).toBe(three.text(text))
      })
    )
  })
})
