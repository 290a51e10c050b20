import { type CelFunc, CelScalar, celFunc, celMethod, objectType } from '@bufbuild/cel'
import { create, type Message } from '@bufbuild/protobuf'
import { TimestampSchema } from '@bufbuild/protobuf/wkt'
import {
  type CalendarFields,
  calendarFields,
  checkedSeconds,
  parseTimestamp
} from '../timestamp.js'

const { INT, STRING } = CelScalar
const TIMESTAMP = objectType(TimestampSchema)

const calendarMethods: Readonly<Record<string, (fields: CalendarFields) => number>> = {
  getFullYear: (fields) => fields.fullYear,
  getMonth: (fields) => fields.month,
  getDate: (fields) => fields.dayOfMonth,
  getDayOfMonth: (fields) => fields.dayOfMonth - 1,
  getDayOfWeek: (fields) => fields.dayOfWeek,
  getDayOfYear: (fields) => fields.dayOfYear,
  getHours: (fields) => fields.hours,
  getMinutes: (fields) => fields.minutes,
  getSeconds: (fields) => fields.seconds,
  getMilliseconds: (fields) => fields.milliseconds
}

/** Timestamps without the host's clock, calendar or time-zone data. */
export function timeFunctions(): readonly CelFunc[] {
  return [
    celFunc('timestamp', [STRING], TIMESTAMP, (text) => timestamp(parseTimestamp(text))),
    celFunc('timestamp', [INT], TIMESTAMP, (seconds) =>
      timestamp({ seconds: checkedSeconds(seconds), nanos: 0 })
    ),
    ...Object.entries(calendarMethods).flatMap(([name, field]) => [
      celMethod(name, TIMESTAMP, [], INT, function () {
        return BigInt(field(calendarFields(this.message, 'UTC')))
      }),
      celMethod(name, TIMESTAMP, [STRING], INT, function (zone) {
        return BigInt(field(calendarFields(this.message, zone)))
      })
    ])
  ]
}

function timestamp(instant: { readonly seconds: bigint; readonly nanos: number }): Message {
  return create(TimestampSchema, instant)
}
