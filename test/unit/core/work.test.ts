import { describe, expect, it } from 'vitest'
import {
  DocumentWork,
  isTallyError,
  limits,
  spendWork,
  spendWorkOnce,
  writtenLength
} from '../../../src/core/index.js'

describe('DocumentWork', () => {
  it('refuses the step that goes over the limit', () => {
    const work = new DocumentWork(10)
    work.during(() => spendWork(10))
    const spendMore = () => work.during(() => spendWork(1))
    expect(spendMore).toThrow(expect.objectContaining({ code: 'document.too_much_work' }))
  })

  it('counts all slices of one document, and nothing outside them', () => {
    const work = new DocumentWork(10)
    work.during(() => spendWork(3))
    spendWork(100)
    work.during(() => spendWork(4))
    expect(work.steps).toBe(7)
  })

  it('goes back to the count around it, also after an error', () => {
    const outer = new DocumentWork(10)
    outer.during(() => {
      try {
        new DocumentWork(1).during(() => spendWork(2))
      } catch (error) {
        expect(isTallyError(error, 'document.too_much_work')).toBe(true)
      }
      spendWork(5)
    })
    expect(outer.steps).toBe(5)
  })

  it('takes a text that comes again for known, as long as there are few texts', () => {
    const work = new DocumentWork()
    work.during(() => {
      spendWorkOnce('a', 100, 1)
      spendWorkOnce('a', 100, 1)
    })
    expect(work.steps).toBe(101)
    const others = Array.from({ length: limits.CACHE_ENTRIES_MAX }, (_, index) => `b${index}`)
    work.during(() => {
      for (const text of others) spendWorkOnce(text, 0, 0)
      spendWorkOnce('a', 100, 1)
    })
    expect(work.steps).toBe(201)
  })
})

describe('writtenLength', () => {
  it('is about the length of the text of a value, wherever its parts are shared', () => {
    const shared = { text: 'x'.repeat(100), list: [1, null, true] }
    const value = Array.from({ length: 50 }, () => ({ shared }))
    const written = JSON.stringify(value).length
    expect(writtenLength(value)).toBeGreaterThan(written * 0.9)
    expect(writtenLength(value)).toBeLessThan(written * 1.2)
  })
})
