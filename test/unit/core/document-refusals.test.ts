import { describe, expect, it } from 'vitest'
import { refusingDeepNesting } from '../../../src/core/document/nesting.js'
import { Lines, malformedAt } from '../../../src/core/document/position.js'
import { readingDocument } from '../../../src/core/document/read.js'
import { readPlainScalar, unsafeNumber } from '../../../src/core/document/scalar.js'
import { type NodeSink, readingYaml } from '../../../src/core/document/yaml.js'
import {
  atOnce,
  DocumentWork,
  isTallyError,
  limits,
  placesIn,
  readDocument
} from '../../../src/core/index.js'

/** What the reader of documents refuses, with its words and place; and what reading costs. */

function said(act: () => unknown): unknown {
  try {
    return act()
  } catch (error) {
    if (!isTallyError(error)) throw error
    const { line, column, problem, ...rest } = error.context
    if (error.code !== 'document.malformed') return { code: error.code, ...rest }
    return `${String(line)}:${String(column)} ${String(problem)}`
  }
}

const tooDeep = {
  code: 'core.limit_exceeded',
  what: 'The nesting of the document',
  actual: 'at least 65',
  limit: 64
}
const unsafe = 'the integer is outside the safe range; write it as a quoted decimal string'
const directives = 'directives other than "%YAML 1.2" are not allowed'
const key = (text: string) => `the key ${JSON.stringify(text)} stands twice`

describe('a document that is refused', () => {
  it.each([
    ['a: &x 1', '1:4 anchors are not allowed'],
    ['a: &x [1]', '1:4 anchors are not allowed'],
    ['&x a: 1', '1:1 anchors are not allowed'],
    ['a: 1\nb: *a', '2:4 aliases are not allowed'],
    ['a: !!str 1', '1:4 tags are not allowed'],
    ['a: !!seq [1]', '1:4 tags are not allowed'],
    ['a: !x', '1:4 tags are not allowed'],
    ['a:\n  <<: {b: 1}', '2:3 merge keys are not allowed'],
    ['? [a]\n: 1', '1:3 a key must be a scalar'],
    ['a: 1\nb: 2\na: 3', `3:1 ${key('a')}`],
    ['1: a\n"1": b', `2:2 ${key('1')}`],
    ['constructor: 1\nconstructor: 2', `2:1 ${key('constructor')}`],
    ['a: {: 1}', '1:4 a key is missing'],
    ['a:\n  __proto__: {x: 1}', '2:3 the key "__proto__" is not allowed'],
    ['"__proto__": 1', '1:2 the key "__proto__" is not allowed'],
    ['{"a": {"__proto__": 1}}', '1:9 the key "__proto__" is not allowed'],
    ['{"__proto__": 1, "b": 1e21}', '1:3 the key "__proto__" is not allowed'],
    ['{"b": 1e21, "__proto__": 1}', `1:3 ${unsafe}`],
    ['{"b": 1e21, "c": -1e21}', `1:3 ${unsafe}`],
    ['[1,  1e21]', `1:6 ${unsafe}`],
    ['a: .nan', '1:4 JSON has no .nan'],
    ['a: -.inf', '1:4 JSON has no -.inf'],
    ['a: 9007199254740992', `1:4 ${unsafe}`],
    ['a: 1e999', '1:4 the number is too large'],
    ['a: 0xa9059cbb', '1:4 0xa9059cbb is a number to some readers; quote it'],
    [`a: 0${'7'.repeat(100)}`, `1:4 0${'7'.repeat(79)} is a number to some readers; quote it`],
    ['a: 1\n---\nb: 2', '1:4 there is more than one document'],
    ['%TAG ! tag:x,2000:\n---\na: 1', `1:1 ${directives}`],
    ['%YAML 1.1\n---\na: yes', `1:1 ${directives}`],
    ['\ufeffa: 1', '1:1 it begins with a byte-order mark'],
    ['a: "\\ud800"', '1:5 the text has a lone surrogate'],
    ['"\\ud800": 1', '1:2 the text has a lone surrogate'],
    ['# nothing\n', '1:1 the document is empty'],
    ['', '1:1 the document is empty'],
    ['{"a": 1,\n "b" 2}', '2:6 ":" expected'],
    ['{"a": 1,\n "a": 2}', '2:5 the key "a" stands twice'],
    ['{}}', '1:3 there is text after the value'],
    ['["a" "b"]', '1:6 "," or "]" expected']
  ])('says where and why: %j', (text, expected) => {
    expect(said(() => readDocument(text))).toBe(expected)
  })

  it.each(['%YAML 1.2\n---\na: 1', '---\na: 1\n', 'a: 1\n...\n'])('is not this one: %j', (text) => {
    expect(said(() => readDocument(text))).toEqual({ a: 1 })
  })

  it.each([
    ['"<<": 1', { '<<': 1 }],
    ['"": 1', { '': 1 }],
    ['a: <<', { a: '<<' }],
    ['{a: 1, b: [}', undefined],
    ['{a: [0x10]}', undefined],
    ["a: '.nan'", { a: '.nan' }],
    ['a: |\n  1', { a: '1\n' }],
    ['[]', []],
    ['[a]', ['a']],
    ['a: -0', { a: 0 }],
    ['a: [-0.0, +0, 0e5]', { a: [0, 0, 0] }],
    ['a: 9007199254740991', { a: 2 ** 53 - 1 }]
  ])('is read as YAML where it is meant so: %j', (text, value) => {
    const found = said(() => readDocument(text))
    if (value === undefined) expect(found).toMatch(/^1:\d+ /)
    else expect(found).toEqual(value)
  })

  it('is larger than the limit, of which there is another for YAML', () => {
    const size = (limit: number, what: string, actual = limit + 1) => ({
      ...{ code: 'core.limit_exceeded', what, actual: `${actual} bytes`, limit: `${limit} bytes` }
    })
    const { DOCUMENT_BYTES_MAX: json, DOCUMENT_YAML_BYTES_MAX: yaml } = limits
    const text = (length: number) => `"${'a'.repeat(length - 2)}"`
    const list = (length: number) => `[${text(length - 2)}]`
    expect(said(() => readDocument(list(json)))).toHaveLength(1)
    expect(said(() => readDocument(list(json + 1)))).toEqual(size(json, 'The document'))
    expect(said(() => readDocument(text(yaml)))).toHaveLength(yaml - 2)
    const asYaml = 'The document, which is YAML and not JSON,'
    expect(said(() => readDocument(text(yaml + 1)))).toEqual(size(yaml, asYaml))
    const wide = `"${'é'.repeat(yaml / 2)}"`
    expect(said(() => readDocument(wide))).toEqual(size(yaml, asYaml, yaml + 2))
  })

  it.each([
    ['[', ']'],
    ['{"a":', '}'],
    ['{a: ', '}'],
    ['- ', '']
  ])('is nested deeper than 64 levels: %s', (open, close) => {
    const text = (levels: number) => `${open.repeat(levels)}1${close.repeat(levels)}`
    expect(said(() => readDocument(text(65)))).toEqual(tooDeep)
    expect(said(() => readDocument(text(1_000)))).toEqual(tooDeep)
    expect(said(() => readDocument(text(64)))).not.toEqual(tooDeep)
  })
})

describe('brackets that are counted before a text is read', () => {
  const counted = (text: string) => said(() => atOnce(refusingDeepNesting(text)))
  const many = (text: string) => text.repeat(65)

  it.each([
    ...['[', '{', '[ ', '[\t', '[\n', '[\r\n', '{a: [', 'a: [', '- [', '? [', '[1, ['],
    ...['[{', '},[[{']
  ])('are those at which a node may begin: %j', (text) => {
    expect(counted(many(text))).toEqual(tooDeep)
    expect(counted(text.repeat(10))).toBeUndefined()
  })

  it.each(['a[', '"[', '1{', ' a [', '][', '[]', '{}', '}', '[[]]', '[1]{}'])(
    'are none that are in a text or closed: %j',
    (text) => {
      expect(counted(many(text))).toBeUndefined()
    }
  )

  it('are counted whatever was closed before, up to the last level', () => {
    expect(counted(`${']'.repeat(100)},${'['.repeat(65)}`)).toEqual(tooDeep)
    expect(counted('['.repeat(64))).toBeUndefined()
    expect(counted(`${'['.repeat(40)}${']'.repeat(20)},${'['.repeat(44)}`)).toBeUndefined()
    expect(counted(`${'['.repeat(40)}${']'.repeat(20)},${'['.repeat(45)}`)).toEqual(tooDeep)
  })

  it('are counted in pieces, of which none is lost', () => {
    const work = new DocumentWork()
    const piece = 64 * 1024
    const text = `${'a'.repeat(piece - 1)}\n${'a'.repeat(piece)}`
    work.during(() => atOnce(refusingDeepNesting(text)))
    expect(work.sliceSteps).toBe((2 * piece) / 16)
    for (const at of [piece - 40, piece, 2 * piece - 65]) {
      const deep = `${'a'.repeat(at - 1)}\n${'['.repeat(65)}`
      expect(counted(deep)).toEqual(tooDeep)
    }
    const pieces = refusingDeepNesting('a'.repeat(16 * limits.DOCUMENT_SLICE_STEPS))
    let turns = 0
    while (work.during(() => pieces.next()).done !== true) turns += 1
    expect(turns).toBe(1)
  })
})

describe('a place in a text', () => {
  it('counts lines that end with LF, CR LF or CR, and columns in UTF-16 units', () => {
    const text = 'ab\r\nc\r\rd\n\u{1f600}e'
    const lines = new Lines(text)
    const places = Array.from({ length: text.length + 1 }, (_, at) => lines.at(at))
    expect(places.map(({ line, column }) => `${line}:${column}`)).toEqual([
      ...['1:1', '1:2', '1:3', '1:4', '2:1', '2:2', '3:1', '4:1', '4:2', '5:1', '5:2', '5:3', '5:4']
    ])
    expect([lines.at(-5), lines.at(100).line]).toEqual([{ line: 1, column: 1 }, 5])
    expect(malformedAt(text, 7, 'x').context).toEqual({ line: 4, column: 1, problem: 'x' })
    expect(malformedAt(text, -1, 'x').context).toEqual({ line: 1, column: 1, problem: 'x' })
  })
})

describe('a plain scalar', () => {
  it('is a number where it is safe, and a text where it is none', () => {
    expect(['1', '-1.5', 'x', '', '1_000'].map(readPlainScalar)).toEqual(
      [1, -1.5, 'x', null, '1_000'].map((value) => ({ ok: true, value }))
    )
    const zero = readPlainScalar('-0')
    expect(zero.ok && Object.is(zero.value, 0)).toBe(true)
    expect([Number.POSITIVE_INFINITY, 2 ** 53, 1.5, 2 ** 53 - 1].map(unsafeNumber)).toEqual([
      'the number is too large',
      unsafe,
      undefined,
      undefined
    ])
  })
})

describe('the work of reading', () => {
  const stepsOf = (text: string) => {
    const work = new DocumentWork()
    const { value } = work.during(() => atOnce(readingDocument(text)))
    return { steps: work.steps, value }
  }

  it('is 32 steps for a container and 2 for any other value of JSON', () => {
    expect(stepsOf('[]').steps).toBe(32)
    expect(stepsOf('{"a": [1, "x", null, true, {}]}').steps).toBe(3 * 32 + 4 * 2)
  })

  it('is that of events of YAML: two of a container, one of a scalar, keys included', () => {
    const document = 32
    const { steps } = stepsOf('a: [1, x]')
    expect(steps).toBe(document + 2 * 32 + 3 * 2)
  })

  it('is done in pieces', () => {
    const work = new DocumentWork()
    const list = Array.from({ length: limits.DOCUMENT_SLICE_STEPS / 2 }, () => '- 1').join('\n')
    const pieces = readingYaml(list)
    let turns = 0
    while (work.during(() => pieces.next()).done !== true) turns += 1
    expect(turns).toBe(2)
  })
})

describe('the nodes of a text of YAML', () => {
  it('are entered and left in the order of the text, at their keys', () => {
    const text = 'a: [1, {b: ""}]\nc:\n  - x\nd:\n'
    const seen: unknown[] = []
    const sink: NodeSink = {
      enter: (segment, offset) => seen.push([segment, text.slice(offset, offset + 2)]),
      leave: () => seen.push('left')
    }
    atOnce(readingYaml(text, sink))
    expect(seen).toEqual([
      [undefined, 'a:'],
      ['a', 'a:'],
      [0, '1,'],
      'left',
      [1, '{b'],
      ['b', 'b:'],
      'left',
      'left',
      'left',
      ['c', 'c:'],
      [0, 'x\n'],
      'left',
      'left',
      ['d', 'd:'],
      'left',
      'left'
    ])
  })

  it('are found by text and number alike, and by the nearest there is', () => {
    const locate = placesIn('list: [a, b]\n"1": x\n')
    const found = [['list', '1'], ['list', 1], ['list', '01'], [1], ['1'], ['list', 'x', 'y'], []]
    expect(
      found.map((path) => locate(path)).map(({ line, column }) => `${line}:${column}`)
    ).toEqual(['1:11', '1:11', '1:1', '2:2', '2:2', '1:1', '1:1'])
  })
})
