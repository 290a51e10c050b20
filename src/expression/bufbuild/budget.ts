import { limits } from '../../core/index.js'
import { FailureSignal } from '../failure.js'

/**
 * Owns the work one evaluation may still do. One engine evaluates one expression at a time (it is
 * synchronous), so one budget is enough. It does not measure time: the same work costs the same on
 * every machine (D4, D7).
 */
export class Budget {
  #left = 0
  #exceeded = false

  /** Begins an evaluation. */
  restart(): void {
    this.#left = limits.EXPRESSION_TICKS_MAX
    this.#exceeded = false
  }

  /** Whether the evaluation ran out; asked at the end too, since `||` absorbs errors. */
  get exceeded(): boolean {
    return this.#exceeded
  }

  /** Pays for work: one per loop iteration or list element, one per kibi-character of text. */
  spend(ticks: number): void {
    this.#left -= ticks
    if (this.#left >= 0) return
    this.#exceeded = true
    throw new FailureSignal('budget_exceeded', `more than ${limits.EXPRESSION_TICKS_MAX} steps`)
  }

  /** Pays for reading or building text. */
  spendText(length: number): void {
    if (length >= 1_024) this.spend(length >> 10)
  }
}
