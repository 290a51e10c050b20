import { type Hash, sha256Hex } from '../../core/index.js'
import { unwrapText } from '../envelope.js'
import type { StoreKeys } from '../keys.js'
import { bodyOfBlob, referenceOf } from '../receipt/blob.js'
import type { RecordItem } from '../record/record.js'
import type { Store } from '../stores/port.js'

/**
 * Resolves what the records of one item name by hash, from the item or from values of their own.
 */
export class ItemBodies {
  readonly #store: Store
  readonly #keys: StoreKeys
  readonly #item: RecordItem
  #byHash: ReadonlyMap<Hash, string> | undefined

  constructor(store: Store, keys: StoreKeys, item: RecordItem) {
    this.#store = store
    this.#keys = keys
    this.#item = item
  }

  /** The body that a text stands for: itself, or the blob's. Undefined when it is withheld. */
  resolve(text: string): string | undefined {
    const reference = referenceOf(text)
    if (reference === undefined) return text
    const blob = this.#blob(reference.$blob)
    return blob === undefined ? undefined : bodyOfBlob(blob, reference.bytes)
  }

  #blob(hash: Hash): string | undefined {
    this.#byHash ??= new Map(this.#item.blobs.map((blob) => [sha256Hex(blob), blob]))
    const inRecord = this.#byHash.get(hash)
    if (inRecord !== undefined) return inRecord
    const key = this.#keys.blob(hash)
    const value = this.#store.get(key)
    if (value === undefined) return undefined
    const blob = unwrapText(key, value)
    return sha256Hex(blob) === hash ? blob : undefined
  }
}
