import type { StoreKeys } from '../keys.js'

export const INDEX_BYTES = 6
export const VALUE_AT = 1 + INDEX_BYTES
export const REMOVED = 0
const WRITTEN = 1

/** The place of the last write of a key, as the store has it. */
interface LastWrites {
  last(key: string): number | undefined
}

/** Writes of some commits, before they are put down. */
export class WriteBatch {
  readonly #index: LastWrites
  readonly #keys: StoreKeys
  readonly #replaces: number | undefined
  readonly #last = new Map<string, number>()
  readonly writes: (readonly [key: string, body: Uint8Array])[] = []
  /** Keys of records that are not true any more. */
  readonly replaced: string[] = []

  constructor(index: LastWrites, keys: StoreKeys, replaces?: number) {
    this.#index = index
    this.#keys = keys
    this.#replaces = replaces
  }

  get size(): number {
    return this.writes.length
  }

  add(key: string, index: number, valueHash: Uint8Array | undefined): void {
    const previous = this.#previous(key)
    const body = Buffer.alloc(VALUE_AT + (valueHash?.length ?? 0))
    body[0] = valueHash === undefined ? REMOVED : WRITTEN
    body.writeUIntBE(previous === undefined ? 0 : previous + 1, 1, INDEX_BYTES)
    if (valueHash !== undefined) body.set(valueHash, VALUE_AT)
    this.writes.push([this.#keys.write(key, index), body])
    this.#last.set(key, index)
  }

  #previous(key: string): number | undefined {
    const previous = this.#last.get(key) ?? this.#index.last(key)
    if (previous === undefined || previous !== this.#replaces) return previous
    this.replaced.push(this.#keys.write(key, previous))
    return undefined
  }

  last(): readonly (readonly [key: string, body: Uint8Array])[] {
    return [...this.#last].map(([key, index]) => {
      const body = Buffer.alloc(INDEX_BYTES)
      body.writeUIntBE(index, 0, INDEX_BYTES)
      return [this.#keys.writtenKey(key), body] as const
    })
  }
}
