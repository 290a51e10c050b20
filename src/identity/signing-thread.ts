import type { KeyObject } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { type PublicKey, TallyError } from '../core/index.js'

/**
 * The worker thread behind `signMany`.
 *
 * Owns: one worker, started on first use, and the requests it has not answered. Does not own: the
 * order of commits, or when to sign inline (the ledger's business).
 *
 * Invariants:
 * - I1 Every request settles: answered, or rejected when the thread fails or is closed.
 * - I2 The process stays alive while a request is open and not because of an idle thread.
 * - I3 The key reaches the thread as a KeyObject; its bytes stand in no message and no argument.
 * - I4 After a failure the next request starts a new thread; after `close` nothing starts.
 */
export class SigningThread {
  readonly #key: KeyObject
  readonly #publicKey: PublicKey
  readonly #requests = new Map<number, Request>()
  #worker: Worker | undefined
  #lastId = 0
  #closed = false

  constructor(key: KeyObject, publicKey: PublicKey) {
    this.#key = key
    this.#publicKey = publicKey
  }

  /** Signs n 32-byte hashes; rejects with `identity.signer_closed` or `identity.signer_failed`. */
  sign(hashes: Uint8Array): Promise<Uint8Array> {
    if (this.#closed) return Promise.reject(this.#closedError())
    this.#worker ??= this.#start()
    const worker = this.#worker
    this.#lastId += 1
    const id = this.#lastId
    return new Promise((resolve, reject) => {
      this.#requests.set(id, { resolve, reject })
      worker.ref()
      worker.postMessage({ id, hashes })
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    const worker = this.#worker
    this.#worker = undefined
    this.#rejectAll(this.#closedError())
    await worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(workerSource, {
      eval: true,
      workerData: this.#key,
      // The parent's loaders and inspector flags are not wanted in a thread that only signs.
      execArgv: [],
      env: {}
    })
    worker.on('message', (answer: Answer) => this.#settle(worker, answer))
    worker.on('error', (error) => this.#fail(worker, error.message))
    worker.on('exit', (code) => this.#fail(worker, `its thread ended with code ${code}`))
    worker.unref()
    return worker
  }

  #settle(worker: Worker, { id, signatures }: Answer): void {
    this.#requests.get(id)?.resolve(signatures)
    this.#requests.delete(id)
    if (this.#requests.size === 0) worker.unref()
  }

  #fail(worker: Worker, problem: string): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    this.#rejectAll(
      new TallyError('identity.signer_failed', { publicKey: this.#publicKey, problem })
    )
  }

  #rejectAll(error: TallyError): void {
    const requests = [...this.#requests.values()]
    this.#requests.clear()
    for (const { reject } of requests) reject(error)
  }

  #closedError(): TallyError {
    return new TallyError('identity.signer_closed', { publicKey: this.#publicKey })
  }
}

interface Request {
  readonly resolve: (signatures: Uint8Array) => void
  readonly reject: (error: TallyError) => void
}

interface Answer {
  readonly id: number
  readonly signatures: Uint8Array
}

// CommonJS text rather than a file, so that it also runs from sources, from a bundle, and wherever
// a file URL beside the module does not exist.
const workerSource = `
'use strict'
const { sign } = require('node:crypto')
const { parentPort, workerData: key } = require('node:worker_threads')
parentPort.on('message', ({ id, hashes }) => {
  const count = hashes.length / 32
  const signatures = new Uint8Array(count * 64)
  for (let index = 0; index < count; index += 1) {
    signatures.set(sign(null, hashes.subarray(index * 32, index * 32 + 32), key), index * 64)
  }
  parentPort.postMessage({ id, signatures }, [signatures.buffer])
})
`
