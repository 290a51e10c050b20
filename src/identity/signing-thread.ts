import type { KeyObject } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { type Layout, SigningMemory, states, words } from './signing-memory.js'

/**
 * The thread of a signing pool, with the memory that it shares.
 *
 * Owns: one worker, started on request and ended once, and the messages to it. Does not own: whose
 * keys these are. A thread that ended is over: what stood in its memory is signed elsewhere.
 *
 * Invariants:
 * - T1 The thread keeps no process alive, except while it forgets a key or ends: the process would
 *   exit before its `close` resolves.
 * - T2 A key reaches the thread as a KeyObject in a message; its bytes stand nowhere else.
 * - T3 Once `forget` resolves, the thread refers to that key no more.
 */
export class SigningThread {
  readonly memory: SigningMemory
  readonly #startWorker: StartWorker
  readonly #onFailure: () => void
  readonly #forgetting = new Map<number, () => void>()
  #worker: PoolWorker | undefined
  #isOver = false

  constructor(options: {
    readonly startWorker: StartWorker
    /** Called when the worker ends without `end`. */
    readonly onFailure: () => void
    readonly places: number
    readonly firstPlace: number
  }) {
    this.memory = new SigningMemory(options)
    this.#startWorker = options.startWorker
    this.#onFailure = options.onFailure
  }

  /** Whether the worker has ended; it is never started again. */
  get isOver(): boolean {
    return this.#isOver
  }

  start(): void {
    const worker = this.#startWorker({ memory: this.memory.shared, layout: this.memory.layout })
    worker.on('error', () => undefined)
    worker.on('exit', () => this.#exited())
    worker.on('message', (id) => this.#forgot(id))
    worker.unref()
    this.#worker = worker
  }

  /** Gives the thread a key, under a number that no other key ever has. */
  learn(id: number, key: KeyObject): void {
    this.#post({ id, key })
  }

  /** Resolves once the thread no longer has the key. */
  async forget(id: number): Promise<void> {
    if (this.#worker === undefined) return
    this.#worker.ref()
    await new Promise<void>((resolve) => {
      this.#forgetting.set(id, resolve)
      this.#post({ id })
    })
  }

  /** Ends the thread, and with it all that it has. */
  async end(): Promise<void> {
    this.#isOver = true
    await this.#worker?.terminate()
  }

  #post(message: KeyMessage): void {
    this.#worker?.postMessage(message)
    this.memory.announceMessage()
  }

  #forgot(id: number): void {
    this.#forgetting.get(id)?.()
    this.#forgetting.delete(id)
    // The promise of one that ends must be kept, too.
    if (this.#forgetting.size === 0 && !this.#isOver) this.#worker?.unref()
  }

  #exited(): void {
    this.#worker = undefined
    for (const resolve of this.#forgetting.values()) resolve()
    this.#forgetting.clear()
    if (this.#isOver) return
    this.#isOver = true
    this.#onFailure()
  }
}

/** A key that the thread learns under this number; without one it forgets it and answers so. */
export interface KeyMessage {
  readonly id: number
  readonly key?: KeyObject
}

export interface WorkerMemory {
  readonly memory: SharedArrayBuffer
  readonly layout: Layout
}

/** What a pool uses of a worker. */
export interface PoolWorker extends Pick<Worker, 'ref' | 'unref' | 'terminate'> {
  postMessage(message: KeyMessage): void
  on(event: 'error' | 'exit', listener: () => void): unknown
  on(event: 'message', listener: (forgotten: number) => void): unknown
}

export type StartWorker = (shared: WorkerMemory) => PoolWorker

export const startWorker: StartWorker = (workerData) =>
  // The parent's loaders and inspector flags are not wanted in a thread that only signs.
  new Worker(workerSource, { eval: true, workerData, execArgv: [], env: {} })

// What the thread runs: CommonJS text rather than a file, so that it also runs from sources, from a
// bundle, and wherever a file URL beside the module does not exist. Without functions of its own,
// so that a test can run it step by step.
export const workerSource = `
'use strict'
const { sign } = require('node:crypto')
const { parentPort, receiveMessageOnPort, workerData } = require('node:worker_threads')
const { memory, layout } = workerData
const { places } = layout
const control = new Int32Array(memory, 0, ${Object.keys(words).length})
const states = new Int32Array(memory, layout.statesAt, places)
const keyOf = new Int32Array(memory, layout.keysAt, places)
const hashes = new Uint8Array(memory, layout.hashesAt, places * 32)
const signatures = new Uint8Array(memory, layout.signaturesAt)
const keys = new Map()
let received = 0
let next = (Atomics.load(control, ${words.WAKE}) - places) | 0
for (;;) {
  const filled = Atomics.load(control, ${words.WAKE})
  if (next === filled) {
    Atomics.store(control, ${words.ASLEEP}, 1)
    Atomics.wait(control, ${words.WAKE}, filled)
    Atomics.store(control, ${words.ASLEEP}, 0)
    continue
  }
  const posted = Atomics.load(control, ${words.POSTED})
  for (; received !== posted; received = (received + 1) | 0) {
    const { id, key } = receiveMessageOnPort(parentPort).message
    if (key !== undefined) keys.set(id, key)
    else {
      keys.delete(id)
      parentPort.postMessage(id)
    }
  }
  // Numbers further back have the same places.
  if ((filled - next) >>> 0 > places) next = (filled - places) | 0
  const place = next & (places - 1)
  next = (next + 1) | 0
  const state = Atomics.compareExchange(states, place, ${states.WAITING}, ${states.TAKEN})
  if (state !== ${states.WAITING}) continue
  Atomics.add(control, ${words.TAKINGS}, 1)
  let done = ${states.SIGNED}
  try {
    const hash = Uint8Array.from(hashes.subarray(place * 32, place * 32 + 32))
    signatures.set(sign(null, hash, keys.get(keyOf[place])), place * 64)
  } catch {
    done = ${states.FAILED}
  }
  if (Atomics.compareExchange(states, place, ${states.TAKEN}, done) !== ${states.TAKEN}) {
    Atomics.store(states, place, ${states.FREE})
  }
}
`
