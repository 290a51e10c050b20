import { assert, type Hash } from '../core/index.js'

/**
 * Places for hashes and their signatures, which the calling thread and the signing thread share.
 *
 * Owns: the layout of the memory, and what the calling thread does to it. Does not own: what the
 * signing thread does to it (`signing-thread.ts`), or whose hashes these are.
 *
 * A place goes FREE -> WAITING -> TAKEN -> SIGNED or FAILED -> FREE. The calling thread also makes
 * WAITING places FREE again, and TAKEN ones LEFT, which the signing thread makes FREE.
 *
 * Invariants:
 * - P1 Each change of a place is one compare-and-exchange, so that one thread at a time has it.
 * - P2 Hash and key of a place change only while it is FREE, its signature only while it is TAKEN
 *   or LEFT.
 * - P3 The count of places ever filled, the wake word, is stored after the place.
 */
export class SigningMemory {
  readonly layout: Layout
  readonly shared: SharedArrayBuffer
  readonly #control: Int32Array
  readonly #states: Int32Array
  readonly #keys: Int32Array
  readonly #hashes: Buffer
  readonly #signatures: Uint8Array
  readonly #mask: number
  /** Number of the next place, modulo 2^32. */
  #next: number
  /** Places that were filled, less those that the calling thread emptied untaken. */
  #offered = 0
  #posted = 0

  constructor({ places, firstPlace }: { readonly places: number; readonly firstPlace: number }) {
    this.layout = layoutOf(places)
    const { bytes, statesAt, keysAt, hashesAt, signaturesAt } = this.layout
    this.shared = new SharedArrayBuffer(bytes)
    this.#control = new Int32Array(this.shared, 0, statesAt / 4)
    this.#states = new Int32Array(this.shared, statesAt, places)
    this.#keys = new Int32Array(this.shared, keysAt, places)
    this.#hashes = Buffer.from(this.shared, hashesAt, places * HASH_BYTES)
    this.#signatures = new Uint8Array(this.shared, signaturesAt)
    this.#mask = places - 1
    this.#next = firstPlace
    Atomics.store(this.#control, words.WAKE, firstPlace)
  }

  /** Offers a hash for signing with a key; gives its place, or undefined where none was free. */
  offer(hash: Hash, key: number): number | undefined {
    for (let tries = 0; tries < PLACES_TRIED; tries += 1) {
      const place = this.#next & this.#mask
      this.#next = (this.#next + 1) | 0
      if (Atomics.load(this.#states, place) !== states.FREE) continue
      this.#hashes.write(hash, place * HASH_BYTES, HASH_BYTES, 'hex')
      this.#keys[place] = key
      Atomics.store(this.#states, place, states.WAITING)
      Atomics.store(this.#control, words.WAKE, this.#next)
      this.#offered = (this.#offered + 1) | 0
      return place
    }
    return undefined
  }

  /** Hashes that are offered and not taken. */
  get waiting(): number {
    return (this.#offered - Atomics.load(this.#control, words.TAKINGS)) | 0
  }

  /** Empties a place that the signing thread has not taken; false when it has. */
  takeBack(place: number): boolean {
    const { WAITING, FREE } = states
    if (Atomics.compareExchange(this.#states, place, WAITING, FREE) !== WAITING) return false
    this.#offered = (this.#offered - 1) | 0
    return true
  }

  /** Empties a place that was taken; gives its signature, undefined when it is not made. */
  collect(place: number): Uint8Array | undefined {
    const { TAKEN, LEFT, FREE, SIGNED, FAILED } = states
    const state = Atomics.compareExchange(this.#states, place, TAKEN, LEFT)
    if (state === TAKEN) return undefined
    assert(state === SIGNED || state === FAILED, 'a place that was taken is signed or failed')
    const at = place * SIGNATURE_BYTES
    const signature =
      state === SIGNED ? this.#signatures.slice(at, at + SIGNATURE_BYTES) : undefined
    Atomics.store(this.#states, place, FREE)
    return signature
  }

  /**
   * Wakes the signing thread if it sleeps, once: every hash that is offered until it runs would
   * cost another call of the system. A thread that had only announced its sleep is woken by the
   * next call.
   */
  wake(): void {
    if (Atomics.compareExchange(this.#control, words.ASLEEP, 1, 0) === 0) return
    if (Atomics.notify(this.#control, words.WAKE) === 0) {
      Atomics.store(this.#control, words.ASLEEP, 1)
    }
  }

  /** Makes the signing thread read a message, which was posted before. */
  announceMessage(): void {
    this.#posted = (this.#posted + 1) | 0
    this.#next = (this.#next + 1) | 0
    Atomics.store(this.#control, words.POSTED, this.#posted)
    Atomics.store(this.#control, words.WAKE, this.#next)
    this.wake()
  }
}

/** Another place is tried where one is still in use, so many times. */
const PLACES_TRIED = 8
const HASH_BYTES = 32
export const SIGNATURE_BYTES = 64

/** Words of control: places ever filled, messages posted, places ever taken, a thread asleep. */
export const words = { WAKE: 0, POSTED: 1, TAKINGS: 2, ASLEEP: 3 } as const

export const states = { FREE: 0, WAITING: 1, TAKEN: 2, SIGNED: 3, FAILED: 4, LEFT: 5 } as const

/** Where what stands, in bytes. */
export interface Layout {
  /** A power of two, so that numbers of places may wrap around. */
  readonly places: number
  readonly statesAt: number
  readonly keysAt: number
  readonly hashesAt: number
  readonly signaturesAt: number
  readonly bytes: number
}

function layoutOf(places: number): Layout {
  const statesAt = Object.keys(words).length * 4
  const keysAt = statesAt + places * 4
  const hashesAt = keysAt + places * 4
  const signaturesAt = hashesAt + places * HASH_BYTES
  const bytes = signaturesAt + places * SIGNATURE_BYTES
  return { places, statesAt, keysAt, hashesAt, signaturesAt, bytes }
}
