import { limits } from '../../core/index.js'

/**
 * Keys under the prefixes that were listed lately, kept up to date with every queued change, so
 * that `append` can check a listing without reading the store (L10).
 *
 * Invariants: a listing is exact from `begin` on, whatever changes while the store is being read;
 * the prefixes that were listed first are forgotten beyond a bound.
 */
export class ListedPrefixes {
  readonly #listings = new Map<string, Listing>()
  /** How many listings have a prefix of each length: a changed key is looked up once per length. */
  readonly #lengths = new Map<number, number>()

  get size(): number {
    return this.#listings.size
  }

  /** The sorted keys of a finished listing. */
  get(prefix: string): readonly string[] | undefined {
    return this.#listings.get(prefix)?.finished()
  }

  begin(prefix: string): Listing {
    const running = this.#listings.get(prefix)
    if (running !== undefined) this.forget(prefix)
    const listing = new Listing()
    this.#listings.set(prefix, listing)
    this.#lengths.set(prefix.length, (this.#lengths.get(prefix.length) ?? 0) + 1)
    for (const oldest of this.#listings.keys()) {
      if (this.#listings.size <= limits.CACHE_ENTRIES_MAX) break
      this.forget(oldest)
    }
    return listing
  }

  changed(key: string, present: boolean): void {
    for (const length of this.#lengths.keys()) {
      if (length > key.length) continue
      this.#listings.get(key.slice(0, length))?.changed(key, present)
    }
  }

  /** Forgets a listing; the next one reads the store again. */
  forget(prefix: string): void {
    if (!this.#listings.delete(prefix)) return
    const left = (this.#lengths.get(prefix.length) ?? 1) - 1
    if (left === 0) this.#lengths.delete(prefix.length)
    else this.#lengths.set(prefix.length, left)
  }
}

class Listing {
  /** Changes since `begin`, laid over what the store gives; empty once finished. */
  readonly #changes = new Map<string, boolean>()
  #keys: Set<string> | undefined
  #sorted: readonly string[] | undefined

  changed(key: string, present: boolean): void {
    if (this.#keys === undefined) {
      this.#changes.set(key, present)
      return
    }
    if (this.#keys.has(key) === present) return
    if (present) this.#keys.add(key)
    else this.#keys.delete(key)
    this.#sorted = undefined
  }

  /** Takes the keys found in the store; changes made meanwhile win. */
  end(found: readonly string[]): void {
    this.#keys = new Set(found)
    for (const [key, present] of this.#changes) this.changed(key, present)
    this.#changes.clear()
  }

  finished(): readonly string[] | undefined {
    return this.#keys === undefined ? undefined : this.keys()
  }

  keys(): readonly string[] {
    // The default order of sort() is by UTF-16 code units.
    this.#sorted ??= [...(this.#keys ?? [])].sort()
    return this.#sorted
  }
}
