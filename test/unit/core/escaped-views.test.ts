import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { limits } from '../../../src/core/index.js'
import { openEscapeAt, viewsOf } from '../../../src/core/secret/escapes.js'

/** S1: a text without its escapes, by tables and against a slow model that makes an object each. */

interface Unit {
  readonly text: string
  readonly from: number
  readonly to: number
}

const jsonEscape = /\\u([0-9a-fA-F]{4})|\\(["\\/bfnrt])|[\s\S]/g
const percentEscape = /%([0-9a-fA-F]{2})|[\s\S]/g
const letters: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/** The characters of a text without one kind of escapes, with their places in the text given. */
function slowly(units: readonly Unit[], escapes: RegExp): readonly Unit[] {
  const text = units.map((unit) => unit.text).join('')
  return [...text.matchAll(escapes)].map((match) => {
    const [whole, hex, letter] = match
    const escaped = letter === undefined ? undefined : (letters[letter] ?? letter)
    return {
      text: hex === undefined ? (escaped ?? whole) : String.fromCharCode(Number.parseInt(hex, 16)),
      from: units[match.index]?.from ?? 0,
      to: units[match.index + whole.length - 1]?.to ?? 0
    }
  })
}

const asIs = (text: string): readonly Unit[] =>
  text.split('').map((one, at) => ({ text: one, from: at, to: at + 1 }))
const joined = (units: readonly Unit[]) => units.map((unit) => unit.text).join('')

const piece = fc.constantFrom(
  ...['a', 'b', 'é', '漢', '%', '\\', 'u', '4', 'F', '%4', '%41', '%5c', '%5C', '%25', '%zz'],
  ...['\\"', '\\\\', '\\/', '\\b', '\\f', '\\n', '\\r', '\\t', '\\x', '\\u', '\\u00', '\\u0041'],
  ...['\\u005c', '\\u0025', '\\u6f22', '\\u00E9', '\\u00g1', '%g1', '%`0', '%:0', '%/0', '%@0']
)
const text = fc.array(piece, { maxLength: 8 }).map((parts) => parts.join(''))

describe('a text without its escapes', () => {
  it.each<[string, readonly string[]]>([
    ['plain', ['plain']],
    ['', ['']],
    ['\\', ['\\']],
    ['%', ['%']],
    ['100% \\x', ['100% \\x']],
    ['a\\nb', ['a\\nb', 'a\nb']],
    ['%41', ['%41', 'A']],
    ['%e9', ['%e9', 'é']],
    ['%00\\u0000', ['%00\\u0000', '%00\0', '\0\\u0000', '\0\0']],
    ['%E9%aF', ['%E9%aF', 'é¯']],
    ['\\u6F22\\u6f22', ['\\u6F22\\u6f22', '漢漢']],
    ['\\"\\/\\b\\f\\n\\r\\t', ['\\"\\/\\b\\f\\n\\r\\t', '"/\b\f\n\r\t']],
    ['\\\\x', ['\\\\x', '\\x']],
    ['%4', ['%4']],
    ['%4g', ['%4g']],
    ['%/0%:0%@0%G0%`0%g0', ['%/0%:0%@0%G0%`0%g0']],
    ['\\u004', ['\\u004']],
    ['\\u00g0', ['\\u00g0']],
    ['%2541', ['%2541', '%41', 'A']],
    ['\\\\n', ['\\\\n', '\\n', '\n']],
    // Each order in which both could have been made is a view of its own.
    ['\\n%41', ['\\n%41', '\n%41', '\\nA', '\nA']],
    ['%5cn', ['%5cn', '\\n', '\n']],
    ['\\u002541', ['\\u002541', '%41', 'A']]
  ])('reads %j', (given, texts) => {
    expect(viewsOf(given).map((view) => view.text)).toEqual(texts)
  })

  it('is undone level by level, up to a limit, in a limited number of views', () => {
    const deep = `%${'25'.repeat(limits.SECRET_LEVELS_MAX + 2)}41`
    const views = viewsOf(deep)
    expect(views).toHaveLength(limits.SECRET_LEVELS_MAX + 1)
    expect(views.at(-1)?.text).toBe('%252541')
    const both = '\\u005cu0025252525252541\\\\\\\\\\\\\\\\%255c%255c%255c%255cn'
    expect(viewsOf(both.repeat(3)).length).toBeLessThanOrEqual(limits.SECRET_VIEWS_MAX)
  })

  it('is what a slow reading of it is, and each part stands where that says', () => {
    fc.assert(
      fc.property(text, (given) => {
        const views = viewsOf(given)
        expect(views[0]?.text).toBe(given)
        const first = asIs(given)
        const once = [slowly(first, jsonEscape), slowly(first, percentEscape)]
        const twice = once.flatMap((units) => [
          slowly(units, jsonEscape),
          slowly(units, percentEscape)
        ])
        for (const units of [first, ...once, ...twice]) {
          const view = views.find((one) => one.text === joined(units))
          expect(view).toBeDefined()
          // Another order may read the same and have it elsewhere: the first of them is kept.
          const isOfOneLevel = units === first || units === once[0]
          if (view === undefined || !isOfOneLevel) continue
          expect(units.map((_, at) => view.at(at))).toEqual(units.map(({ from }) => from))
          expect(view.at(units.length)).toBe(given.length)
          for (const { from, to } of units) {
            for (let at = from; at < to; at += 1) expect(view.boundary(at)).toBe(from)
          }
          expect(view.boundary(given.length)).toBe(given.length)
        }
      })
    )
  })

  it.each([
    ['a%41b', 1, 'aAb', [0, 1, 4, 5], [0, 1, 1, 1, 4, 5]],
    ['\\u0041%', 1, 'A%', [0, 6, 7], [0, 0, 0, 0, 0, 0, 6, 7]],
    ['%2541x', 2, 'Ax', [0, 5, 6], [0, 0, 0, 0, 0, 5, 6]],
    ['%5cn%5cn', 2, '\n\n', [0, 4, 8], [0, 0, 0, 0, 4, 4, 4, 4, 8]]
  ])('has the places of %j in view %d', (given, number, read, places, boundaries) => {
    const view = viewsOf(given)[number]
    expect(view?.text).toBe(read)
    expect(places.map((_, at) => view?.at(at))).toEqual(places)
    expect(boundaries.map((_, at) => view?.boundary(at))).toEqual(boundaries)
  })

  it.each([
    ['', 0],
    ['ab', 2],
    ['a%', 1],
    ['a%4', 1],
    ['a%41', 4],
    ['a%4g', 4],
    ['a\\', 1],
    ['a\\u', 1],
    ['a\\u0', 1],
    ['a\\u004', 1],
    ['a\\u0041', 7],
    ['a\\n', 3],
    ['a%\n', 3],
    ['%%', 1]
  ])('ends in the middle of an escape or not: %j', (given, at) => {
    const [view] = viewsOf(given)
    expect(view && openEscapeAt(view)).toBe(at)
  })

  it('ends in an escape of which the place is that in the text that was given', () => {
    const view = viewsOf('x%25').at(1)
    expect([view?.text, view && openEscapeAt(view)]).toEqual(['x%', 1])
  })
})
