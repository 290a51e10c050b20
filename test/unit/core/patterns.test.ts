import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Found, Patterns } from '../../../src/core/secret/patterns.js'

/** Many patterns in one pass, against a search for each of them at every place. */

// Some of these differ in the upper byte alone, which the tables leave out.
const character = fc.constantFrom('a', 'b', 'š', 'ā')
const pattern = fc.string({ unit: character, minLength: 8, maxLength: 11 })
const patterns = fc.uniqueArray(pattern, { maxLength: 5 })
const piece = fc.oneof(fc.string({ unit: character, maxLength: 5 }), pattern)

function foundSlowly(sought: readonly string[], text: string): readonly Found[] {
  const found: Found[] = []
  for (let from = 0; from < text.length; from += 1) {
    for (const [pattern, one] of sought.entries()) {
      if (text.startsWith(one, from)) found.push({ from, to: from + one.length, pattern })
    }
  }
  return found
}

function openSlowly(sought: readonly string[], text: string): number {
  for (let from = 0; from < text.length; from += 1) {
    const rest = text.slice(from)
    if (sought.some((one) => one.length > rest.length && one.startsWith(rest))) return from
  }
  return text.length
}

const inOrder = (found: readonly Found[]) =>
  [...found].sort((left, right) => left.from - right.from || left.pattern - right.pattern)

describe('patterns in a text', () => {
  it('are found wherever they stand, and nowhere else', () => {
    const filled = fc.tuple(patterns, fc.array(fc.oneof(piece, fc.nat(4)), { maxLength: 6 }))
    fc.assert(
      fc.property(filled, ([sought, parts]) => {
        const put = (part: string | number) =>
          typeof part === 'string' ? part : (sought[part] ?? '')
        const text = parts.map(put).join('')
        const found = new Patterns(sought).find(text)
        expect(inOrder(found)).toEqual(foundSlowly(sought, text))
        expect(found.map(({ from }) => from)).toEqual(
          [...found.map(({ from }) => from)].sort((left, right) => left - right)
        )
        expect(new Patterns(sought).openAt(text)).toBe(openSlowly(sought, text))
      })
    )
  })

  it.each([
    ['abcdefgh', [0]],
    ['xabcdefgh', [1]],
    ['abcdefghabcdefgh', [0, 8]],
    ['abcdefg', []],
    ['abcdefgx', []],
    ['', []]
  ])('are found by their places in %j', (text, places) => {
    expect(new Patterns(['abcdefgh']).find(text).map(({ from }) => from)).toEqual(places)
  })

  it('may have begun at the longest end of a text that one of them begins with', () => {
    const sought = new Patterns(['abcabcab', 'bcabcabcabc'])
    const open = ['', 'x', 'xa', 'xab', 'abcabca', 'abcabcab', 'xbcabcabcab', 'bcabcabcabc', 'bcx']
    expect(open.map((text) => sought.openAt(text))).toEqual([0, 1, 1, 1, 0, 1, 1, 3, 3])
    expect(new Patterns([]).openAt('abc')).toBe(3)
    expect(new Patterns([]).find('abcabcabc')).toEqual([])
  })
})
