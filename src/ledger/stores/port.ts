/**
 * The store port: an ordered key-value store with atomic, durable, conditional commits.
 *
 * A driver owns bytes and nothing else: it knows no receipt, no identity, no checksum. The ledger
 * wraps every value in a checksummed envelope and checks it on every read. Drivers pass the
 * exported suite `storeConformance` (`tallystick/testing`).
 *
 * Invariants of a driver:
 * - S1 A commit is all or nothing, also across a crash, and durable (fsync) once its promise
 *   resolves.
 * - S2 Commits apply in the order in which `commit` was called.
 * - S3 An item whose condition does not hold is left out alone; the other items of the call apply.
 * - S4 A read sees every commit whose promise has resolved.
 * - S5 After any failed write the driver makes no promise: the ledger poisons itself (L3).
 */
export interface Store {
  /**
   * The value of a key, or undefined; the bytes are the caller's own. Synchronous: a driver without
   * a page cache keeps a copy. Throws `ledger.corrupt`, `store.read_failed`, `store.closed`.
   */
  get(key: string): Uint8Array | undefined
  /**
   * Entries in ascending order of UTF-8 key bytes (descending with `reverse`), from one snapshot
   * that is taken when `entries` is called.
   */
  entries(range: KeyRange): AsyncIterable<readonly [key: string, value: Uint8Array]>
  /**
   * Commits the items in one atomic synced batch; tells for each whether its condition held. A
   * condition sees the items before its own. Rejects with `store.write_failed` or `store.closed`.
   */
  commit(items: readonly StoreItem[]): Promise<readonly boolean[]>
  /** Asks the driver to give unused space back; may do nothing. */
  compact(): Promise<void>
  /** Waits for commits under way. Afterwards every other method fails with `store.closed`. */
  close(): Promise<void>
}

/** Half-open range of keys: `gte` <= key < `lt`. */
export interface KeyRange {
  readonly gte: string
  readonly lt: string
  readonly reverse?: boolean
  readonly limit?: number
}

/** Changes that a store makes together, or not at all. */
export interface StoreItem {
  /** Applies only while `key` holds exactly `value` (undefined: while it is absent). */
  readonly condition?: { readonly key: string; readonly value: Uint8Array | undefined }
  /** Applied before the deletes. The bytes must not change before the commit has settled. */
  readonly puts: readonly (readonly [key: string, value: Uint8Array])[]
  readonly deletes: readonly string[]
  /** The bytes never change afterwards either: a driver that keeps them needs no copies. */
  readonly bytesStay?: true
}
