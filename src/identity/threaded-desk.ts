import type { KeyObject } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { assert, type Hash } from '../core/index.js'
import type { SigningDesk } from './signer.js'

/**
 * Hashes that are signed by a thread beside the caller, and by the caller itself once it can wait
 * no longer: each takes the oldest that nobody has taken.
 *
 * Owns: one worker, started when there is enough to do, and memory that the two share: counters,
 * hashes, signatures, and for each place whose signature stands there. Does not own: what the
 * hashes are of.
 *
 * Invariants:
 * - I1 `collect` gives a signature for every hash that was put, whatever becomes of the thread:
 *   what it has taken and not finished is signed again, and Ed25519 gives the same bytes.
 * - I2 The thread keeps no process alive.
 * - I3 The key reaches the thread as a KeyObject; its bytes stand in no message and no argument.
 * - I4 A thread that failed is made again, a few times; after `close` none is.
 * - I5 A place is used again only after its signature was collected. A thread that was left behind
 *   may still write there; nobody reads what it writes, for each place names whom it is signed for.
 * - I6 Nobody takes a number that was not put: the next one to take is never behind the end.
 */
export class ThreadedDesk implements SigningDesk {
  readonly capacity = CAPACITY
  readonly #key: KeyObject
  readonly #sign: (hash: Uint8Array) => Uint8Array
  readonly #onClose: (() => void) | undefined
  readonly #memory = new SharedArrayBuffer(BYTES)
  readonly #counters = new Int32Array(this.#memory, 0, COUNTERS)
  readonly #signedFor = new Int32Array(this.#memory, COUNTERS * 4, CAPACITY)
  readonly #hashes = Buffer.from(this.#memory, HASHES_AT, CAPACITY * HASH_BYTES)
  readonly #signatures = new Uint8Array(this.#memory, SIGNATURES_AT, CAPACITY * SIGNATURE_BYTES)
  /** Number of the next hash, and of the first that was not collected; both may wrap around. */
  #next: number
  #first: number
  readonly #thread: NonNullable<DeskOptions['thread']>
  #worker: DeskThread | undefined
  #starts = 0
  #isClosed = false

  constructor(key: KeyObject, { sign, onClose, first = 1, thread = startThread }: DeskOptions) {
    this.#key = key
    this.#sign = sign
    this.#onClose = onClose
    this.#thread = thread
    this.#next = first
    this.#first = first
    this.#counters[TAKEN] = first
    this.#counters[TOLD] = first
  }

  /** Hashes that were put and not collected; at most {@link capacity}. */
  get size(): number {
    return (this.#next - this.#first) | 0
  }

  put(hash: Hash): void {
    assert(this.size < CAPACITY, 'the desk is full')
    const place = this.#next & MASK
    this.#hashes.write(hash, place * HASH_BYTES, HASH_BYTES, 'hex')
    this.#signedFor[place] = (this.#next - 1) | 0
    this.#next = (this.#next + 1) | 0
    Atomics.store(this.#counters, TOLD, this.#next)
    if (this.#worker === undefined) {
      if (this.size >= START_HASHES) this.#start()
    } else if (Atomics.load(this.#counters, ASLEEP) === 1 && this.#isWorthWaking()) {
      Atomics.notify(this.#counters, TOLD)
    }
  }

  #isWorthWaking(): boolean {
    return ((this.#next - Atomics.load(this.#counters, TAKEN)) | 0) >= WAKE_HASHES
  }

  collect(): Uint8Array {
    const count = this.size
    const collected = new Uint8Array(count * SIGNATURE_BYTES)
    const own = this.#signRest(collected)
    for (let index = 0; index < count; index += 1) {
      const number = (this.#first + index) | 0
      if (own.has(number)) continue
      const place = number & MASK
      const isDone = Atomics.load(this.#signedFor, place) === number
      const at = place * SIGNATURE_BYTES
      const signature = isDone
        ? this.#signatures.subarray(at, at + SIGNATURE_BYTES)
        : this.#signAt(place)
      collected.set(signature, index * SIGNATURE_BYTES)
    }
    this.#first = this.#next
    return collected
  }

  /** Signs what nobody has taken; gives the numbers. */
  #signRest(collected: Uint8Array): ReadonlySet<number> {
    const own = new Set<number>()
    for (;;) {
      const number = Atomics.load(this.#counters, TAKEN)
      if (number === this.#next) return own
      const next = (number + 1) | 0
      if (Atomics.compareExchange(this.#counters, TAKEN, number, next) !== number) continue
      own.add(number)
      const index = (number - this.#first) | 0
      collected.set(this.#signAt(number & MASK), index * SIGNATURE_BYTES)
    }
  }

  #signAt(place: number): Uint8Array {
    const at = place * HASH_BYTES
    return this.#sign(Uint8Array.from(this.#hashes.subarray(at, at + HASH_BYTES)))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#onClose?.()
    await this.#worker?.terminate()
  }

  #start(): void {
    if (this.#isClosed || this.#starts >= STARTS_MAX) return
    this.#starts += 1
    const worker = this.#thread({ key: this.#key, memory: this.#memory })
    worker.on('error', () => undefined)
    worker.on('exit', () => this.#ended(worker))
    worker.unref()
    this.#worker = worker
  }

  #ended(worker: DeskThread): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    Atomics.store(this.#counters, ASLEEP, 0)
  }
}

export interface DeskOptions {
  /** What the caller signs with itself. */
  readonly sign: (hash: Uint8Array) => Uint8Array
  readonly onClose?: () => void
  /** Number of the first hash. */
  readonly first?: number
  /** Starts the thread: a worker, unless a test has one of its own. */
  readonly thread?: (shared: DeskMemory) => DeskThread
}

/** What desk and thread share. */
export interface DeskMemory {
  readonly key: KeyObject
  readonly memory: SharedArrayBuffer
}

export type DeskThread = Pick<Worker, 'unref' | 'terminate'> & {
  on(event: 'error' | 'exit', listener: () => void): unknown
}

function startThread(workerData: DeskMemory): DeskThread {
  // The parent's loaders and inspector flags are not wanted in a thread that only signs.
  return new Worker(workerSource, { eval: true, workerData, execArgv: [], env: {} })
}

/** Places; a power of two, so that numbers may wrap around. */
const CAPACITY = 1_024
const MASK = CAPACITY - 1
const HASH_BYTES = 32
const SIGNATURE_BYTES = 64
/** So many hashes at once are worth a thread: starting one takes tens of milliseconds. */
const START_HASHES = 8
/** So many wake a thread that sleeps: to wake it costs the caller a third of a signature. */
const WAKE_HASHES = 4
/** A thread that fails is made again; one that fails every time is not worth its start. */
const STARTS_MAX = 3

/**
 * Counters: the next number that nobody has taken, the next that is not there, the thread's sleep.
 */
const TAKEN = 0
const TOLD = 1
const ASLEEP = 2
const COUNTERS = 4
const HASHES_AT = (COUNTERS + CAPACITY) * 4
const SIGNATURES_AT = HASHES_AT + CAPACITY * HASH_BYTES
const BYTES = SIGNATURES_AT + CAPACITY * SIGNATURE_BYTES

// What the thread runs: CommonJS text rather than a file, so that it also runs from sources, from a
// bundle, and wherever a file URL beside the module does not exist.
export const workerSource = `
'use strict'
const { sign } = require('node:crypto')
const { key, memory } = require('node:worker_threads').workerData
const counters = new Int32Array(memory, 0, ${COUNTERS})
const signedFor = new Int32Array(memory, ${COUNTERS * 4}, ${CAPACITY})
const hashes = new Uint8Array(memory, ${HASHES_AT}, ${CAPACITY * HASH_BYTES})
const signatures = new Uint8Array(memory, ${SIGNATURES_AT}, ${CAPACITY * SIGNATURE_BYTES})
for (;;) {
  // In this order: with an older end, a number that nobody has put yet would look like one to take.
  const number = Atomics.load(counters, ${TAKEN})
  const told = Atomics.load(counters, ${TOLD})
  if (number === told) {
    Atomics.store(counters, ${ASLEEP}, 1)
    Atomics.wait(counters, ${TOLD}, told)
    Atomics.store(counters, ${ASLEEP}, 0)
    continue
  }
  if (Atomics.compareExchange(counters, ${TAKEN}, number, (number + 1) | 0) !== number) continue
  const place = number & ${MASK}
  const hash = Uint8Array.from(hashes.subarray(place * ${HASH_BYTES}, (place + 1) * ${HASH_BYTES}))
  signatures.set(sign(null, hash, key), place * ${SIGNATURE_BYTES})
  Atomics.store(signedFor, place, number)
}
`
