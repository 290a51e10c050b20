/** Times as text: UTC, so that two people who look at one ledger see the same. */

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
/** Most that a date can be (ECMA-262). */
const DATE_MAX = 8.64e15

function isoOf(ms: number): string {
  return Math.abs(ms) <= DATE_MAX ? new Date(ms).toISOString() : 'no time'
}

/** `15:02:41`. */
export const clockText = (ms: number) => isoOf(ms).slice(11, 19)
/** `15:02:41.496`. */
export const preciseText = (ms: number) => isoOf(ms).slice(11, 23)
/** `2026-11-22 15:02:41`. */
export const dayText = (ms: number) => isoOf(ms).slice(0, 19).replace('T', ' ')
/** `11-22 15:02`. */
export const dueText = (ms: number) => isoOf(ms).slice(5, 16).replace('T', ' ')
/** When something is due: the time alone where it is on the same day as `nowMs`. */
export const untilText = (ms: number, nowMs: number) =>
  dayText(ms).slice(0, 10) === dayText(nowMs).slice(0, 10) ? clockText(ms) : dueText(ms)

/** How long something took. */
export function tookText(ms: number): string {
  if (ms < 1) return '<1 ms'
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`
  if (ms < MINUTE_MS) return `${(ms / SECOND_MS).toFixed(ms < 10 * SECOND_MS ? 2 : 1)} s`
  if (ms < HOUR_MS) {
    return `${Math.floor(ms / MINUTE_MS)} min ${Math.round((ms % MINUTE_MS) / SECOND_MS)} s`
  }
  return ms < 2 * DAY_MS ? `${Math.round(ms / HOUR_MS)} h` : `${Math.round(ms / DAY_MS)} days`
}

/** How long ago something was. */
export function ageText(ms: number): string {
  return ms < MINUTE_MS ? `${Math.max(1, Math.round(ms / SECOND_MS))} s` : tookText(ms)
}
