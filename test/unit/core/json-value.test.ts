import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { copyJson, isJsonObject, jsonIn, objectOf } from '../../../src/core/index.js'
import { writtenLength } from '../../../src/core/json/length.js'

describe('a plain JSON value', () => {
  it('is an object when it is neither null nor a list', () => {
    expect([{}, { a: 1 }].map(isJsonObject)).toEqual([true, true])
    expect([null, [], 'a', 1, true, undefined].some(isJsonObject)).toBe(false)
  })

  it('is read from text, and is undefined for text that has none', () => {
    expect(jsonIn('{"a":[1]}')).toEqual({ a: [1] })
    expect(jsonIn('{"a":')).toBeUndefined()
  })

  it('is made of members as by the language, whatever their names and order', () => {
    const key = fc.oneof(fc.constantFrom('__proto__', 'constructor', '10', '9', 'a'), fc.string())
    fc.assert(
      fc.property(fc.array(fc.tuple(key, fc.jsonValue())), (entries) => {
        const [made, expected] = [objectOf(entries), Object.fromEntries(entries)]
        expect(Object.getOwnPropertyDescriptors(made)).toEqual(
          Object.getOwnPropertyDescriptors(expected)
        )
        expect(Object.keys(made)).toEqual(Object.keys(expected))
        expect(Object.getPrototypeOf(made)).toBe(Object.prototype)
      })
    )
  })

  it('is copied whole, so that nothing is shared', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(copyJson(value as never)).toEqual(value)
      })
    )
    const named = jsonIn('{"__proto__":{"a":1}}') as never
    expect(JSON.stringify(copyJson(named))).toBe('{"__proto__":{"a":1}}')
    const value = { a: [{ b: 1 }], c: {} }
    const copy = copyJson(value)
    expect(copy.a).not.toBe(value.a)
    expect(copy.a[0]).not.toBe(value.a[0])
    expect(copy.c).not.toBe(value.c)
  })
})

describe('how long a value is as text', () => {
  it('is at least what is written, and no more than a few units for each part', () => {
    const parts = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? Object.values(value).reduce((sum: number, one) => sum + parts(one), 1)
        : 1
    const plain = fc.jsonValue({ maxDepth: 4, stringUnit: fc.constantFrom('a', 'b') })
    fc.assert(
      fc.property(plain, (value) => {
        fc.pre(!/[0-9]/.test(JSON.stringify(value)))
        const written = JSON.stringify(value).length
        expect(writtenLength(value)).toBeGreaterThanOrEqual(written)
        expect(writtenLength(value)).toBeLessThanOrEqual(written + 4 * parts(value))
      })
    )
  })

  it('counts what is used in many places each time, and walks it once', () => {
    let shared: unknown = ['x'.repeat(100)]
    for (let level = 0; level < 40; level += 1) shared = [shared, shared]
    expect(writtenLength(shared)).toBeGreaterThan(100 * 2 ** 40)
    expect(writtenLength([])).toBe(2)
    expect(writtenLength('ab')).toBe(4)
    expect(writtenLength({ ab: null })).toBe(13)
    expect(writtenLength([true, 'a'])).toBe(2 + 6 + 4)
  })
})
