import type { Store } from '../../ledger/index.js'
import type { Opened } from './check.js'

/** What the suite needs of a driver under test. */
export interface StoreDriver {
  /** A new, empty store. */
  create(): Promise<Store>
  /** Opens a closed store again; leave it out for a driver that keeps nothing. */
  reopen?(store: Store): Promise<Store>
  /**
   * The store as the next process opens it, after the one that has this store open has died; leave
   * it out for a driver that keeps nothing.
   */
  crash?(store: Store): Promise<Store>
}

/** The stores of one check: each is closed at its end, unless it is by then. */
export class Stores {
  readonly #driver: StoreDriver
  readonly #opened: Opened
  readonly #closed = new Set<Store>()

  constructor(driver: StoreDriver, opened: Opened) {
    this.#driver = driver
    this.#opened = opened
  }

  async create(): Promise<Store> {
    return this.#keep(await this.#driver.create())
  }

  async close(store: Store): Promise<void> {
    this.#closed.add(store)
    await store.close()
  }

  /** Undefined of a driver that keeps nothing. */
  async reopened(store: Store): Promise<Store | undefined> {
    if (this.#driver.reopen === undefined) return undefined
    await this.close(store)
    return this.#keep(await this.#driver.reopen(store))
  }

  /** Undefined of a driver that keeps nothing. */
  async crashed(store: Store): Promise<Store | undefined> {
    const next = await this.#driver.crash?.(store)
    return next === undefined ? undefined : this.#keep(next)
  }

  #keep(store: Store): Store {
    this.#opened.onEnd(() => (this.#closed.has(store) ? undefined : store.close()))
    return store
  }
}
