import { isHash, sha256 } from '../../core/index.js'

const HASH_BYTES = 32
/** With whether it is the id itself that stands there. */
const ID_BYTES = HASH_BYTES + 1
const FIRST_ROWS = 1024
/** Slots of the index for each row that there is room for: at most half of them are taken. */
const SLOTS_PER_ROW = 2

/**
 * Ids as 33 bytes each outside of the JavaScript heap, numbered in the order in which they came.
 *
 * Owns: the bytes of the ids and an index over them. Does not own: what stands beside an id; the
 * number that an id has is a place in an array of its keeper.
 *
 * Invariants:
 * 1. Ids are compared whole: one that is not 64 digits of lower-case hex stands as its SHA-256, and
 *    is another than the id that says the same digits.
 * 2. An id costs 33 bytes and two slots of four, and growing copies them: at most three times that.
 */
export class IdTable {
  #bytes = Buffer.alloc(FIRST_ROWS * ID_BYTES)
  #slots = new Int32Array(FIRST_ROWS * SLOTS_PER_ROW)
  #size = 0
  readonly #wanted = Buffer.alloc(ID_BYTES)

  get size(): number {
    return this.#size
  }

  has(id: string): boolean {
    return this.find(id) !== undefined
  }

  /** The number of an id, from 0. */
  find(id: string): number | undefined {
    this.#want(id)
    const row = this.#slots[this.#slot()] ?? 0
    return row === 0 ? undefined : row - 1
  }

  /** The number of an id, which is given one if it has none. */
  add(id: string): number {
    this.#want(id)
    const slot = this.#slot()
    const row = this.#slots[slot] ?? 0
    if (row !== 0) return row - 1
    this.#wanted.copy(this.#bytes, this.#size * ID_BYTES)
    this.#size += 1
    this.#slots[slot] = this.#size
    if (this.#size * ID_BYTES === this.#bytes.length) this.#grow()
    return this.#size - 1
  }

  #want(id: string): void {
    const isItself = isHash(id)
    if (isItself) this.#wanted.write(id, 'hex')
    else sha256(id).copy(this.#wanted)
    this.#wanted[HASH_BYTES] = isItself ? 1 : 0
  }

  /** Where the wanted id stands, or would. */
  #slot(): number {
    const mask = this.#slots.length - 1
    const wanted = this.#wanted
    for (let slot = hashOf(wanted, 0) & mask; ; slot = (slot + 1) & mask) {
      const row = this.#slots[slot] ?? 0
      if (row === 0) return slot
      const at = (row - 1) * ID_BYTES
      if (wanted.compare(this.#bytes, at, at + ID_BYTES) === 0) return slot
    }
  }

  #grow(): void {
    const bytes = Buffer.alloc(this.#bytes.length * 2)
    this.#bytes.copy(bytes)
    this.#bytes = bytes
    this.#slots = new Int32Array(this.#slots.length * 2)
    const mask = this.#slots.length - 1
    for (let row = 0; row < this.#size; row += 1) {
      let slot = hashOf(bytes, row * ID_BYTES) & mask
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask
      this.#slots[slot] = row + 1
    }
  }
}

/** Ids are hashes; their words are mixed, so that ids made to begin alike do not stand together. */
function hashOf(bytes: Buffer, at: number): number {
  let hash = 0x9e3779b9
  for (let offset = 0; offset < HASH_BYTES; offset += 4) {
    hash = Math.imul(hash ^ bytes.readInt32LE(at + offset), 0x85ebca6b)
    hash ^= hash >>> 13
  }
  return hash >>> 0
}
