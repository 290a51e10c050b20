import { elapsedMs, limits, nextTurn } from '../../core/index.js'
import type { Journal } from '../run/journal.js'

/**
 * Shares the event loop among all runs of a runtime (D9): a run that continues after the slice is
 * used up first lets the loop turn, so that timers, sockets and the disk are served.
 */
export class Turns {
  #slice: { readonly end: number; readonly turn: Promise<void> } | undefined

  /** Undefined while the slice lasts; otherwise what to await before continuing. */
  yield(): Promise<void> | undefined {
    const now = elapsedMs()
    if (this.#slice === undefined) {
      const turn = nextTurn().then(() => {
        this.#slice = undefined
      })
      this.#slice = { end: now + limits.PUMP_SLICE_MS, turn }
      return undefined
    }
    return now < this.#slice.end ? undefined : this.#slice.turn
  }
}

/** Whether so much waits for the disk that a run has to wait, too (D9). */
export function isFarAhead(journal: Pick<Journal, 'backlog'>): boolean {
  const { items, bytes } = journal.backlog()
  return items > limits.RUN_AHEAD_ITEMS_MAX || bytes > limits.RUN_AHEAD_BYTES_MAX
}
