import type { CommitQueue } from './commit/queue.js'
import type { QueuedItem } from './commit/queued-item.js'
import type { LedgerModes } from './mode.js'

/**
 * The moments in which a snapshot takes the place of an open ledger (semantics.md K10).
 *
 * Owns: nothing. What is compared and changed meanwhile is the importer's.
 *
 * - K10 From `begin` to `end` nothing is committed: the mode is `restoring`, and what runs append
 *   waits. So nothing is shown that the ledger in force would not hold (D2).
 */
export class Restoring {
  readonly #modes: LedgerModes
  readonly #queue: CommitQueue<QueuedItem>

  constructor(modes: LedgerModes, queue: CommitQueue<QueuedItem>) {
    this.#modes = modes
    this.#queue = queue
  }

  /** Resolves when nothing is being committed any more. Throws where nothing ever will be. */
  async begin(): Promise<void> {
    await this.#queue.hold()
    this.#modes.send({ type: 'restore.begun' })
    if (this.#modes.mode === 'restoring') return
    this.#queue.release()
    throw this.#modes.refusal()
  }

  /**
   * `unchanged`: the ledger continues in the mode that it had, with what has waited. `replaced`:
   * what has waited is refused, as all that comes, until the ledger is closed.
   */
  end(outcome: 'unchanged' | 'replaced'): void {
    if (outcome === 'unchanged') {
      this.#modes.send({ type: 'restore.failed' })
      this.#queue.release()
      return
    }
    this.#modes.send({ type: 'restore.done' })
    this.#queue.fail(this.#modes.refusal())
  }
}
