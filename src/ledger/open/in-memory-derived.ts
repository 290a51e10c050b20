import type { StoreKeys } from '../keys.js'
import { openMemoryStore } from '../stores/memory.js'
import type { KeyRange, Store, StoreItem } from '../stores/port.js'

/**
 * A store whose derived records are in memory: for an opening that may not write, and finds those
 * on disk not to match their watermark. Everything else comes from the store; nothing goes to it.
 */
export class InMemoryDerived implements Store {
  readonly #store: Store
  readonly #keys: StoreKeys
  readonly #derived = openMemoryStore()

  constructor(store: Store, keys: StoreKeys) {
    this.#store = store
    this.#keys = keys
  }

  get(key: string): Uint8Array | undefined {
    return this.#keys.isDerived(key) ? this.#derived.get(key) : this.#store.get(key)
  }

  entries(range: KeyRange): AsyncIterable<readonly [key: string, value: Uint8Array]> {
    return (this.#keys.isDerived(range.gte) ? this.#derived : this.#store).entries(range)
  }

  commit(items: readonly StoreItem[]): Promise<readonly boolean[]> {
    return this.#derived.commit(items)
  }

  compact(): Promise<void> {
    return this.#derived.compact()
  }

  close(): Promise<void> {
    return this.#derived.close()
  }
}
