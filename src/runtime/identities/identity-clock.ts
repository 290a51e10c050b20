import type { Clock, Timed } from '../../core/index.js'

interface Timer {
  readonly at: number
  callOff(): void
}

/**
 * The clock of one identity among many: the real one, and what is known of the identity by it.
 *
 * Owns: which timers are set, and what of the identity goes by this clock. Does not own: time.
 *
 * - L17 What moves without a caller either says so by {@link Timed.busyWith} or has a timer here.
 *   Once the clock is stopped, no timer of before goes off: what it was for is done by the next
 *   opening.
 */
export class IdentityClock implements Clock {
  readonly #clock: Clock
  readonly #timers = new Set<Timer>()
  readonly #timed = new Set<Timed>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  now(): number {
    return this.#clock.now()
  }

  schedule(at: number, due: () => void): () => void {
    const callOff = this.#clock.schedule(at, () => {
      this.#timers.delete(timer)
      due()
    })
    const timer: Timer = { at, callOff }
    this.#timers.add(timer)
    return () => {
      this.#timers.delete(timer)
      callOff()
    }
  }

  attach(timed: Timed): () => void {
    this.#timed.add(timed)
    const leave = this.#clock.attach?.(timed)
    return () => {
      this.#timed.delete(timed)
      leave?.()
    }
  }

  /** Whether everything waits for time or people. */
  get isIdle(): boolean {
    for (const { busyWith } of this.#timed) if (busyWith !== undefined) return false
    return true
  }

  /** Calls off what is set; gives when the first of it would have gone off. */
  stop(): number | undefined {
    let first: number | undefined
    for (const { at, callOff } of this.#timers) {
      callOff()
      if (first === undefined || at < first) first = at
    }
    this.#timers.clear()
    return first
  }
}
