import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  changesAfter,
  filterIn,
  noChanges,
  tagFilter
} from '../../../../src/console/page/pure/live-lists.js'
import { ROWS_BEYOND, windowOf } from '../../../../src/console/page/pure/windowing.js'
import type { FeedEvent } from '../../../../src/runtime/index.js'

describe('rows in sight', () => {
  const lists = fc.record({
    count: fc.nat(100_000),
    rowHeight: fc.integer({ min: 20, max: 70 }),
    scrollTop: fc.integer({ min: -100, max: 4_000_000 }),
    viewHeight: fc.integer({ min: 1, max: 2_000 })
  })

  it('cover what is seen, keep the height of the whole, and are few', () => {
    fc.assert(
      fc.property(lists, (list) => {
        const { count, rowHeight, viewHeight } = list
        const { first, end, before, after } = windowOf(list)
        const height = before + (end - first) * rowHeight + after
        expect(height).toBe(count * rowHeight)
        expect(first).toBeLessThanOrEqual(end)
        const seen = Math.ceil(viewHeight / rowHeight) + 1
        expect(end - first).toBeLessThanOrEqual(seen + 2 * ROWS_BEYOND)
        const reach = Math.max(0, count * rowHeight - viewHeight)
        const top = Math.max(0, Math.min(list.scrollTop, reach))
        expect(before).toBeLessThanOrEqual(top)
        const bottom = Math.min(count * rowHeight, top + viewHeight)
        expect(end * rowHeight).toBeGreaterThanOrEqual(bottom)
      })
    )
  })
})

describe('lists that follow the feed', () => {
  const place = '1.0'
  const changed = (runs: readonly string[] | null, isSigned = false) =>
    ({ place, type: 'changed', runs, isSigned }) as unknown as FeedEvent

  it('says what has to be asked anew', () => {
    const after = changesAfter(noChanges, [
      changed(['a', 'b']),
      changed(['a'], true),
      { type: 'mode', mode: 'ready', cause: null }
    ])
    expect(after).toMatchObject({ runs: 2, log: 1, mode: 1, journals: { all: 0 } })
    expect(after.journals.of.get('a')).toBe(2)
    expect(changesAfter(after, [changed(null)]).journals).toEqual({ ...after.journals, all: 1 })
  })

  it('asks for every journal anew where it forgets which have changed', () => {
    const before = changesAfter(noChanges, [changed(['a']), changed(['a'])])
    const many = Array.from({ length: 1_000 }, (_, n) => `run-${n}`)
    const { journals } = changesAfter(before, [changed(many)])
    expect(journals.of.size).toBe(0)
    expect(journals.all).toBeGreaterThanOrEqual(2)
  })

  it('reads a filter as it is typed', () => {
    expect(filterIn('status:waiting name:freight 88 12')).toEqual({
      status: 'waiting',
      name: 'freight',
      text: '88 12'
    })
    expect(filterIn('status:odd')).toEqual({ text: 'status:odd' })
    expect(filterIn('june "a b" tag:"two words"')).toEqual({ tag: 'two words', text: 'june "a b"' })
    expect(filterIn('tag: name:"open')).toEqual({ text: 'tag: name:"open' })
  })

  it.each(['vip', 'customer:42', 'two words', 'tab\tand line\n', 'é'])(
    'finds the tag %j by what is typed for it',
    (tag) => expect(filterIn(tagFilter(tag) ?? '')).toEqual({ tag })
  )

  it('types nothing for a tag with a quotation mark', () => {
    expect(tagFilter('a "b"')).toBeUndefined()
  })
})
