import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  changesAfter,
  filterIn,
  isListed,
  noChanges,
  runsAfter
} from '../../../../src/console/page/pure/live-lists.js'
import { ROWS_BEYOND, windowOf } from '../../../../src/console/page/pure/windowing.js'
import type { RunLine } from '../../../../src/runtime/index.js'

const run = (id: string, startedAt: number, status = 'done'): RunLine => ({
  id: id as RunLine['id'],
  name: 'pay',
  status: status as RunLine['status'],
  principal: {},
  startedAt,
  updatedAt: startedAt,
  entries: 1,
  receipts: 1,
  waits: [],
  due: null,
  failure: null,
  quarantined: false,
  notChecked: []
})

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
  it('changes a run in its place, adds a new one in front, and drops what no longer fits', () => {
    const list = [run('b', 2, 'waiting'), run('a', 1, 'waiting')]
    const filter = { status: 'waiting' } as const
    const now = runsAfter(list, filter, [run('a', 1), run('c', 3, 'waiting'), run('z', 0)])
    expect(now.map(({ id }) => id)).toEqual(['c', 'b'])
    expect(runsAfter(list, filter, [])).toBe(list)
  })

  it('says what has to be asked anew', () => {
    const line = run('a', 1)
    const place = '1.0'
    const after = changesAfter(noChanges, [
      { place, type: 'run', run: line },
      { place, type: 'entry', runId: line.id, entry: {} },
      { place, type: 'entry', runId: line.id, entry: {} },
      { type: 'mode', mode: 'ready', cause: null }
    ])
    expect(after).toMatchObject({ runs: 1, waits: 1, log: 0, mode: 1 })
    expect(after.journals.get('a')).toBe(2)
  })

  it('reads a filter as it is typed', () => {
    expect(filterIn('status:waiting name:freight 88 12')).toEqual({
      status: 'waiting',
      name: 'freight',
      text: '88 12'
    })
    expect(filterIn('status:odd')).toEqual({ text: 'status:odd' })
    expect(isListed(run('June', 1), filterIn('june'))).toBe(true)
    expect(isListed(run('June', 1), { since: 2 })).toBe(false)
  })
})
