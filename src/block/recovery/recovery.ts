import { applyEntry } from '../pump/apply.js'
import type { RecordedEntry } from '../pump/book.js'
import type { RunCheckpoint } from '../pump/host.js'
import type { RunDriver } from '../pump/run-driver.js'
import type { RunStarted } from '../run/entries.js'

/** What recovering needs besides the public face of a pump. */
export interface RecoveryHands {
  readonly saved: RunCheckpoint | undefined
  /** Starts the actors, from the checkpoint's snapshot if there is one. */
  start(started: RunStarted): void
  takeAsks(): void
}

/**
 * Rebuilds a run from its checkpoint and from what its journal has beyond it, or beyond its start
 * without one, entry by entry: however long the journal is, no more than one is in memory.
 *
 * Owns: what keeps the run from being recovered, until it is to go on and ends with it.
 */
export class Recovery {
  readonly #pump: RunDriver
  readonly #hands: RecoveryHands
  #hasRecovered = false

  constructor(pump: RunDriver, hands: RecoveryHands) {
    this.#pump = pump
    this.#hands = hands
  }

  /** Takes over the checkpoint; the entries after it come next. */
  begin(started: RunStarted): void {
    this.#try(() => {
      const { leaves, agenda } = this.#pump
      const { saved } = this.#hands
      leaves.restore(saved?.past ?? [], saved?.attempts)
      leaves.landed.push(...(saved?.landed?.all ?? []))
      leaves.inDoubt.push(...(saved?.landed?.inDoubt ?? []))
      this.#hands.start(started)
      // The restored charts know already who is WAITING; only the bookkeeping is told again.
      const waiting = [...agenda.waiting]
      agenda.waiting.clear()
      for (const entry of saved?.open ?? []) applyEntry(this.#pump, entry)
      for (const path of waiting) agenda.waiting.add(path)
      // Those of the open waits among them were counted just now.
      agenda.waits.restoreAskings(saved?.askings ?? [])
    })
  }

  /** Whether entries beyond the checkpoint were taken. */
  get hasRecovered(): boolean {
    return this.#hasRecovered
  }

  take(recorded: RecordedEntry): void {
    this.#try(() => {
      this.#pump.book.recover(recorded)
      this.#hasRecovered = true
      applyEntry(this.#pump, recorded.entry)
      this.#hands.takeAsks()
    })
  }

  /** Throws what has kept the run from being recovered, `run.journal_forged` among it. */
  finish(): void {
    const { inbox, book } = this.#pump
    if (inbox.failure !== undefined) throw inbox.failure.error
    if (this.#hasRecovered) book.checkRecovered()
  }

  #try(work: () => void): void {
    const { inbox } = this.#pump
    if (inbox.failure !== undefined) return
    try {
      work()
    } catch (error) {
      inbox.fail(error)
    }
  }
}
