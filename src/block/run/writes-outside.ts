import type { JournalEntry, Requested, Sealed } from './entries.js'
import { isCertainlyNothing, Outside } from './outside.js'
import { compensationPath, isDeferredTask, isOverlayTask } from './overlay-tasks.js'

/** A write that a run has sent, and what is known of it. */
export interface WriteOutside extends Pick<Requested, 'path' | 'step' | 'effect' | 'key'> {
  /** `failed`: it certainly did nothing; `undone`: it had landed, and a rollback undid it. */
  readonly state: 'landed' | 'undone' | 'failed' | 'unknown'
  /** It undoes another. */
  readonly isCompensation?: true
}

/**
 * What a whole run has sent outside, for people who look at it: read off its journal alone. What
 * evidence states of it, by its format, is in `SentEffects`.
 *
 * Owns: its writes, and which of them were undone.
 *
 * - L7 A write whose failure is not certain may have happened, whatever its reason says.
 * - C4 What a rollback left stands, and nothing else of it does.
 */
export class WritesOutside {
  readonly #outside = new Outside()
  /** Compensations that succeeded. */
  readonly #undone = new Set<string>()

  /** Takes the next entry of the journal. */
  take(entry: JournalEntry): void {
    if (entry.k === 'requested') this.#outside.requested(entry)
    else if (entry.k === 'sealed') {
      // Results may be large, and are not looked at.
      this.#outside.sealed(entry.ok ? { ...entry, body: null } : entry)
    } else if (entry.k === 'settled' && entry.response.success && isOverlayTask(entry.path)) {
      this.#undone.add(stepName(entry.path, entry.step))
    }
  }

  /** In the order in which they were first asked for. */
  get all(): readonly WriteOutside[] {
    return this.#outside.all.map(({ asked, sealed }) => {
      const { path, step, effect, key } = asked
      const state = this.#stateOf(asked, sealed)
      const isCompensation = isOverlayTask(path) && !isDeferredTask(path)
      return { path, step, effect, key, state, ...(isCompensation ? { isCompensation } : {}) }
    })
  }

  #stateOf(asked: Requested, sealed: Sealed | undefined): WriteOutside['state'] {
    if (isCertainlyNothing(sealed)) return 'failed'
    if (sealed?.ok !== true) return 'unknown'
    return this.#undone.has(stepName(compensationPath(asked), asked.step)) ? 'undone' : 'landed'
  }
}

function stepName(path: string, step: number): string {
  return `${path} ${step}`
}
