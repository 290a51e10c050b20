import type { Attempt } from '../pump/attempt.js'
import type { RecordedEntry } from '../pump/journal-writer.js'
import type { PumpParts } from '../pump/parts.js'
import { apply } from '../run/apply.js'
import { type RunCheckpoint, restore } from '../run/checkpoint.js'
import type { RunStarted } from '../run/entries.js'
import type { Overlay } from '../run/overlay.js'
import type { Driver } from '../run/run-state.js'

/** What recovering needs besides the parts of a pump. */
export interface RecoveryHands {
  readonly driver: Driver<Attempt, Overlay>
  readonly saved: RunCheckpoint | undefined
  /** Starts the actors, from the checkpoint's snapshot if there is one. */
  start(): void
  takeAsks(): void
}

/**
 * Rebuilds a run from its checkpoint and from what its journal has beyond it, or beyond its start
 * without one, entry by entry: however long the journal is, no more than one is in memory.
 *
 * Owns: whether there were such entries. Does not own: the state that they lead to, or what keeps
 * the run from being recovered, which its inbox has until the run is resumed and ends with it.
 *
 * - D6: entries are applied as a live pump applies them.
 */
export class JournalRecovery {
  readonly #parts: Pick<PumpParts, 'state' | 'writer' | 'inbox'>
  readonly #hands: RecoveryHands
  #hasRecovered = false

  constructor(parts: Pick<PumpParts, 'state' | 'writer' | 'inbox'>, hands: RecoveryHands) {
    this.#parts = parts
    this.#hands = hands
  }

  /** Takes over the checkpoint; the entries after it come next. */
  begin(started: RunStarted): void {
    this.#try(() => {
      const { state } = this.#parts
      const { saved, driver } = this.#hands
      state.started = started
      if (saved !== undefined) restore(state, saved)
      this.#hands.start()
      this.#hands.takeAsks()
      for (const entry of saved?.open ?? []) apply(state, entry, driver)
      // The restored charts know already which leaves are WAITING.
      for (const path of saved?.waiting ?? []) state.waiting.add(path)
      // Those of the open waits among them were counted just now.
      state.waits.restoreAskings(saved?.askings ?? [])
      for (const [token, approvals] of Object.entries(saved?.approvals ?? {})) {
        for (const approval of approvals) state.waits.approved(token, approval)
      }
    })
  }

  /** Whether entries beyond the checkpoint were taken. */
  get hasRecovered(): boolean {
    return this.#hasRecovered
  }

  take(recorded: RecordedEntry): void {
    this.#try(() => {
      this.#parts.writer.recover(recorded)
      this.#hasRecovered = true
      apply(this.#parts.state, recorded.entry, this.#hands.driver)
      this.#hands.takeAsks()
    })
  }

  /** Throws what has kept the run from being recovered, `run.journal_forged` among it. */
  finish(): void {
    const { inbox, writer } = this.#parts
    if (inbox.failure !== undefined) throw inbox.failure.error
    if (this.#hasRecovered) writer.checkRecovered()
  }

  #try(work: () => void): void {
    const { inbox } = this.#parts
    if (inbox.failure !== undefined) return
    try {
      work()
    } catch (error) {
      inbox.fail(error)
    }
  }
}
