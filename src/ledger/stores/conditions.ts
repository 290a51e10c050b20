import type { StoreItem } from './port.js'

/**
 * Judges which items apply (S3), of commits that may be written together. Conditions are taken in
 * the order of the calls, and each sees what the applying items before it put and deleted, also
 * those of commits that are in the same batch.
 *
 * Owns the values of keys that conditions have named, as the last commit that was judged leaves
 * them. They stay from batch to batch: a driver whose write failed may use them no more (S5).
 */
export class Conditions {
  readonly #read: (key: string) => Uint8Array | undefined
  readonly #named = new Set<string>()
  readonly #values = new Map<string, Uint8Array | undefined>()

  /** `read` gives a key as the store has it. */
  constructor(read: (key: string) => Uint8Array | undefined) {
    this.#read = read
  }

  /** Says which commits the next batch has, before the first of them is judged. */
  begin(commits: readonly (readonly StoreItem[])[]): void {
    if (this.#named.size >= KEPT_KEYS_MAX) {
      this.#named.clear()
      this.#values.clear()
    }
    for (const { condition } of commits.flat()) {
      if (condition !== undefined) this.#named.add(condition.key)
    }
  }

  /** For each item of a commit whether it applies. Where a read throws, nothing of it counts. */
  judge(items: readonly StoreItem[]): readonly boolean[] {
    for (const { condition } of items) {
      if (condition === undefined || this.#values.has(condition.key)) continue
      this.#values.set(condition.key, this.#read(condition.key))
    }
    return items.map(({ condition, puts, deletes }) => {
      if (condition !== undefined) {
        if (!sameBytes(this.#values.get(condition.key), condition.value)) return false
      }
      for (const [key, value] of puts) {
        if (this.#named.has(key)) this.#values.set(key, new Uint8Array(value))
      }
      for (const key of deletes) {
        if (this.#named.has(key)) this.#values.set(key, undefined)
      }
      return true
    })
  }
}

/** Conditions name the heads of identities: one for each that is open. */
const KEPT_KEYS_MAX = 4_096

function sameBytes(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return Buffer.compare(a, b) === 0
}
