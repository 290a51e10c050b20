/**
 * How much the tests do. `npm test` does what fits in a few minutes. `LONG=1`, as `.ci/run` sets
 * it, does all cases but of what takes it longest, and types each form of a command once in a
 * process of its own; `SOAK=1` (`npm run soak`) does all, with fresh seeds and far more of them.
 */
export const isSoak = process.env['SOAK'] === '1'
export const isLong = isSoak || process.env['LONG'] === '1'

/** Whether the case at a place is done: one of so many, or all with more effort. */
export function isTaken(place: number, outOf: number): boolean {
  return isLong || place % outOf === 0
}

/** A count of cases by how much the tests do. */
export function cases(counts: {
  readonly usual: number
  readonly long: number
  readonly soak?: number
}): number {
  if (isSoak && counts.soak !== undefined) return counts.soak
  return isLong ? counts.long : counts.usual
}

/** How long a test may take that has as much time as this, milliseconds: a soak lasts for hours. */
export function testMs(usual: number): number {
  return isSoak ? 24 * 3_600_000 : usual
}
