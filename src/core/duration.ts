/** A time span: milliseconds, or a text such as `500ms`, `30s`, `2h30m`, `1d`. */
export type Duration = number | string

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000
}

const part = /(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)\s*/gy

/** Whole milliseconds of a time span; undefined for what is none. */
export function durationMs(given: Duration): number | undefined {
  if (typeof given === 'number') return isSpan(given) ? Math.round(given) : undefined
  // What is said in options may come from anywhere.
  if (typeof given !== 'string') return undefined
  let ms = 0
  let end = 0
  for (const found of given.trim().matchAll(part)) {
    ms += Number(found[1]) * (UNITS[found[2] ?? ''] ?? Number.NaN)
    end = found.index + found[0].length
  }
  const isWhole = end > 0 && end === given.trim().length
  return isWhole && isSpan(ms) ? Math.round(ms) : undefined
}

function isSpan(ms: number): boolean {
  return ms >= 0 && ms <= Number.MAX_SAFE_INTEGER
}
