import type { DecisionAsk } from '../protocol.js'
import type { WaitBegun } from '../run/entries.js'
import { OpenWaits } from '../run/waits.js'
import type { Fact } from './fact.js'
import type { PumpHost } from './host.js'

/**
 * What a run waits for: open waits, timers, and decisions that charts have asked for.
 *
 * Owns: timers on the clock. A timer that has fired is a fact for the pump, like any other; waits
 * are armed only once the pump is live, so that in recovery pending effects come before timers that
 * fell due meanwhile (K7).
 */
export class Agenda {
  readonly waits = new OpenWaits()
  readonly decisions = new Map<string, DecisionAsk>()
  /** Paths of leaves that are WAITING inside an attempt. */
  readonly waiting: Set<string>
  readonly #clock: PumpHost['clock']
  readonly #post: (fact: Fact) => void
  #timers: Map<string, { readonly due: number; readonly callOff: () => void }> | undefined

  constructor(options: {
    readonly clock: PumpHost['clock']
    readonly post: (fact: Fact) => void
    readonly waiting: readonly string[]
  }) {
    this.#clock = options.clock
    this.#post = options.post
    this.waiting = new Set(options.waiting)
  }

  get isEmpty(): boolean {
    return this.waits.isEmpty && (this.#timers?.size ?? 0) === 0
  }

  /** When the first timer is due, or null. */
  nextDue(): number | null {
    let first: number | null = null
    for (const { due } of this.#timers?.values() ?? [])
      if (first === null || due < first) first = due
    return first
  }

  arm(key: string, due: number, fact: Fact): void {
    this.disarm(key)
    this.#timers ??= new Map()
    this.#timers.set(key, { due, callOff: this.#clock.schedule(due, () => this.#post(fact)) })
  }

  disarm(key: string): void {
    this.#timers?.get(key)?.callOff()
    this.#timers?.delete(key)
  }

  armWait(wait: WaitBegun): void {
    if (wait.due !== null) this.arm(wait.token, wait.due, { kind: 'due', token: wait.token })
  }

  close(token: string): void {
    this.waits.remove(token)
    this.disarm(token)
  }

  /** The block at this path waits no more, and neither does anything below it. */
  forget(path: string): void {
    this.decisions.delete(path)
    this.waiting.delete(path)
    this.disarm(path)
    this.closeWaits(path)
  }

  closeWaits(path: string): void {
    for (const wait of this.waits.removeAt(path)) this.disarm(wait.token)
  }

  dispose(): void {
    for (const { callOff } of this.#timers?.values() ?? []) callOff()
    this.#timers?.clear()
  }
}
