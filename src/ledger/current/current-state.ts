import { limits } from '../../core/index.js'
import { unwrapText } from '../envelope.js'
import type { StoreKeys } from '../keys.js'
import { corrupt } from '../record/record.js'
import { hashKey, hashValue, type StateTree } from '../state/index.js'
import type { Store } from '../stores/port.js'
import { ListedPrefixes } from './listed-prefixes.js'

/**
 * State values as they are now, queued changes included (L10).
 *
 * Owns: the values that are queued and not durable yet, a bounded cache of durable ones, and the
 * prefixes that were listed. Does not own: the state tree and its roots, or when things are
 * written.
 *
 * Invariants:
 * 1. A read sees the last queued change of a key, else what the store holds.
 * 2. Memory is bounded by the queue (D9) and the cache, never by the number of keys.
 * 3. A value of the store is what the state's root commits to, or it is not given (L4, K10).
 */
export class CurrentState {
  readonly #store: Store
  readonly #keys: StoreKeys
  readonly #queued = new Map<string, { readonly text: string | null; readonly position: number }>()
  readonly #cache = new Map<string, string | null>()
  #cacheLength = 0
  readonly #lists: ListedPrefixes
  readonly #tree: (() => StateTree) | undefined

  /** `tree` gives the state's tree, queued changes included; absent where it is unknown. */
  constructor(store: Store, keys: StoreKeys, tree: (() => StateTree) | undefined) {
    this.#store = store
    this.#keys = keys
    this.#tree = tree
    this.#lists = new ListedPrefixes()
  }

  /** Canonical JSON of a key, or undefined. Throws `ledger.corrupt` on a value that is not its. */
  read(key: string): string | undefined {
    const queued = this.#queued.get(key)
    if (queued !== undefined) return queued.text ?? undefined
    const cached = this.#cache.get(key)
    if (cached !== undefined) return cached ?? undefined
    const storeKey = this.#keys.state(key)
    const value = this.#store.get(storeKey)
    const text = value === undefined ? null : unwrapText(storeKey, value)
    this.#compare(key, text)
    this.#remember(key, text)
    return text ?? undefined
  }

  async list(prefix: string): Promise<readonly string[]> {
    const known = this.#lists.get(prefix)
    if (known !== undefined) return known
    const listing = this.#lists.begin(prefix)
    for (const [key, { text }] of this.#queued) {
      if (key.startsWith(prefix)) listing.changed(key, text !== null)
    }
    const found: string[] = []
    try {
      for await (const [key] of this.#store.entries(this.#keys.states(prefix))) {
        found.push(this.#keys.stateKey(key))
      }
    } catch (error) {
      this.#lists.forget(prefix)
      throw error
    }
    listing.end(found)
    return listing.keys()
  }

  /** The first key or prefix that is not what a unit saw, or undefined when nothing changed. */
  conflict(
    reads: ReadonlyMap<string, string | undefined>,
    lists: ReadonlyMap<string, readonly string[]>
  ): string | undefined {
    for (const [key, seen] of reads) {
      if (this.read(key) !== seen) return key
    }
    for (const [prefix, seen] of lists) {
      // A prefix that fell out of the cache counts as changed: the re-run lists it again.
      if (!sameKeys(this.#lists.get(prefix), seen)) return prefix
    }
    return undefined
  }

  /** Makes a change visible at once; `position` says when it will be durable. */
  change(key: string, text: string | null, position: number): void {
    if (this.#lists.size > 0) this.#lists.changed(key, text !== null)
    this.#queued.set(key, { text, position })
  }

  /** Moves a change that was flushed from the queue to the cache. */
  durable(key: string, position: number): void {
    const queued = this.#queued.get(key)
    if (queued === undefined || queued.position > position) return
    this.#queued.delete(key)
    this.#remember(key, queued.text)
  }

  #compare(key: string, text: string | null): void {
    if (this.#tree === undefined) return
    const rooted = this.#tree().get(hashKey(key))
    const isRooted = text === null ? rooted === undefined : rooted?.equals(hashValue(text)) === true
    if (!isRooted) throw corrupt(this.#keys.state(key), 'the state root is of another value')
  }

  #remember(key: string, text: string | null): void {
    const known = this.#cache.get(key)
    if (known !== undefined) {
      this.#cacheLength -= known?.length ?? 0
      this.#cache.delete(key)
    }
    this.#cache.set(key, text)
    this.#cacheLength += text?.length ?? 0
    for (const [oldest, value] of this.#cache) {
      const fits =
        this.#cache.size <= limits.STATE_CACHE_ENTRIES_MAX &&
        this.#cacheLength <= limits.STATE_CACHE_LENGTH_MAX
      if (fits) break
      this.#cache.delete(oldest)
      this.#cacheLength -= value?.length ?? 0
    }
  }
}

function sameKeys(one: readonly string[] | undefined, other: readonly string[]): boolean {
  if (one === undefined || one.length !== other.length) return false
  return one.every((key, index) => key === other[index])
}
