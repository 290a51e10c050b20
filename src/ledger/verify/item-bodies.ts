import { canonicalize, type Hash, isJsonObject, type Json, sha256Hex } from '../../core/index.js'
import { unwrapText } from '../envelope.js'
import type { StoreKeys } from '../keys.js'
import { bodyOfBlob, referenceOf } from '../receipt/blob.js'
import type { FieldProblem, TextOf } from '../receipt/parse.js'
import type { RecordItem } from '../record/record.js'
import type { Store } from '../stores/port.js'

/**
 * Bodies of one item during a verification: each must hash to a name that a record of the item
 * gives, and names without a body are counted as withheld.
 */
export class CheckedBodies {
  /** Made when there is a first one: most items have none. */
  #blobs: Map<Hash, string> | undefined
  #named: Set<Hash> | undefined
  readonly #large: readonly Hash[]
  readonly #store: Store
  readonly #keys: StoreKeys
  withheld = 0
  #problem: FieldProblem | undefined

  constructor(store: Store, keys: StoreKeys, item: RecordItem) {
    this.#store = store
    this.#keys = keys
    for (const blob of item.blobs) this.#add(blob)
    this.#large = item.largeBlobs
    for (const hash of this.#large) this.#addLarge(hash)
  }

  /** The body that a stored text stands for; undefined when it is withheld. */
  resolve(text: string): string | undefined {
    const reference = referenceOf(text)
    if (reference === undefined) return text
    this.#named ??= new Set()
    this.#named.add(reference.$blob)
    const blob = this.#blobs?.get(reference.$blob)
    if (blob === undefined) {
      this.withheld += 1
      return undefined
    }
    const body = bodyOfBlob(blob, reference.bytes)
    const computed = Buffer.byteLength(body)
    if (computed !== reference.bytes) {
      this.#problem ??= { field: 'bytes', signed: `${reference.bytes}`, computed: `${computed}` }
    }
    return body
  }

  /** {@link resolve} for a value inside a record; does nothing unless it may be a reference. */
  checkValue(value: Json): void {
    if (mayRefer(value)) this.resolve(canonicalize(value))
  }

  /** The body of a value inside a record; `textOf` writes parts of that record. */
  resolveValue(value: Json, textOf: TextOf): string | undefined {
    const text = textOf(value)
    return mayRefer(value) ? this.resolve(text) : text
  }

  /** A body of another length than named, or that no record of the item names: it was altered. */
  problem(): FieldProblem | undefined {
    if (this.#problem !== undefined) return this.#problem
    if (this.#blobs === undefined && this.#large.length === 0) return undefined
    for (const hash of [...(this.#blobs?.keys() ?? []), ...this.#large]) {
      if (this.#named?.has(hash) !== true) {
        return { field: 'blob', signed: hash, computed: 'the hash that a record names' }
      }
    }
    return undefined
  }

  #add(blob: string): void {
    this.#blobs ??= new Map()
    this.#blobs.set(sha256Hex(blob), blob)
  }

  #addLarge(hash: Hash): void {
    const key = this.#keys.blob(hash)
    const value = this.#store.get(key)
    if (value === undefined) return
    this.#add(unwrapText(key, value))
  }
}

function mayRefer(value: Json): boolean {
  return isJsonObject(value) && Object.hasOwn(value, '$blob')
}
