import { Cron } from 'croner'
import { describe, expect, it, vi } from 'vitest'
import { timingOf } from '../../../../src/runtime/schedule/timing.js'

/** When schedules fall due, in zones whose clocks are set. */

const at = (text: string) => Date.parse(text)

function times(cron: string, timeZone: string, from: string, count: number): readonly string[] {
  const { next } = timingOf({ cron, timeZone })
  const found: string[] = []
  for (let one = next(at(from)); one !== undefined && found.length < count; one = next(one)) {
    found.push(new Date(one).toISOString().slice(0, 16))
  }
  return found
}

describe('cron in a time zone', () => {
  it('has what would fall into the hour that is left out when that hour is over', () => {
    expect(times('30 2 * * *', 'Europe/Berlin', '2026-03-28T00:00:00Z', 3)).toEqual([
      '2026-03-28T01:30',
      '2026-03-29T01:00',
      '2026-03-30T00:30'
    ])
    expect(times('30 2 * * *', 'America/New_York', '2026-03-07T12:00:00Z', 2)).toEqual([
      '2026-03-08T07:00',
      '2026-03-09T06:30'
    ])
  })

  it('has an hour of the day once where it comes twice', () => {
    expect(times('30 2 * * *', 'Europe/Berlin', '2026-10-23T12:00:00Z', 3)).toEqual([
      '2026-10-24T00:30',
      '2026-10-25T00:30',
      '2026-10-26T01:30'
    ])
  })

  it('has each hour there is, where it falls due each hour', () => {
    expect(times('0 * * * *', 'Europe/Berlin', '2026-10-24T23:30:00Z', 4)).toEqual([
      '2026-10-25T00:00',
      '2026-10-25T01:00',
      '2026-10-25T02:00',
      '2026-10-25T03:00'
    ])
    expect(times('0 * * * *', 'Europe/Berlin', '2026-03-28T23:30:00Z', 3)).toEqual([
      '2026-03-29T00:00',
      '2026-03-29T01:00',
      '2026-03-29T02:00'
    ])
  })

  it('ends where nothing falls due any more, and refuses what it cannot read', () => {
    expect(times('0 0 30 2 *', 'UTC', '2026-01-01T00:00:00Z', 1)).toEqual([])
    expect(times('0 0 29 2 *', 'UTC', '2026-01-01T00:00:00Z', 1)).toEqual(['2028-02-29T00:00'])
    expect(() => timingOf({ cron: '61 * * * *', timeZone: 'UTC' })).toThrow('minute')
    expect(() => timingOf({ cron: '* * * * *', timeZone: 'Mars/Olympus' })).toThrow('Mars/Olympus')
  })

  it('finds the last times before now, however long nothing was there', () => {
    const { between } = timingOf({ cron: '*/10 * * * *', timeZone: 'UTC' })
    const until = at('2026-06-01T00:05:00Z')
    const shown = (most: number, from: string) =>
      between(at(from), until, most).map((one) => new Date(one).toISOString().slice(11, 16))
    expect(shown(1, '2020-01-01T00:00:00Z')).toEqual(['00:00'])
    expect(shown(3, '2020-01-01T00:00:00Z')).toEqual(['23:40', '23:50', '00:00'])
    expect(shown(9, '2026-05-31T23:50:00Z')).toEqual(['00:00'])
    expect(between(until, until, 5)).toEqual([])
  })

  it.each([
    ['many times in few hours of a year', '*/5 0-30 8,9 1 JAN,FEB MON#1', 1],
    ['many times in few hours of a year, many of them', '*/5 0-30 8,9 1 JAN,FEB MON#1', 500],
    ['many times a day', '* * 9 * * *', 3],
    ['a day that comes every few years', '0 0 29 2 *', 2]
  ])('finds the last of %s without looking at the others', (_, cron, most) => {
    const { next, between } = timingOf({ cron, timeZone: 'Europe/Berlin' })
    const [from, until] = [at('2019-01-01T00:00:00Z'), at('2026-06-01T00:05:00Z')]
    const looks = vi.spyOn(Cron.prototype, 'nextRun')
    const found = between(from, until, most)
    expect(looks.mock.calls.length).toBeLessThan(60 + 20 * most)
    looks.mockRestore()
    const [first = until] = found
    const all: number[] = []
    for (let one = next(first - 1); one !== undefined && one <= until; one = next(one)) {
      all.push(one)
    }
    expect(found.length).toBe(most)
    expect(found).toEqual(all)
  })
})

describe('an interval', () => {
  it('counts from when it was registered', () => {
    const { next, between } = timingOf({ everyMs: 1_000, from: 500 })
    expect(next(0)).toBe(1_500)
    expect(next(1_500)).toBe(2_500)
    expect(next(1_499)).toBe(1_500)
    expect(between(0, 4_000, 2)).toEqual([2_500, 3_500])
    expect(between(2_500, 4_000, 9)).toEqual([3_500])
    expect(between(0, 1_000, 9)).toEqual([])
  })
})
