import { isTallyError } from '../../core/index.js'
import type { KeyRange, Store, StoreItem } from '../../ledger/index.js'

interface StoreFailure {
  readonly code: string
  readonly message: string
}

/**
 * The store of a location as each of its identities has it: closing a ledger leaves it open.
 *
 * Owns: whether a write has failed. Does not own: the store, or which ledgers are open.
 *
 * - L3, S5 The first failed write calls `onFailure` of the location, and the store refuses every
 *   later one, of any identity.
 */
export class SharedStore implements Store {
  readonly #store: Store
  #told: ((error: unknown) => void) | undefined
  #failure: StoreFailure | undefined

  constructor(store: Store) {
    this.#store = store
  }

  /** Why nothing can be written any more. */
  get failure(): StoreFailure | undefined {
    return this.#failure
  }

  /** Called at the first failed write. */
  onFailure(told: (error: unknown) => void): void {
    this.#told = told
  }

  get(key: string): Uint8Array | undefined {
    return this.#store.get(key)
  }

  entries(range: KeyRange): AsyncIterable<readonly [key: string, value: Uint8Array]> {
    return this.#store.entries(range)
  }

  async commit(items: readonly StoreItem[]): Promise<readonly boolean[]> {
    try {
      return await this.#store.commit(items)
    } catch (error) {
      this.#judge(error)
      throw error
    }
  }

  compact(): Promise<void> {
    return this.#store.compact()
  }

  async close(): Promise<void> {}

  /** A condition that cannot be read fails its own commit alone. */
  #judge(error: unknown): void {
    if (!isTallyError(error) || this.#failure !== undefined) return
    if (error.code !== 'store.write_failed' && error.code !== 'ledger.fenced') return
    this.#failure = { code: error.code, message: error.message }
    this.#told?.(error)
  }
}
