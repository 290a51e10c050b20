import type { Clock } from '../../core/index.js'
import type { PumpEvent } from './facts.js'

/**
 * The timers of one run on the clock. A timer that has fired is a fact for the pump, like any
 * other.
 *
 * Owns: the timers. Does not own: what is waited for; the state of the run has that, and the pump
 * arms its waits once it is live, so that in recovery pending effects come before what fell due
 * meanwhile (K7).
 */
export class Alarms {
  readonly #clock: Clock
  readonly #post: (fact: PumpEvent) => void
  #timers: Map<string, () => void> | undefined

  constructor(clock: Clock, post: (fact: PumpEvent) => void) {
    this.#clock = clock
    this.#post = post
  }

  /** Posts the fact when it is due, under a key. */
  arm(key: string, due: number, fact: PumpEvent): void {
    this.disarm(key)
    this.#timers ??= new Map()
    this.#timers.set(
      key,
      this.#clock.schedule(due, () => this.#post(fact))
    )
  }

  disarm(key: string): void {
    if (this.#timers === undefined) return
    this.#timers.get(key)?.()
    this.#timers.delete(key)
  }

  dispose(): void {
    for (const callOff of this.#timers?.values() ?? []) callOff()
    this.#timers?.clear()
  }
}
