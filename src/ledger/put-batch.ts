import type { Store } from './stores/port.js'

const PUTS_AT_ONCE = 256
const BYTES_AT_ONCE = 8 * 1024 * 1024

/** Writes many values in batches that fit in memory. Nothing is durable before {@link flush}. */
export class PutBatch {
  readonly #store: Store
  #puts: (readonly [string, Uint8Array])[] = []
  #bytes = 0

  constructor(store: Store) {
    this.#store = store
  }

  async put(key: string, value: Uint8Array): Promise<void> {
    this.#puts.push([key, value])
    this.#bytes += value.byteLength
    if (this.#puts.length >= PUTS_AT_ONCE || this.#bytes >= BYTES_AT_ONCE) await this.flush()
  }

  async flush(): Promise<void> {
    const puts = this.#puts
    this.#puts = []
    this.#bytes = 0
    if (puts.length > 0) await this.#store.commit([{ puts, deletes: [] }])
  }
}
