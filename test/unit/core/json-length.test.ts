import { describe, expect, it } from 'vitest'
import {
  anyWithin,
  atOnce,
  DocumentWork,
  findingLarge,
  type Json,
  limits,
  writingLength,
  writtenLength
} from '../../../src/core/index.js'
import { valuesIn } from '../../../src/core/json/length.js'

const below = (value: unknown, levels: number): unknown =>
  levels === 0 ? value : [below(value, levels - 1)]
const largeIn = (value: unknown) => atOnce(findingLarge(value))
const items = (count: number) => Array.from({ length: count }, (_, at) => at)

describe('the large parts of a value', () => {
  it('are those with more than 128 values, with all that they are in', () => {
    expect(largeIn(items(127)).size).toBe(0)
    const large = items(128)
    const value = { small: items(20), list: [large] }
    expect([...largeIn(value)]).toEqual([value, value.list, large])
    expect(largeIn({ one: items(60), other: items(60) }).size).toBe(0)
    expect(largeIn({ one: items(60), other: items(66) }).size).toBe(1)
  })

  it('are none where a value is too deep, which is refused as a whole', () => {
    const levels = 2 * limits.JSON_DEPTH_MAX
    expect(largeIn(below(items(128), levels)).size).toBe(levels + 1)
    expect(largeIn(below(items(128), levels + 1)).size).toBe(0)
    const cycle: unknown[] = [items(128)]
    cycle.push(cycle)
    expect(largeIn(cycle).size).toBe(0)
  })

  it('are found with a step for four looks: at what makes a part large, then at all in it', () => {
    const work = new DocumentWork()
    const shared = items(199)
    work.during(() => largeIn([shared, shared]))
    expect(work.sliceSteps).toBe((129 + 129 + 199) / 4)
  })
})

describe('the values inside of a value', () => {
  it('are counted at any depth', () => {
    expect(valuesIn({ a: [1, { b: 2 }], c: null })).toBe(5)
    expect([1, 'a', null, [], {}].map(valuesIn)).toEqual([0, 0, 0, 0, 0])
  })

  it('have one that is looked for, or none', () => {
    const value: Json = { a: [1, { b: 'x' }], c: null }
    const has = (wanted: Json) => atOnce(anyWithin(value, (one) => one === wanted))
    expect([1, 'x', null].map(has)).toEqual([true, true, true])
    expect(['b', 2, true].map(has)).toEqual([false, false, false])
    expect(atOnce(anyWithin('a', (one) => one === 'a'))).toBe(true)
  })

  it('are looked at in pieces, a quarter of a step each', () => {
    const work = new DocumentWork()
    const pieces = anyWithin(items(4 * limits.DOCUMENT_SLICE_STEPS), () => false)
    expect(work.during(() => pieces.next()).done).toBe(false)
    expect(work.sliceSteps).toBe(limits.DOCUMENT_SLICE_STEPS)
    expect(work.during(() => pieces.next())).toEqual({ done: true, value: false })
  })
})

describe('the length of a value in pieces', () => {
  it('is its length, however large it is', () => {
    const large = { a: items(200), b: [{ c: items(300) }, 'x'] }
    for (const value of ['x', [], { a: 1 }, large]) {
      expect(atOnce(writingLength(value))).toBe(writtenLength(value))
    }
  })

  it('counts a step for four values of a part that is kept', () => {
    const work = new DocumentWork()
    work.during(() => writtenLength([items(200), items(10)]))
    expect(work.sliceSteps).toBe(200 / 4 + 2 / 4)
    work.during(() => writtenLength({ a: 'x'.repeat(100) }))
    expect(work.sliceSteps).toBe(1 / 4)
  })

  it('is measured part by part, with a turn where a slice is full', () => {
    const work = new DocumentWork()
    const pieces = writingLength([items(5 * limits.DOCUMENT_SLICE_STEPS), items(200)])
    let slices = 1
    while (work.during(() => pieces.next()).done !== true) slices += 1
    expect(slices).toBeGreaterThan(1)
  })
})
