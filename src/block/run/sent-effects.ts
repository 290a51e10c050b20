import { effectKey } from '../../code/index.js'
import type { JsonObject } from '../../core/index.js'
import { type JournalEntry, placeKey } from './entries.js'
import { referenceTo } from './folded-answers.js'
import type { SealedReference } from './journal.js'

/**
 * What a run has done outside, read off its journal alone: no block, no chart and no definition is
 * needed, so that a run whose code has gone can be ended with the truth about it. Live and in
 * verification the same.
 *
 * Owns: writes that no receipt covers yet, and requests without a result.
 */
export class SentEffects {
  /** By effect key: every try of a call has the same. */
  readonly #requested = new Map<string, JsonObject>()
  /** By attempt, until it settles. */
  readonly #written = new Map<string, SealedReference[]>()
  /** Of steps that succeeded inside an atomic composite, until that ends. */
  #inOverlay: { readonly path: string; readonly references: readonly SealedReference[] }[] = []
  readonly #failed: SealedReference[] = []

  /** Takes the next entry; `hasReceipt`: a receipt stands beside it. */
  take(entry: JournalEntry, hasReceipt: boolean): void {
    switch (entry.k) {
      case 'requested': {
        const { key, path, effect } = entry
        this.#requested.set(key, { path, effect, key })
        return
      }
      case 'sealed': {
        const { run, path, step, seq, requestHash } = entry
        if (!this.#requested.delete(effectKey(run, path, step, seq, requestHash))) return
        const place = placeKey(entry)
        const references = this.#written.get(place)
        if (references === undefined) this.#written.set(place, [referenceTo(entry)])
        else references.push(referenceTo(entry))
        return
      }
      case 'settled': {
        const place = placeKey(entry)
        const references = this.#written.get(place)
        if (references === undefined) return
        this.#written.delete(place)
        if (!entry.response.success) this.#failed.push(...references)
        else if (entry.overlay !== undefined) this.#inOverlay.push({ path: entry.path, references })
        return
      }
      case 'scope': {
        // Its receipt has them, or the evidence of its end.
        if (entry.outcome !== 'aborted' && !(entry.outcome === 'committed' && hasReceipt)) return
        const below = `${entry.path}/`
        this.#inOverlay = this.#inOverlay.filter(({ path }) => !path.startsWith(below))
        return
      }
      default:
        return
    }
  }

  /** Results of writes that no receipt names. */
  get landed(): readonly SealedReference[] {
    const open = [...this.#written.values(), ...this.#inOverlay.map(({ references }) => references)]
    return [...this.#failed, ...open.flat()]
  }

  /** Writes that were sent and never answered. */
  get inDoubt(): readonly JsonObject[] {
    return [...this.#requested.values()]
  }
}
