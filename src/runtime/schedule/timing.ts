import { Cron } from 'croner'
import { dateAt } from '../../core/index.js'

/** When something falls due, milliseconds since 1970-01-01 UTC. */
export interface Timing {
  /** The first time after this one; undefined: never again. */
  next(at: number): number | undefined
  /** The last of the times after `from` up to `until`, oldest first, at most so many. */
  between(from: number, until: number, most: number): readonly number[]
}

/** By a cron expression in a time zone, or by an interval from a time on. */
export type TimingTerms =
  | { readonly cron: string; readonly timeZone: string }
  | { readonly everyMs: number; readonly from: number }

/** Throws what the library says of an expression or a time zone that it cannot read. */
export function timingOf(terms: TimingTerms): Timing {
  return 'cron' in terms ? cronTiming(terms) : intervalTiming(terms)
}

/**
 * In a time zone, an hour that is left out in spring is over at once: what would fall due within it
 * does so when it is over. One that comes twice in autumn is one hour for what falls due at an hour
 * of the day, and two for what falls due each hour.
 */
function cronTiming({ cron, timeZone }: { readonly cron: string; readonly timeZone: string }) {
  const pattern = new Cron(cron, { timezone: timeZone, paused: true })
  const next = (at: number): number | undefined => {
    const found = pattern.nextRun(dateAt(at))?.getTime()
    // One that is no later would be found for ever.
    return found === undefined || found <= at ? undefined : found
  }
  // Asked once, so that a bad time zone is found now.
  next(0)
  return { next, between: betweenBy(next) }
}

/**
 * Looks back in growing spans: a long time that nothing was there costs no look at all of it. Where
 * a span has far more than is wanted, its beginning is found by halves.
 */
function betweenBy(next: Timing['next']): Timing['between'] {
  return (from, until, most) => {
    /** The times behind a start; undefined: more than twice as many as wanted. */
    const behind = (start: number) => {
      const times: number[] = []
      for (let at = next(start); at !== undefined && at <= until; at = next(at)) {
        times.push(at)
        if (times.length > 2 * most) return undefined
      }
      return times
    }
    let late = until
    for (let span = FIRST_SPAN_MS; ; span *= 8) {
      const start = Math.max(from, until - span)
      const times = behind(start) ?? withinHalves(behind, { early: start, late, most })
      if (times.length >= most || start === from) return times.slice(-most)
      late = start
    }
  }
}

/** Behind `early` there are too many times, and behind `late` too few. */
function withinHalves(
  behind: (start: number) => readonly number[] | undefined,
  { early, late, most }: { readonly early: number; readonly late: number; readonly most: number }
): readonly number[] {
  let [tooMany, tooFew] = [early, late]
  while (tooFew - tooMany > 1) {
    const start = Math.floor((tooMany + tooFew) / 2)
    const times = behind(start)
    if (times === undefined) tooMany = start
    else if (times.length < most) tooFew = start
    else return times
  }
  // No two times are of the same millisecond: there is a start between the two.
  return behind(tooFew) ?? []
}

const FIRST_SPAN_MS = 60_000

function intervalTiming(terms: { readonly everyMs: number; readonly from: number }): Timing {
  const { everyMs, from: origin } = terms
  const next = (at: number): number => {
    if (at < origin) return origin + everyMs
    return origin + (Math.floor((at - origin) / everyMs) + 1) * everyMs
  }
  return {
    next,
    between: (from, until, most) => {
      const last = origin + Math.floor((until - origin) / everyMs) * everyMs
      const times: number[] = []
      for (let at = last; at > Math.max(from, origin) && times.length < most; at -= everyMs) {
        times.push(at)
      }
      return times.reverse()
    }
  }
}
