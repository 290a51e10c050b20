import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { type Clock, capabilityError, sha256Hex, type TallyError } from '../../core/index.js'
import type { Engine } from './engine.js'
import { GasMeter } from './gas-meter.js'
import { HostCallLog } from './host-call-log.js'
import type { GuestReport, ReadAnswer, RunMessage, ThreadMessage } from './protocol.js'
import { SandboxThread } from './thread.js'

/** The state as an execution sees it: canonical text of a key, or undefined. Must not be async. */
export type ReadState = (key: string) => string | undefined

/** A report; or the thread was terminated by the wall clock, or ended for a fault of its own. */
export type GuestEnd =
  | { readonly kind: 'report'; readonly report: GuestReport }
  | { readonly kind: 'killed' }
  | { readonly kind: 'fault'; readonly problem: string }

interface Task {
  readonly message: RunMessage
  readonly read: ReadState
  readonly resolve: (end: GuestEnd) => void
  readonly reject: (error: unknown) => void
}

/**
 * One worker thread as the pool sees it.
 *
 * Owns: the thread, the channel for reads, the wall clock of the execution under way. Does not own:
 * which execution comes next.
 *
 * Invariants:
 * - X6 An execution that outlasts its wall-clock limit is ended by terminating the thread.
 * - X7 Every execution settles: with a report, as killed, as a fault of its thread, or rejected
 *   when the thread cannot be started.
 * - X8 An idle thread does not keep the process alive.
 */
export class SandboxWorker {
  readonly #worker: Worker
  readonly #clock: Clock
  readonly #wake = new SharedArrayBuffer(4)
  readonly #answers: MessagePort
  readonly #held = new Set<string>()
  #task: Task | undefined
  readonly #booted: Promise<void>
  #settleBoot: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined
  #isReady = false
  #death: TallyError | undefined
  #callOff: (() => void) | undefined

  constructor(engine: Engine, clock: Clock) {
    this.#booted = new Promise((resolve, reject) => {
      this.#settleBoot = { resolve, reject }
    })
    // A caller that waits for the thread gets its failure; waiting is optional.
    this.#booted.catch(() => undefined)
    const { port1, port2 } = new MessageChannel()
    this.#answers = port1
    this.#clock = clock
    this.#worker = new Worker(threadSource(engine), {
      eval: true,
      workerData: { ...engine, wake: this.#wake, answers: port2 },
      transferList: [port2],
      // The parent's loaders, variables and streams are not wanted where strangers' code runs.
      execArgv: [],
      env: {},
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: 128, stackSizeMb: 4 }
    })
    this.#worker.on('message', (message: ThreadMessage) => this.#take(message))
    this.#worker.on('error', (error) => this.#fail(error.message))
    this.#worker.on('exit', (code) => this.#fail(`its thread ended with code ${code}`))
    this.#worker.unref()
    port1.unref()
  }

  get isDead(): boolean {
    return this.#death !== undefined
  }

  /** Resolves once the thread can run packages; rejects with `sandbox.engine_failed`. */
  ready(): Promise<void> {
    if (!this.#isReady) this.#worker.ref()
    return this.#booted
  }

  /** Runs one execution; the caller waits for the end of one before it asks for the next. */
  run(message: RunMessage, read: ReadState): Promise<GuestEnd> {
    if (this.#death !== undefined) return Promise.reject(this.#death)
    return new Promise((resolve, reject) => {
      this.#task = { message, read, resolve, reject }
      this.#worker.ref()
      if (this.#isReady) this.#send(this.#task)
    })
  }

  async close(): Promise<void> {
    const closed = capabilityError('sandbox.closed', {})
    this.#death ??= closed
    this.#settleBoot?.reject(closed)
    this.#end((task) => task.reject(closed))
    await this.#worker.terminate()
    this.#answers.close()
  }

  #send({ message }: Task): void {
    const { bundle, ...light } = message
    const isHeld = this.#held.has(light.codeHash)
    this.#held.add(light.codeHash)
    const due = this.#clock.now() + light.limits.wallMs
    this.#callOff = this.#clock.schedule(due, () => this.#kill())
    this.#worker.postMessage(isHeld ? light : { ...light, bundle })
  }

  #take(message: ThreadMessage): void {
    const task = this.#task
    switch (message.type) {
      case 'ready':
        this.#isReady = true
        this.#settleBoot?.resolve()
        if (task === undefined) this.#worker.unref()
        else this.#send(task)
        return
      case 'read':
        if (task !== undefined) this.#answer(task, message.key)
        return
      case 'unknown_package':
        this.#callOff?.()
        if (task !== undefined) {
          this.#held.delete(task.message.codeHash)
          this.#send(task)
        }
        return
      case 'report':
        if (message.report.engineFault !== undefined) this.#discard()
        this.#end(({ resolve }) => resolve({ kind: 'report', report: message.report }))
    }
  }

  #answer({ read }: Task, key: string): void {
    let answer: ReadAnswer
    try {
      const text = read(key)
      answer = text === undefined ? {} : { text }
    } catch (error) {
      this.#discard()
      this.#end(({ reject }) => reject(error))
      return
    }
    this.#answers.postMessage(answer)
    const wake = new Int32Array(this.#wake)
    Atomics.store(wake, 0, 1)
    Atomics.notify(wake, 0)
  }

  #kill(): void {
    this.#discard()
    this.#end(({ resolve }) => resolve({ kind: 'killed' }))
  }

  #discard(): void {
    this.#death ??= capabilityError('sandbox.engine_failed', { problem: 'its thread was ended' })
    this.#answers.close()
    // Its end is of no interest: nothing more is asked of this thread.
    this.#worker.terminate().catch(() => undefined)
  }

  #fail(problem: string): void {
    const error = capabilityError('sandbox.engine_failed', { problem })
    this.#death ??= error
    this.#settleBoot?.reject(error)
    this.#end(({ resolve, reject }) => {
      if (this.#isReady) resolve({ kind: 'fault', problem })
      else reject(error)
    })
  }

  #end(settle: (task: Task) => void): void {
    const task = this.#task
    this.#task = undefined
    this.#callOff?.()
    this.#callOff = undefined
    this.#worker.unref()
    if (task !== undefined) settle(task)
  }
}

// Text rather than a file, as with the signing thread. Some bundlers write `__name` into it.
function threadSource({ coreFile, variantFile }: Engine): string {
  return `'use strict'
const __name = (value) => value
const variant = require(${JSON.stringify(variantFile)})
const Log = ${HostCallLog.toString()}
const Meter = ${GasMeter.toString()}
const Thread = ${SandboxThread.toString()}
const thread = new Thread({
  threads: require('node:worker_threads'),
  core: require(${JSON.stringify(coreFile)}),
  variant: variant.default ?? variant,
  Log,
  Meter
})
thread.boot()`
}

/**
 * Four words of the random source for a seed (formats.md §3), for `core`'s generator in a guest.
 */
export function seedWords(seed: string): readonly [number, number, number, number] {
  const digest = sha256Hex(`tallystick/prng${seed}`)
  const word = (index: number) => Number.parseInt(digest.slice(index * 8, index * 8 + 8), 16)
  const words = [word(0), word(1), word(2), word(3)] as const
  return words.every((one) => one === 0) ? [0, 0, 0, 1] : words
}
