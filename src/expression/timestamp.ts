import { FailureSignal } from './failure.js'

/** Seconds since 1970-01-01T00:00:00Z and nanoseconds from 0 to 999,999,999. */
export interface Instant {
  readonly seconds: bigint
  readonly nanos: number
}

/** Calendar fields in some fixed offset; month and day of the year count from 0, as in CEL. */
export interface CalendarFields {
  readonly fullYear: number
  readonly month: number
  readonly dayOfMonth: number
  readonly dayOfWeek: number
  readonly dayOfYear: number
  readonly hours: number
  readonly minutes: number
  readonly seconds: number
  readonly milliseconds: number
}

const rfc3339 =
  /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:(Z)|([+-])(\d\d):(\d\d))$/
const fixedOffset = /^([+-]?)(\d\d):(\d\d)$/
const secondsMin = -62135596800n
const secondsMax = 253402300799n
const daySeconds = 86_400

/** Reads a strict RFC 3339 timestamp with a real date; leap seconds are refused. */
export function parseTimestamp(text: string): Instant {
  const match = rfc3339.exec(text)
  if (match === null) throw notTimestamp(text)
  const [year = 0, month = 0, day = 0, hours = 0, minutes = 0, seconds = 0] = match
    .slice(1, 7)
    .map(Number)
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) throw notTimestamp(text)
  if (hours > 23 || minutes > 59 || seconds > 59) throw notTimestamp(text)
  const sign = match[9] === '-' ? -1 : 1
  const offset = match[8] === 'Z' ? 0 : sign * offsetSeconds(match[10], match[11], text)
  const clock = hours * 3_600 + minutes * 60 + seconds - offset
  return {
    seconds: checkedSeconds(BigInt(daysFromCivil(year, month, day) * daySeconds + clock)),
    nanos: Number((match[7] ?? '').padEnd(9, '0'))
  }
}

/** Refuses seconds outside the years 0001 to 9999. */
export function checkedSeconds(seconds: bigint): bigint {
  if (seconds < secondsMin || seconds > secondsMax) {
    throw new FailureSignal('overflow', 'the timestamp is outside the years 0001 to 9999')
  }
  return seconds
}

/**
 * Calendar fields in UTC or a fixed offset. Never through the host's clock or time-zone data, whose
 * answers change with the machine; names like `America/New_York` are refused.
 */
export function calendarFields(instant: Instant, zone: string): CalendarFields {
  const local = Number(instant.seconds) + zoneSeconds(zone)
  const days = Math.floor(local / daySeconds)
  const clock = local - days * daySeconds
  const { year, month, day } = civilFromDays(days)
  return {
    fullYear: year,
    month: month - 1,
    dayOfMonth: day,
    dayOfWeek: (((days + 4) % 7) + 7) % 7,
    dayOfYear: days - daysFromCivil(year, 1, 1),
    hours: Math.floor(clock / 3_600),
    minutes: Math.floor(clock / 60) % 60,
    seconds: clock % 60,
    milliseconds: Math.floor(instant.nanos / 1_000_000)
  }
}

function zoneSeconds(zone: string): number {
  if (zone === 'UTC') return 0
  const match = fixedOffset.exec(zone)
  if (match === null) {
    const detail = 'a time zone must be "UTC" or a fixed offset such as "+02:00"'
    throw new FailureSignal('invalid_argument', detail)
  }
  return (match[1] === '-' ? -1 : 1) * offsetSeconds(match[2], match[3], zone)
}

function offsetSeconds(hours: string | undefined, minutes: string | undefined, text: string) {
  if (Number(hours) > 23 || Number(minutes) > 59) throw notTimestamp(text)
  return Number(hours) * 3_600 + Number(minutes) * 60
}

function daysInMonth(year: number, month: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  if (month === 2) return isLeap ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

// Days since 1970-01-01 in the proleptic Gregorian calendar, by eras of 400 years from 1 March.
function daysFromCivil(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year
  const era = Math.floor(shifted / 400)
  const yearOfEra = shifted - era * 400
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1
  const leapDays = Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100)
  return era * 146_097 + yearOfEra * 365 + leapDays + dayOfYear - 719_468
}

function civilFromDays(days: number): { year: number; month: number; day: number } {
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const leapDays = Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524)
  const yearOfEra = Math.floor((dayOfEra - leapDays + Math.floor(dayOfEra / 146_096)) / 365)
  const daysBefore = 365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100)
  const dayOfYear = dayOfEra - daysBefore
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
  const day = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day }
}

function notTimestamp(text: string): FailureSignal {
  const shown = JSON.stringify(text.slice(0, 80))
  return new FailureSignal('invalid_argument', `${shown} is not an RFC 3339 timestamp`)
}
