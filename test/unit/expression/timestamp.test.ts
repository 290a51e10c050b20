import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { calendarFields, parseTimestamp } from '../../../src/expression/timestamp.js'

const noon = new Date('2024-03-10T12:00:00Z').getTime()

describe('timestamps', () => {
  it('agree with the calendar of the host in UTC, from year 1 to 9999', () => {
    const date = fc.date({
      min: new Date('0001-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59Z'),
      noInvalidDate: true
    })
    fc.assert(
      fc.property(date, (instant) => {
        const text = instant.toISOString()
        const parsed = parseTimestamp(text)
        expect(parsed.seconds).toBe(BigInt(Math.floor(instant.getTime() / 1_000)))
        const yearStart = new Date(instant)
        yearStart.setUTCMonth(0, 1)
        yearStart.setUTCHours(0, 0, 0, 0)
        expect(calendarFields(parsed, 'UTC')).toEqual({
          fullYear: instant.getUTCFullYear(),
          month: instant.getUTCMonth(),
          dayOfMonth: instant.getUTCDate(),
          dayOfWeek: instant.getUTCDay(),
          dayOfYear: Math.floor((instant.getTime() - yearStart.getTime()) / 86_400_000),
          hours: instant.getUTCHours(),
          minutes: instant.getUTCMinutes(),
          seconds: instant.getUTCSeconds(),
          milliseconds: instant.getUTCMilliseconds()
        })
      })
    )
  })

  it('read offsets and fractions exactly', () => {
    expect(parseTimestamp('2024-03-10T14:30:00.000000001+02:30')).toEqual({
      seconds: BigInt(noon / 1_000),
      nanos: 1
    })
  })

  it.each([
    '2023-02-29T00:00:00Z',
    '2024-13-01T00:00:00Z',
    '2024-00-01T00:00:00Z',
    '2024-01-00T00:00:00Z',
    '2024-01-01T24:00:00Z',
    '2024-01-01T00:60:00Z',
    '2016-12-31T23:59:60Z',
    '2024-01-01T00:00:00+24:00',
    '2024-01-01T00:00:00',
    '2024-01-01',
    '2024-1-1T00:00:00Z',
    '2024-01-01T00:00:00.0123456789Z',
    ' 2024-01-01T00:00:00Z',
    '0000-12-31T00:00:00Z',
    '9999-12-31T23:59:59-00:01'
  ])('refuse %s', (text) => {
    expect(() => parseTimestamp(text)).toThrow(/^tally\/(invalid_argument|overflow)/)
  })

  it.each(['America/New_York', 'utc', '+25:00', '2:00', ''])('refuse the zone %j', (zone) => {
    expect(() => calendarFields({ seconds: 0n, nanos: 0 }, zone)).toThrow(/invalid_argument/)
  })
})
