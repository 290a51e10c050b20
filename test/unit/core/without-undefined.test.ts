import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { limits, withoutUndefined } from '../../../src/core/index.js'

describe('values as JSON would write them where types allow more', () => {
  it('leaves out members that are undefined, at every depth', () => {
    const given = { a: undefined, b: { c: undefined, d: [{ e: undefined, f: 1 }] }, g: null }
    expect(withoutUndefined(given)).toStrictEqual({ b: { d: [{ f: 1 }] }, g: null })
  })

  it('writes what JSON writes of objects with members that are undefined', () => {
    const value = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.constantFrom(null, true, 'text', 1.5, ''),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.string(), fc.option(tie('value'), { nil: undefined }), {
          ...{ maxKeys: 3, noNullPrototype: true }
        })
      )
    })).value
    fc.assert(
      fc.property(value, (given) => {
        const text = JSON.stringify(given)
        const plain = withoutUndefined(given)
        expect(plain).toStrictEqual(JSON.parse(text))
        // What has no such member is given back as it is.
        expect(withoutUndefined(plain)).toBe(plain)
      })
    )
  })

  it('gives back what is no plain object, and what is deeper than JSON may be', () => {
    class Money {
      amount = undefined
    }
    const accessor = Object.defineProperty({}, 'a', { get: () => undefined, enumerable: true })
    const proxy = new Proxy({ a: undefined }, {})
    const others = [new Money(), accessor, proxy, new Date(0), () => 1, 'text', 7]
    for (const given of others) expect(withoutUndefined(given)).toBe(given)
    let deep: unknown = { a: undefined }
    const innermost = deep
    for (let depth = 0; depth <= limits.JSON_DEPTH_MAX; depth += 1) deep = [deep]
    let kept = withoutUndefined(deep)
    for (let depth = 0; depth <= limits.JSON_DEPTH_MAX; depth += 1) kept = (kept as unknown[])[0]
    expect(kept).toBe(innermost)
  })

  it('leaves out, beside members that are undefined, what JSON does not write', () => {
    const hidden = Object.defineProperty({ b: undefined }, 'a', { value: 1, enumerable: false })
    for (const given of [hidden, { [Symbol('a')]: 1, b: undefined }]) {
      expect(withoutUndefined(given)).toStrictEqual({})
    }
  })

  it('keeps members of objects without a prototype, and holes of arrays as they are', () => {
    const bare = Object.assign(Object.create(null) as object, { a: 1, b: undefined })
    expect(withoutUndefined(bare)).toStrictEqual({ a: 1 })
    const items = [undefined, { a: 1 }]
    expect(withoutUndefined(items)).toBe(items)
  })
})
