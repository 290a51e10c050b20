import { createContext, runInContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import {
  canonicalize,
  canonicalizeLedgerValue,
  isError,
  Redactor,
  redactedError,
  withoutUndefined
} from '../../../src/core/index.js'

// Jest executes modules in a realm of their own.
const other = createContext({})

function made(source: string): unknown {
  return runInContext(`(${source})`, other)
}

const literals = ['{}', '[]', '{ a: [1, { b: null }], c: "d" }', '[[{ a: true }]]']

/** Members of their own and nothing else, as routers of HTTP frameworks make their parameters. */
const bare = ['Object.create(null)', 'Object.create(Object.create(null))']

const others = [
  'new (class {})()',
  'new (class extends null { constructor() { return Object.create(new.target.prototype) } })()',
  'new (class extends Array {})()',
  'Object.create({})',
  'Object.create(Object.create(null, { toJSON: { value: () => 1 } }))',
  'Object.create(Object.create(Object.create(null)))',
  'Object.create(new Proxy(Object.create(null), {}))',
  'Object.setPrototypeOf({}, new Proxy(Object.prototype, {}))',
  'Object.setPrototypeOf([], new Proxy(Array.prototype, {}))',
  'Object.setPrototypeOf([], [])',
  'Object.setPrototypeOf([], Object.prototype)',
  'Object.setPrototypeOf([], Object.setPrototypeOf([], null))',
  'Object.setPrototypeOf([], Object.setPrototypeOf([], Object.prototype))',
  'Object.setPrototypeOf([], Object.assign([], { flatMap: 1 }))',
  'Object.create({ isPrototypeOf: 1, ["__proto__"]: 1 })',
  'Object.create(Object.create(null, { isPrototypeOf: { value: 1 } }))',
  'Object.create(Object.create(null, { ["__proto__"]: { value: 1 } }))',
  `Object.create(Object.setPrototypeOf(Object.defineProperties(() => 1, {
    isPrototypeOf: { value: 1 }, ["__proto__"]: { value: 1 } }), null))`,
  `((bare) => { delete bare.name; delete bare.length
    return Object.create(Object.setPrototypeOf(bare, null)) })(() => 1)`,
  'new Date(0)',
  'new Map()'
]

describe('a value of another realm', () => {
  it.each(literals)('is written as one of this realm: %s', (source) => {
    const here: unknown = new Function(`return (${source})`)()
    expect(canonicalize(made(source))).toBe(canonicalize(here))
    expect(canonicalizeLedgerValue(made(source))).toBe(canonicalize(here))
  })

  it.each(bare)('is written as a literal where it has only its own members: %s', (source) => {
    const here: unknown = new Function(`return (${source})`)()
    for (const value of [made(source), here]) {
      const params = Object.assign(value as object, { id: 'a', none: undefined })
      expect(canonicalize(withoutUndefined(params))).toBe('{"id":"a"}')
    }
  })

  it.each(others)('is refused as one of this realm where it is no literal: %s', (source) => {
    const here: unknown = new Function(`return (${source})`)()
    for (const value of [made(source), here]) {
      expect(() => canonicalize(value)).toThrow(expect.objectContaining({ code: 'core.not_json' }))
    }
  })
})

describe('an error of another realm', () => {
  it('is one, as long as it is no object that only looks so', () => {
    expect(['new Error("x")', 'new TypeError("x")'].map(made).every(isError)).toBe(true)
    expect(['{ message: "x" }', 'null', '"x"'].map(made).some(isError)).toBe(false)
  })

  it('says no secret', () => {
    const redactor = new Redactor()
    redactor.know('env:KEY', 'a-long-secret-value')
    const error = redactedError(made('new Error("it is a-long-secret-value")'), redactor)
    expect(String(error)).not.toContain('a-long-secret-value')
  })
})
