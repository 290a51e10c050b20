import { describe, expect, it } from 'vitest'
import { Literals, PayloadTexts, WrittenPayloads } from '../../../../src/block/run/payload-texts.js'
import { canonicalize } from '../../../../src/core/index.js'

describe('the payloads of a run', () => {
  it('are written as their canonical JSON, once for one that goes from step to step', () => {
    const texts = new WrittenPayloads(undefined)
    const payload = { b: 1, a: [2] }
    expect(texts.of(payload)).toBe('{"a":[2],"b":1}')
    payload.b = 3
    // What was written is not looked at again, since payloads do not change.
    expect(texts.of(payload)).toBe('{"a":[2],"b":1}')
    expect(texts.of({ ...payload })).toBe('{"a":[2],"b":3}')
    expect(texts.of(payload)).toBe('{"a":[2],"b":3}')
    expect([texts.of(null), texts.of('é'), texts.of(1)]).toEqual(['null', '"é"', '1'])
  })

  it('have the text that was written elsewhere', () => {
    const literals = new Literals([{ lit: { z: 1 } }])
    for (const known of [undefined, () => literals]) {
      const texts = new WrittenPayloads(known)
      const payload = { a: 1 }
      texts.keep(payload, 'KEPT')
      texts.keep(null, 'NONE')
      texts.keep('a', 'NONE')
      expect([texts.of(payload), texts.of(null), texts.of('a')]).toEqual(['KEPT', 'null', '"a"'])
      const around = known === undefined ? '{"in":{"a":1}}' : '{"in":KEPT}'
      expect(texts.of({ in: payload })).toBe(around)
    }
  })

  it('have the texts of literals of the definition, where it has any', () => {
    const literal = { b: 1, a: 2 }
    const literals = new Literals([{ lit: literal }])
    const texts = new WrittenPayloads(() => literals)
    expect(texts.of({ spec: literal })).toBe('{"spec":{"a":2,"b":1}}')
    literal.b = 3
    expect(texts.of({ other: literal })).toBe('{"other":{"a":2,"b":1}}')
    const none = new WrittenPayloads(() => new Literals([]))
    none.keep(literal, 'KEPT')
    expect(none.of({ in: literal })).toBe('{"in":{"a":2,"b":3}}')
  })
})

describe('the parts of payloads', () => {
  it('are written for good when they are met for the second time', () => {
    const texts = new PayloadTexts()
    const part = { b: 1, a: 2 }
    expect(texts.of({ one: part })).toBe('{"one":{"a":2,"b":1}}')
    expect(texts.get(part)).toBeUndefined()
    expect(texts.of({ other: part })).toBe('{"other":{"a":2,"b":1}}')
    expect(texts.get(part)).toBe('{"a":2,"b":1}')
    part.b = 3
    expect(texts.of({ part })).toBe('{"part":{"a":2,"b":1}}')
  })

  it('are looked for two levels down, and in no list', () => {
    const texts = new PayloadTexts()
    const [deep, deeper, item] = [{ n: 1 }, { n: 2 }, { n: 3 }]
    for (let time = 0; time < 2; time += 1) {
      const payload = { a: { deep, b: { deeper } }, list: [item] }
      expect(texts.of(payload)).toBe(canonicalize(payload))
    }
    expect([deep, deeper, item].map((part) => texts.get(part))).toEqual([
      '{"n":1}',
      undefined,
      undefined
    ])
    // The payload itself is no part of one.
    const whole = { c: 1 }
    texts.of(whole)
    texts.of(whole)
    expect(texts.get(whole)).toBeUndefined()
  })

  it('have the texts that were written elsewhere', () => {
    const texts = new PayloadTexts()
    const part = { a: 1 }
    texts.keep(part, 'KEPT')
    texts.keep(null, 'NONE')
    texts.keep('a', 'NONE')
    expect(texts.of({ part, none: null, text: 'a' })).toBe('{"none":null,"part":KEPT,"text":"a"}')
  })
})
