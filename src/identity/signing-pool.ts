import type { KeyObject } from 'node:crypto'
import { assert, type Hash } from '../core/index.js'
import type { PoolMember } from './signer.js'
import { SIGNATURE_BYTES } from './signing-memory.js'
import { SigningThread, type StartWorker, startWorker } from './signing-thread.js'

/**
 * One thread that signs for all identities of a process, beside their callers. A caller that can
 * wait no longer signs itself what the thread has not taken.
 *
 * Owns: one thread and its memory, made at the first hash and ended with the last member. Does not
 * own: what the hashes are of.
 *
 * Invariants:
 * - I1 `collect` gives a signature for every hash that was put, whatever becomes of the thread:
 *   what the thread has not finished is signed again, and Ed25519 gives the same bytes.
 * - I2 The thread keeps no process alive.
 * - I3 A key reaches the thread as a KeyObject; its bytes stand in no message and no argument. Once
 *   a member is closed, the thread has its key no more.
 * - I4 A thread that failed is followed by another, unless a few in a row signed nothing.
 * - I5 Each hash is signed with the key of the member that put it.
 * - I6 Members share the places of one memory; a hash that finds none is signed at `collect`.
 */
export class SigningPool {
  readonly options: Required<SigningPoolOptions>
  readonly #members = new Set<number>()
  #lastId = 0
  #thread: SigningThread | undefined
  /** Hashes that were put while there was no thread, and are not collected. */
  #waiting = 0
  /** Threads in a row that failed before a signature of theirs was collected. */
  #failures = 0

  constructor(options: SigningPoolOptions = {}) {
    this.options = { ...defaults, ...options }
  }

  /** Adds a member, whose hashes are signed with this key. */
  join(key: KeyObject, options: MemberOptions): PoolMember {
    this.#lastId += 1
    this.#members.add(this.#lastId)
    return new Member(this, this.#lastId, key, options)
  }

  /** The thread in use; undefined until enough hashes wait for one, and when threads fail here. */
  thread(): SigningThread | undefined {
    return this.#thread
  }

  /** Says that one more hash waits where there is no thread, which starts one in time. */
  wait(): void {
    this.#waiting += 1
    if (this.#waiting < this.options.startHashes || this.#failures >= FAILURES_MAX) return
    const thread: SigningThread = new SigningThread({
      ...this.options,
      onFailure: () => this.#failed(thread)
    })
    this.#thread = thread
    thread.start()
  }

  /** Says that so many of these wait no longer. */
  waitNoLonger(count: number): void {
    this.#waiting -= count
  }

  /** Says that a signature of the thread was used. */
  succeeded(): void {
    this.#failures = 0
  }

  /** Removes a member and its key; the last one ends the thread. */
  async leave(id: number): Promise<void> {
    this.#members.delete(id)
    if (this.#members.size > 0) return this.#thread?.forget(id)
    const thread = this.#thread
    this.#thread = undefined
    await thread?.end()
  }

  #failed(thread: SigningThread): void {
    this.#failures += 1
    if (this.#thread === thread) this.#thread = undefined
  }
}

export interface SigningPoolOptions {
  /** Starts the thread: a worker, unless a test has one of its own. */
  readonly startWorker?: StartWorker
  /** Hashes that the thread may have, of all members. */
  readonly places?: number
  /** Number of the first place. */
  readonly firstPlace?: number
  /** Hashes that wait when a thread is started. */
  readonly startHashes?: number
  /** Hashes that wait when a thread that sleeps is woken. */
  readonly wakeHashes?: number
}

const defaults: Required<SigningPoolOptions> = {
  startWorker,
  places: 1_024,
  firstPlace: 0,
  // Starting a thread takes tens of milliseconds.
  startHashes: 8,
  // Waking it costs the caller a third of a signature or more.
  wakeHashes: 8
}

export interface MemberOptions {
  /** What the caller signs with itself. */
  readonly sign: (hash: Uint8Array) => Uint8Array
  readonly onClose?: () => void
}

/** So many threads in a row may fail before they sign anything. */
const FAILURES_MAX = 3
/** In place of a number: the caller signs this hash. */
const NOWHERE = -1

class Member implements PoolMember {
  readonly capacity: number
  readonly #id: number
  /** Until it is closed. */
  #key: KeyObject | undefined
  readonly #options: MemberOptions
  readonly #pool: SigningPool
  readonly #hashes: Hash[] = []
  /** Of each hash. */
  readonly #places: number[] = []
  /** The thread in whose memory these places are; it has the key. */
  #thread: SigningThread | undefined
  #hasPlaces = false
  /** Hashes that were put while there was no thread. */
  #waiting = 0

  constructor(pool: SigningPool, id: number, key: KeyObject, options: MemberOptions) {
    this.capacity = pool.options.places
    this.#pool = pool
    this.#id = id
    this.#key = key
    this.#options = options
  }

  put(hash: Hash): void {
    assert(this.#hashes.length < this.capacity, 'too many hashes wait for their signature')
    this.#hashes.push(hash)
    this.#places.push(this.#offer(hash))
  }

  collect(): Uint8Array {
    const collected = new Uint8Array(this.#hashes.length * SIGNATURE_BYTES)
    // From the end: the thread comes from the other side.
    for (let index = this.#hashes.length - 1; index >= 0; index -= 1) {
      if (this.#takeBack(index)) this.#signHere(index, collected)
    }
    for (const [index, place] of this.#places.entries()) {
      if (place !== NOWHERE) this.#collectFrom(place, index, collected)
    }
    this.#hashes.length = 0
    this.#places.length = 0
    this.#rest()
    return collected
  }

  async close(): Promise<void> {
    if (this.#key === undefined) return
    this.#key = undefined
    this.#options.onClose?.()
    for (const [index, place] of this.#places.entries()) {
      if (!this.#takeBack(index)) this.#thread?.memory.collect(place)
      this.#places[index] = NOWHERE
    }
    this.#rest()
    await this.#pool.leave(this.#id)
  }

  /** Changes to the thread of the pool, unless places in the memory of another are in use. */
  #useThread(key: KeyObject): SigningThread | undefined {
    if (this.#hasPlaces) return this.#thread
    if (this.#pool.thread() === undefined) {
      this.#waiting += 1
      this.#pool.wait()
    }
    const thread = this.#pool.thread()
    if (thread === this.#thread) return thread
    this.#thread = thread
    thread?.learn(this.#id, key)
    return thread
  }

  #offer(hash: Hash): number {
    if (this.#key === undefined) return NOWHERE
    const thread = this.#useThread(this.#key)
    if (thread === undefined || thread.isOver) return NOWHERE
    const place = thread.memory.offer(hash, this.#id)
    if (place === undefined) return NOWHERE
    this.#hasPlaces = true
    if (thread.memory.waiting >= this.#pool.options.wakeHashes) thread.memory.wake()
    return place
  }

  /** No hash of it has a place or waits for a thread any more. */
  #rest(): void {
    this.#hasPlaces = false
    if (this.#waiting === 0) return
    this.#pool.waitNoLonger(this.#waiting)
    this.#waiting = 0
  }

  /** Whether the caller is to sign this hash, as the thread has not taken it. */
  #takeBack(index: number): boolean {
    const place = this.#places[index] ?? NOWHERE
    if (place === NOWHERE) return true
    if (this.#thread?.memory.takeBack(place) === false) return false
    this.#places[index] = NOWHERE
    return true
  }

  #collectFrom(place: number, index: number, collected: Uint8Array): void {
    const signature = this.#thread?.memory.collect(place)
    this.#places[index] = NOWHERE
    if (signature === undefined) return this.#signHere(index, collected)
    collected.set(signature, index * SIGNATURE_BYTES)
    this.#pool.succeeded()
  }

  #signHere(index: number, collected: Uint8Array): void {
    const hash = Buffer.from(this.#hashes[index] ?? '', 'hex')
    collected.set(this.#options.sign(hash), index * SIGNATURE_BYTES)
  }
}
