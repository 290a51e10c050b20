import { ledgerError } from '../../core/index.js'
import { Conditions } from './conditions.js'
import type { KeyRange, Store, StoreItem } from './port.js'
import { SortedMap } from './sorted-map.js'

/** An empty store that lives as long as its object: for tests, demos and dry runs. */
export function openMemoryStore(): Store {
  return new MemoryStore(new SortedMap())
}

/**
 * Owns an ordered map of bytes. Does not own durability: its promises of S1 end with the process.
 */
class MemoryStore implements Store {
  readonly #values: SortedMap<Uint8Array>
  #open = true

  constructor(values: SortedMap<Uint8Array>) {
    this.#values = values
  }

  get(key: string): Uint8Array | undefined {
    this.#check()
    const value = this.#values.get(key)
    return value === undefined ? undefined : Buffer.from(value)
  }

  entries(range: KeyRange): AsyncIterable<readonly [key: string, value: Uint8Array]> {
    this.#check()
    return each(snapshot(this.#values, range))
  }

  async commit(items: readonly StoreItem[]): Promise<readonly boolean[]> {
    this.#check()
    const conditions = new Conditions((key) => this.#values.get(key))
    conditions.begin([items])
    const applies = conditions.judge(items)
    items.forEach((item, index) => {
      if (applies[index]) apply(this.#values, item)
    })
    return applies
  }

  async compact(): Promise<void> {
    this.#check()
  }

  async close(): Promise<void> {
    this.#open = false
  }

  #check(): void {
    if (!this.#open) throw ledgerError('store.closed', { path: 'memory' })
  }
}

/** Applies an item whose condition holds; keeps copies of bytes that may change. */
export function apply(values: SortedMap<Uint8Array>, item: StoreItem): void {
  const { puts, bytesStay } = item
  for (const [key, value] of puts) values.set(key, bytesStay === true ? value : Buffer.from(value))
  for (const key of item.deletes) values.delete(key)
}

/** The entries of a range as they are now, with bytes that are the caller's own. */
export function snapshot(
  values: SortedMap<Uint8Array>,
  { gte, lt, reverse = false, limit = Number.POSITIVE_INFINITY }: KeyRange
): readonly (readonly [key: string, value: Uint8Array])[] {
  const found = values.range(gte, lt)
  if (reverse) found.reverse()
  return found.slice(0, limit).map(([key, value]) => [key, Buffer.from(value)] as const)
}

/** Hands out entries that were read before. */
export async function* each<Entry>(entries: readonly Entry[]): AsyncGenerator<Entry> {
  yield* entries
}
