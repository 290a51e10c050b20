import type { KeyObject } from 'node:crypto'
import {
  type KeyMessage,
  type PoolWorker,
  type WorkerMemory,
  workerSource
} from '../../src/identity/signing-thread.js'

/** What the code of the thread uses of Atomics; it is handed in before each of its steps. */
type Steps = Pick<typeof Atomics, 'load' | 'store' | 'add' | 'compareExchange' | 'wait'>
type Program = (require: (name: string) => unknown) => Generator<undefined, void, Steps>

const GeneratorFunction = Object.getPrototypeOf(function* () {}).constructor as new (
  ...source: string[]
) => Program
const program = new GeneratorFunction(
  'require',
  workerSource
    .replaceAll(/^ *Atomics\./gm, ';(yield).')
    .replaceAll('Atomics.', '(yield).')
    // What a place holds is read and written in a step of its own.
    .replaceAll('hashes.subarray', '((yield), hashes).subarray')
    .replaceAll('signatures.set', ';((yield), signatures).set')
)

/** In place of a signature: the hash, and the number that stands for the key. */
export function markOf(hash: Uint8Array, key: number): Buffer {
  return Buffer.concat([hash, Buffer.alloc(32, key)])
}

/** In place of a key: a number. */
export const keyNumbered = (key: number) => key as unknown as KeyObject

/**
 * The code of the signing thread, run one atomic step at a time in the thread of the test, which
 * decides when.
 */
export class SteppedThread {
  readonly worker: PoolWorker
  readonly #messages: KeyMessage[] = []
  readonly #answers: number[] = []
  readonly #steps: Generator<undefined, void, Steps>
  readonly #onMessage: ((forgotten: number) => void)[] = []
  readonly #onExit: (() => void)[] = []
  #isAsleep = false
  #isOver = false

  constructor(workerData: WorkerMemory) {
    const on = (event: string, listener: (forgotten: number) => void) => {
      if (event === 'message') this.#onMessage.push(listener)
      if (event === 'exit') this.#onExit.push(listener as () => void)
    }
    this.worker = {
      on,
      ref: () => undefined,
      unref: () => undefined,
      postMessage: (message) => this.#messages.push(message),
      terminate: async () => this.exit()
    }
    const modules: Readonly<Record<string, unknown>> = {
      'node:crypto': {
        sign: (_: null, hash: Uint8Array, key: number | undefined) => {
          if (key === undefined) throw new Error('no key')
          return markOf(hash, key)
        }
      },
      'node:worker_threads': {
        workerData,
        parentPort: { postMessage: (id: number) => this.#answers.push(id) },
        receiveMessageOnPort: () => ({ message: this.#messages.shift() })
      }
    }
    this.#steps = program((name) => modules[name])
    this.#steps.next()
  }

  get isIdle(): boolean {
    return this.#isAsleep || this.#isOver
  }

  /** Messages that it has not read. */
  get unread(): number {
    return this.#isOver ? 0 : this.#messages.length
  }

  /** Runs this many steps, fewer where it falls asleep; gives how many. */
  step(count: number): number {
    let taken = 0
    for (; taken < count && !this.isIdle; taken += 1) this.#steps.next(this.#atomics)
    return taken
  }

  /** What `Atomics.notify` of the caller does; gives whether it woke the thread. */
  notify(): boolean {
    const isWoken = this.#isAsleep
    this.#isAsleep = false
    return isWoken
  }

  /** Hands out the answers that the thread has posted. */
  deliver(): void {
    for (const id of this.#answers.splice(0)) for (const listener of this.#onMessage) listener(id)
  }

  exit(): number {
    if (!this.#isOver) {
      this.#isOver = true
      for (const listener of this.#onExit) listener()
    }
    return 1
  }

  readonly #atomics: Steps = {
    load: realAtomics.load,
    store: realAtomics.store,
    add: realAtomics.add,
    compareExchange: realAtomics.compareExchange,
    wait: (array, index, value) => {
      this.#isAsleep = realAtomics.load(array as Int32Array, index) === Number(value)
      return 'ok'
    }
  }
}

/** As they are before a test watches them. */
const realAtomics = {
  load: Atomics.load,
  store: Atomics.store,
  add: Atomics.add,
  compareExchange: Atomics.compareExchange,
  notify: Atomics.notify
}

/**
 * Runs `act`, and after each atomic step of it `after`, before anything else that the step makes
 * possible; `onNotify` in place of waking.
 */
export function watchingAtomics(
  { after, onNotify }: { readonly after: () => void; readonly onNotify: () => number },
  act: () => void
): void {
  const watched = <F extends (...values: never[]) => unknown>(method: F): F =>
    ((...values: Parameters<F>) => {
      const result = method(...values)
      after()
      return result
    }) as F
  const { load, store, compareExchange } = realAtomics
  Object.assign(Atomics, {
    load: watched(load),
    store: watched(store),
    compareExchange: watched(compareExchange),
    notify: () => {
      const woken = onNotify()
      after()
      return woken
    }
  })
  try {
    act()
  } finally {
    Object.assign(Atomics, realAtomics)
  }
}
