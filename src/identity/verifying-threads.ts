import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { limits } from '../core/index.js'
import { isStrictEncoding } from './encoding.js'
import { type SignedBytes, verifyMany } from './verify.js'

/**
 * Threads that check the signatures of one verification, many of them for each message: to give
 * them to Node's pool one by one costs the caller a quarter of what a check does.
 *
 * Owns: its threads, started at the first signatures and ended by `close`. Does not own: the rule,
 * which is that of {@link verify}.
 *
 * Invariants:
 * - V1 Each verdict is that of `verify`, in order, whatever becomes of a thread: what one has not
 *   answered is checked in Node's pool.
 * - V2 A thread keeps the process alive while it has something to answer, and at no other time.
 */
export class VerifyingThreads {
  readonly #startWorker: StartVerifier
  readonly #threads: VerifyingThread[] = []
  /** Closed, or a program that is not permitted to start threads. */
  #startsNone = false

  constructor(start: StartVerifier = startVerifier) {
    this.#startWorker = start
  }

  /** One verdict each, in order. */
  async check(items: readonly SignedBytes[]): Promise<readonly boolean[]> {
    const isStrict = items.map(({ signature, publicKey }) => isStrictEncoding(signature, publicKey))
    const strict = items.filter((_, index) => isStrict[index])
    const verdicts = (await this.#thread()?.check(strict)) ?? (await verifyMany(strict))
    let next = 0
    return isStrict.map((one) => one && verdicts[next++] === true)
  }

  /** Ends the threads; what they have not answered, and all later, is checked in Node's pool. */
  async close(): Promise<void> {
    this.#startsNone = true
    await Promise.all(this.#threads.splice(0).map((thread) => thread.end()))
  }

  /** The one with the least to do; undefined where threads fail. */
  #thread(): VerifyingThread | undefined {
    const most = Math.min(limits.VERIFY_THREADS_MAX, availableParallelism())
    if (this.#threads.length < most && !this.#startsNone) this.#start()
    return this.#threads
      .filter(({ isOver }) => !isOver)
      .reduce<VerifyingThread | undefined>(
        (least, one) => (least === undefined || one.waiting < least.waiting ? one : least),
        undefined
      )
  }

  #start(): void {
    try {
      this.#threads.push(new VerifyingThread(this.#startWorker))
    } catch {
      this.#startsNone = true
    }
  }
}

class VerifyingThread {
  readonly #worker: VerifyingWorker
  /** In the order in which they were sent, which is that of the answers. */
  readonly #asked: ((verdicts: Uint8Array | undefined) => void)[] = []
  isOver = false

  constructor(start: StartVerifier) {
    this.#worker = start()
    this.#worker.on('error', () => undefined)
    this.#worker.on('exit', () => this.#exited())
    this.#worker.on('message', (verdicts) => this.#answered(verdicts))
    this.#worker.unref()
  }

  get waiting(): number {
    return this.#asked.length
  }

  /** Undefined: it has ended without an answer. */
  async check(items: readonly SignedBytes[]): Promise<readonly boolean[] | undefined> {
    const packed = packedItems(items)
    const verdicts = await new Promise<Uint8Array | undefined>((resolve) => {
      if (this.#asked.length === 0) this.#worker.ref()
      this.#asked.push(resolve)
      this.#worker.postMessage(packed, [packed.buffer])
    })
    if (verdicts?.length !== items.length) return undefined
    return Array.from(verdicts, (verdict) => verdict === 1)
  }

  async end(): Promise<void> {
    await this.#worker.terminate()
  }

  #answered(verdicts: Uint8Array): void {
    this.#asked.shift()?.(verdicts)
    if (this.#asked.length === 0) this.#worker.unref()
  }

  #exited(): void {
    this.isOver = true
    for (const resolve of this.#asked.splice(0)) resolve(undefined)
  }
}

/** Key, signature, length of the message and the message of each, one after the other. */
function packedItems(items: readonly SignedBytes[]): Uint8Array<ArrayBuffer> {
  const size = items.reduce((sum, { message }) => sum + HEADER_BYTES + message.length, 0)
  const packed = new Uint8Array(size)
  const view = new DataView(packed.buffer)
  let at = 0
  for (const { signature, message, publicKey } of items) {
    packed.set(publicKey, at)
    packed.set(signature, at + 32)
    view.setUint32(at + 96, message.length)
    packed.set(message, at + HEADER_BYTES)
    at += HEADER_BYTES + message.length
  }
  return packed
}

const HEADER_BYTES = 100

/** What is used of a worker. */
export interface VerifyingWorker extends Pick<Worker, 'ref' | 'unref' | 'terminate'> {
  postMessage(packed: Uint8Array, transferred: readonly ArrayBuffer[]): void
  on(event: 'error' | 'exit', listener: () => void): unknown
  on(event: 'message', listener: (verdicts: Uint8Array) => void): unknown
}

export type StartVerifier = () => VerifyingWorker

const startVerifier: StartVerifier = () =>
  // The parent's loaders and inspector flags are not wanted in a thread that only verifies.
  new Worker(workerSource, { eval: true, execArgv: [], env: {} })

// CommonJS text rather than a file, so that it also runs from sources and from a bundle.
const workerSource = `
'use strict'
const { createPublicKey, verify } = require('node:crypto')
const { parentPort } = require('node:worker_threads')
const keys = new Map()
function keyOf(x) {
  const known = keys.get(x)
  if (known !== undefined) return known
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  if (keys.size >= ${limits.CACHE_ENTRIES_MAX}) keys.clear()
  keys.set(x, key)
  return key
}
parentPort.on('message', (message) => {
  const packed = Buffer.from(message.buffer)
  const verdicts = []
  for (let at = 0; at < packed.length; ) {
    const begin = at + ${HEADER_BYTES}
    const end = begin + packed.readUInt32BE(at + 96)
    let isValid = false
    try {
      const key = keyOf(packed.toString('base64url', at, at + 32))
      isValid = verify(null, packed.subarray(begin, end), key, packed.subarray(at + 32, at + 96))
    } catch {
      // A key that is on no curve verifies nothing.
    }
    verdicts.push(isValid ? 1 : 0)
    at = end
  }
  parentPort.postMessage(Uint8Array.from(verdicts))
})
`
