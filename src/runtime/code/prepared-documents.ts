import { limits } from '../../core/index.js'
import type { Prepared } from './prepared-run.js'

/**
 * Documents that were compiled, by what they were compiled from.
 *
 * Owns: a bounded cache, which can be thrown away at any time.
 */
export class PreparedDocuments {
  readonly #known = new Map<string, Promise<Prepared>>()

  /** Many runs of a new document may begin at once: it is compiled for the first. */
  of(key: string, prepare: () => Promise<Prepared>): Promise<Prepared> {
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const preparing = prepare()
    if (this.#known.size >= limits.CACHE_ENTRIES_MAX) this.#known.clear()
    this.#known.set(key, preparing)
    preparing.catch(() => this.#known.delete(key))
    return preparing
  }
}
