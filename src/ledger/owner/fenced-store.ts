import type { KeyRange, Store, StoreItem } from '../stores/port.js'
import type { OwnerFile } from './owner-file.js'

/**
 * A store that writes only while its process is the last one that opened the location.
 *
 * - L13 The owner file is read before each batch, and looked at again before the batch is
 *   acknowledged. LevelDB's lock alone is lost when code in the owner's process copies the
 *   directory, and a read through LevelDB does not see what another process has written.
 */
export class FencedStore implements Store {
  readonly #store: Store
  readonly #owner: OwnerFile

  constructor(store: Store, owner: OwnerFile) {
    this.#store = store
    this.#owner = owner
  }

  get(key: string): Uint8Array | undefined {
    return this.#store.get(key)
  }

  entries(range: KeyRange): AsyncIterable<readonly [key: string, value: Uint8Array]> {
    return this.#store.entries(range)
  }

  async commit(items: readonly StoreItem[]): Promise<readonly boolean[]> {
    this.#owner.check()
    const applied = await this.#store.commit(items)
    this.#owner.checkName()
    return applied
  }

  async compact(): Promise<void> {
    this.#owner.check()
    await this.#store.compact()
  }

  close(): Promise<void> {
    return this.#store.close()
  }
}
