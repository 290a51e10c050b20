import type { StoreKeys } from '../keys.js'
import type { Store } from '../stores/port.js'
import type { RecordForm } from './record-form.js'

/**
 * Which commit record holds the n-th receipt: blocks of 1,024 commit numbers, 5 bytes each,
 * big-endian. Only the last block is ever written again.
 */
const BLOCK_RECEIPTS = 1024
const ENTRY_BYTES = 5

export class ChainBlocks {
  readonly #store: Store
  readonly #keys: StoreKeys
  readonly #form: RecordForm

  constructor(store: Store, keys: StoreKeys, form: RecordForm) {
    this.#store = store
    this.#keys = keys
    this.#form = form
  }

  /** Commit number of a receipt that derived records cover. */
  commitSeq(index: number): number | undefined {
    const block = this.#block(Math.floor(index / BLOCK_RECEIPTS))
    const at = (index % BLOCK_RECEIPTS) * ENTRY_BYTES
    return at + ENTRY_BYTES > block.length ? undefined : block.readUIntBE(at, ENTRY_BYTES)
  }

  /** What to write so that receipts from `first` on are covered: one commit number each. */
  puts(
    first: number,
    commitSeqs: readonly number[],
    watermark: number
  ): (readonly [string, Uint8Array])[] {
    const puts: (readonly [string, Uint8Array])[] = []
    for (let at = 0; at < commitSeqs.length; ) {
      const index = first + at
      const inBlock = index % BLOCK_RECEIPTS
      const count = Math.min(BLOCK_RECEIPTS - inBlock, commitSeqs.length - at)
      const block = Math.floor(index / BLOCK_RECEIPTS)
      const bytes = Buffer.alloc((inBlock + count) * ENTRY_BYTES)
      this.#block(block).copy(bytes, 0, 0, inBlock * ENTRY_BYTES)
      for (let place = 0; place < count; place += 1) {
        bytes.writeUIntBE(commitSeqs[at + place] ?? 0, (inBlock + place) * ENTRY_BYTES, ENTRY_BYTES)
      }
      const key = this.#keys.chainBlock(block)
      puts.push([key, this.#form.wrap(key, bytes, watermark)])
      at += count
    }
    return puts
  }

  /** Values that so many receipts take. */
  blocks(receipts: number): number {
    return Math.ceil(receipts / BLOCK_RECEIPTS)
  }

  #block(block: number): Buffer {
    const key = this.#keys.chainBlock(block)
    const value = this.#store.get(key)
    return value === undefined ? Buffer.alloc(0) : this.#form.body(key, value)
  }
}
