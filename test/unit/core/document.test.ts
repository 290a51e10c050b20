import { createRequire } from 'node:module'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import {
  canonicalize,
  isTallyError,
  type Json,
  limits,
  placesIn,
  readDocument
} from '../../../src/core/index.js'
import { cases } from '../../support/effort.js'

function refusal(text: string): Record<string, unknown> {
  try {
    readDocument(text)
  } catch (error) {
    if (isTallyError(error)) return { code: error.code, ...error.context }
    throw error
  }
  throw new Error(`accepted: ${text.slice(0, 80)}`)
}

describe('readDocument', () => {
  it.each<[string, string, Json]>([
    ['block style', 'a: 1\nb:\n  - x\n  - y: true\n', { a: 1, b: ['x', { y: true }] }],
    ['flow style', '{a: 1, b: [x, {y: true}]}', { a: 1, b: ['x', { y: true }] }],
    ['JSON', '{"a": 1, "b": ["x", {"y": true}]}', { a: 1, b: ['x', { y: true }] }],
    ['a comment before JSON-like YAML', '# c\n{"a": 1}', { a: 1 }],
    ['dates as text', 'd: 2026-11-21', { d: '2026-11-21' }],
    [
      'YAML 1.1 booleans as text',
      'a: [yes, no, on, off, y]',
      { a: ['yes', 'no', 'on', 'off', 'y'] }
    ],
    ['core words', 'a: [~, null, NULL, True, FALSE]', { a: [null, null, null, true, false] }],
    ['an empty value as null', 'a:\nb: ""', { a: null, b: '' }],
    ['numbers', 'a: [0, -1, +2, 1.5, .5, 1., 1e3, -0]', { a: [0, -1, 2, 1.5, 0.5, 1, 1000, 0] }],
    ['sexagesimal and underscores as text', 'a: [12:30, 1_000]', { a: ['12:30', '1_000'] }],
    ['quoted numbers as text', 'a: "1"\nb: \'0x10\'', { a: '1', b: '0x10' }],
    ['keys as written', '1: a\ntrue: b\nconstructor: c', { '1': 'a', true: 'b', constructor: 'c' }],
    ['block text', 'a: |\n  [[[[\n  {{name}}\n', { a: '[[[[\n{{name}}\n' }],
    ['a scalar document', 'hello', 'hello']
  ])('reads %s', (_name, text, value) => {
    expect(readDocument(text)).toEqual(value)
  })

  it.each([
    ['anchors', 'a: &x 1', 1, 4],
    ['aliases', 'a: 1\nb: *a', 2, 4],
    ['tags', 'a: !!str 1', 1, 4],
    ['local tags', 'a: !js/function "x"', 1, 4],
    ['merge keys', 'a:\n  <<: {b: 1}', 2, 3],
    ['duplicate keys', 'a: 1\nb: 2\na: 3', 3, 1],
    ['duplicate keys of two kinds', '1: a\n"1": b', 2, 2],
    ['duplicate keys in JSON', '{"a": 1,\n "a": 2}', 2, 5],
    ['__proto__', 'a:\n  __proto__: {x: 1}', 2, 3],
    ['__proto__ in JSON', '{"a": {"__proto__": 1}}', 1, 9],
    ['NaN', 'a: .nan', 1, 4],
    ['infinity', 'a: -.inf', 1, 4],
    ['unsafe integers', 'a: 9007199254740993', 1, 4],
    ['unsafe integers in exponent form', 'a: 1e21', 1, 4],
    ['unsafe integers in JSON', '{"a": 1,\n  "b": 9007199254740992}', 2, 4],
    ['overflow', 'a: 1e999', 1, 4],
    ['hexadecimal', 'selector: 0xa9059cbb', 1, 11],
    ['octal', 'a: 0755', 1, 4],
    ['complex keys', '? [a]\n: 1', 1, 3],
    ['several documents', 'a: 1\n---\nb: 2', 1, 4],
    ['tag directives', '%TAG ! tag:x,2000:\n---\na: 1', 1, 1],
    ['other YAML versions', '%YAML 1.1\n---\na: yes', 1, 1],
    ['a byte-order mark', '\ufeffa: 1', 1, 1],
    ['lone surrogates', 'a: "\\ud800"', 1, 5],
    ['tabs as indentation', 'a:\n\t- b', 2, 1],
    ['broken flow', '{a: [1,\n2}', 2, 2],
    ['broken JSON', '{"a": 1,\n "b" 2}', 2, 6],
    ['an empty document', '# nothing\n', 1, 1],
    ['empty text', '', 1, 1]
  ])('refuses %s with its place', (_name, text, line, column) => {
    expect(refusal(text)).toMatchObject({ code: 'document.malformed', line, column })
  })

  it('refuses text over the size limit, counted in UTF-8 bytes', () => {
    const text = `a: "${'€'.repeat(limits.DOCUMENT_BYTES_MAX / 3)}"`
    expect(text.length).toBeLessThan(limits.DOCUMENT_BYTES_MAX)
    expect(refusal(text)).toMatchObject({ code: 'core.limit_exceeded' })
  })

  it.each([
    ['brackets', '['.repeat(1_000) + ']'.repeat(1_000)],
    ['open brackets', '['.repeat(1_000_000)],
    ['braces', '{a: '.repeat(2_000)],
    ['JSON objects', '{"a":'.repeat(2_000)],
    ['dashes', `${'- '.repeat(2_000)}x`],
    ['indentation', Array.from({ length: 200 }, (_, depth) => `${' '.repeat(depth)}a:\n`).join('')],
    ['explicit keys', `${'? '.repeat(2_000)}x`],
    ['one level too many', '['.repeat(65) + ']'.repeat(65)]
  ])('survives deep nesting of %s, ten times', (_name, text) => {
    for (let repeat = 0; repeat < 10; repeat += 1) {
      expect(refusal(text).code).toBe('core.limit_exceeded')
    }
  })

  it('has no words of the engine when the YAML library fails by itself', () => {
    const library = createRequire(import.meta.url)('js-yaml')
    vi.spyOn(library, 'parseEvents').mockImplementation(() => {
      throw new RangeError('Maximum call stack size exceeded')
    })
    expect(refusal('a: 1\nb: 2')).toEqual({
      code: 'document.malformed',
      line: 1,
      column: 1,
      problem: 'it cannot be parsed as YAML'
    })
  })

  it('reads exactly the depth that canonical JSON allows', () => {
    const brackets = '['.repeat(64) + ']'.repeat(64)
    expect(canonicalize(readDocument(brackets))).toBe(brackets)
    expect(canonicalize(readDocument(`# yaml\n${brackets}`))).toBe(brackets)
    expect(canonicalize(readDocument(`${'- '.repeat(63)}[]`))).toBe(brackets)
  })

  it('does not reach prototypes', () => {
    const value = readDocument('constructor: {prototype: {x: 1}}\ntoString: 1')
    expect(Object.keys(value as object)).toEqual(['constructor', 'toString'])
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
  })

  it('reads JSON text as the value it was written from, also behind a comment', () => {
    const safe = fc.jsonValue({ maxDepth: 5 }).filter((value) => !hasUnsafe(value))
    fc.assert(
      fc.property(safe, (value) => {
        const text = canonicalize(value)
        expect(canonicalize(readDocument(text))).toBe(text)
      })
    )
  })

  it('ends on any text with a value or an error that names a place', () => {
    const piece = fc.constantFrom(
      'a',
      ': ',
      '\n',
      '  ',
      '- ',
      '[',
      ']',
      '{',
      '}',
      ',',
      '"',
      "'",
      '|',
      '&a',
      '*a',
      '!',
      '?',
      '#',
      '1',
      '%'
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join('')
        try {
          expect(readDocument(text)).not.toBeUndefined()
        } catch (error) {
          expect(isTallyError(error)).toBe(true)
        }
      }),
      { numRuns: 2_000 }
    )
  })
})

describe('placesIn', () => {
  const text = 'name: x\nnodes:\n  - id: a\n    args: {to: b, amount: 1}\n  - id: c\n'
  it.each([
    [['name'], 1, 1],
    [['nodes', 1, 'id'], 5, 5],
    [['nodes', 0, 'args', 'amount'], 4, 19],
    [['nodes', 0, 'missing'], 3, 5],
    [['missing'], 1, 1]
  ])('finds %j', (path, line, column) => {
    expect(placesIn(text)(path)).toEqual({ line, column })
  })

  it('finds keys of JSON text, and stops at the nearest ancestor of a broken text', () => {
    expect(placesIn('{"a": {\n  "b": 1}}')(['a', 'b'])).toEqual({ line: 2, column: 4 })
    expect(placesIn('a: 1\nb: [')(['a'])).toEqual({ line: 1, column: 1 })
  })

  it('finds in JSON what it finds in the same text as YAML', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.nat(3), (value, indent) => {
        fc.pre(typeof value === 'object' && value !== null && !hasUnsafe(value))
        const text = JSON.stringify(value, null, indent)
        const [asJson, asYaml] = [placesIn(text), placesIn(`# YAML\n${text}`)]
        for (const path of pathsIn(value as Json)) {
          const { line, column } = asYaml(path)
          expect(asJson(path), path.join('.')).toEqual({ line: line - 1, column })
          expect(asJson([...path, 'missing'])).toEqual(asJson(path))
        }
      }),
      { numRuns: cases({ usual: 200, long: 2750 }) }
    )
  })

  it('counts every kind of line end', () => {
    expect(placesIn('a: 0\r\nb: 0\rc: 0\nd: 0')(['d'])).toEqual({ line: 4, column: 1 })
  })
})

function pathsIn(value: Json): readonly (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [[]]
  const members: readonly (readonly [string | number, Json])[] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value)
  return [[], ...members.flatMap(([key, inner]) => pathsIn(inner).map((path) => [key, ...path]))]
}

function hasUnsafe(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value)
  if (typeof value !== 'object' || value === null) return false
  return Object.keys(value).includes('__proto__') || Object.values(value).some(hasUnsafe)
}
