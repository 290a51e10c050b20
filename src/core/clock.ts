/**
 * The only place that reads the clock or sets a timer (D1, D4). Everything else is handed a Clock.
 * Times are milliseconds since 1970-01-01 UTC.
 */
export interface Clock {
  now(): number
  /** Calls `due` once, not before `at`; the returned function calls it off. */
  schedule(at: number, due: () => void): () => void
  /**
   * Hears of a runtime that goes by this clock; gives what takes it away again. A clock for tests
   * lets what time has begun settle before more of it passes; others do without.
   */
  attach?(timed: Timed): () => void
}

/** A runtime, as a clock for tests sees it. */
export interface Timed {
  /**
   * `itself`: it continues without any time passing; `effects`: it only waits for the answers of
   * effects; undefined: it waits for a time or a person, or has nothing to do.
   */
  readonly busyWith: 'itself' | 'effects' | undefined
}

// setTimeout fires at once for delays over 2^31-1 ms, and may fire a millisecond too early.
const TIMER_MS_MAX = 2 ** 31 - 1

/** What a clock is made of. */
export interface TimeSource {
  /** Milliseconds since 1970-01-01 UTC, which may be set back. */
  wall(): number
  /** Milliseconds that only grow, from any beginning; they may stand while a machine sleeps. */
  monotonic(): number
  /** Calls `due` after `delayMs` of monotonic time or a little earlier; gives what calls it off. */
  timer(delayMs: number, due: () => void): () => void
}

/**
 * A clock that is never set back: it advances by the larger of monotonic and wall progress, so that
 * a sleep ends in its time when the wall clock is set back, and late, not never, when the machine
 * was suspended (L15). A new process begins with the wall clock as it is.
 *
 * Owns: how far the wall clock has been ahead of monotonic time at most.
 */
export class SteadyClock implements Clock {
  readonly #source: TimeSource
  #lead = Number.NEGATIVE_INFINITY

  constructor(source: TimeSource) {
    this.#source = source
  }

  now(): number {
    const wall = this.#source.wall()
    const monotonic = this.#source.monotonic()
    const lead = wall - monotonic
    if (lead > this.#lead) this.#lead = lead
    // Never behind the wall clock for a rounding.
    return Math.max(wall, Math.floor(monotonic + this.#lead))
  }

  schedule(at: number, due: () => void): () => void {
    let callOff: () => void
    const arm = () => {
      const delayMs = Math.min(Math.max(at - this.now(), 0), TIMER_MS_MAX)
      callOff = this.#source.timer(delayMs, () => (this.now() < at ? arm() : due()))
    }
    arm()
    return () => callOff()
  }
}

/** Time as the globals of the process have it at each call, so that fake timers replace it. */
export const systemTime: TimeSource = {
  wall: () => Date.now(),
  monotonic: () => performance.now(),
  timer: (delayMs, due) => {
    const timer = setTimeout(due, delayMs)
    return () => clearTimeout(timer)
  }
}

export const systemClock: Clock = new SteadyClock(systemTime)

/** Monotonic milliseconds for telemetry and time slices; never in a hash. */
export function elapsedMs(): number {
  return performance.now()
}

/** A time as people read it, in UTC: `2025-01-31 12:00:00`. */
export function timeText(at: number): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? '-' : date.toISOString().slice(0, 19).replace('T', ' ')
}

/** A clock that only moves when told to, for tests and simulations. */
export class ManualClock implements Clock {
  #now: number
  #timers: { at: number; order: number; due: () => void }[] = []
  #order = 0

  constructor(now = 1_700_000_000_000) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  schedule(at: number, due: () => void): () => void {
    const timer = { at, order: this.#order, due }
    this.#order += 1
    this.#timers.push(timer)
    this.#timers.sort((a, b) => a.at - b.at || a.order - b.order)
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }

  /** When the next timer is due, or undefined when none is set. */
  get nextDue(): number | undefined {
    return this.#timers[0]?.at
  }

  /** Moves the time forward, firing due timers in order. */
  advance(ms: number): void {
    const end = this.#now + ms
    for (let next = this.#timers[0]; next !== undefined && next.at <= end; next = this.#timers[0]) {
      this.#timers.shift()
      this.#now = Math.max(this.#now, next.at)
      next.due()
    }
    this.#now = end
  }
}

// A turn is no time: fake timers of a test, which replace the global, leave turns alone.
const inNextTurn = setImmediate
const beforeOtherWork = process.nextTick

/** Resolves in the next turn of the event loop, after every microtask that is due now. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => inNextTurn(resolve))
}

/** Resolves when no microtask is due any more, before anything else of the event loop. */
export function microtasksDone(): Promise<void> {
  return new Promise((resolve) => afterMicrotasks(resolve))
}

/** Acts when no microtask is due any more, before anything else of the event loop. */
export function afterMicrotasks(act: () => void): void {
  // From within a microtask: what is asked for outside of one comes before all of them.
  queueMicrotask(() => beforeOtherWork(act))
}

/** A time as libraries take it. */
export function dateAt(atMs: number): Date {
  return new Date(atMs)
}

/** A time of an unknown range as RFC 3339 writes it, in UTC; `-` for one that no date has. */
export function rfc3339(atMs: number): string {
  const date = new Date(atMs)
  return Number.isNaN(date.getTime()) ? '-' : date.toISOString()
}
