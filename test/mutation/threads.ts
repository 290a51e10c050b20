import { createRequire, syncBuiltinESMExports } from 'node:module'
import type { Worker, WorkerOptions } from 'node:worker_threads'

/**
 * Mutants of code that runs in worker threads. Such a thread is started from the text of a class,
 * which asks for its mutants by functions of the module that it stood in; here the text gets
 * functions of its own, which share what is active, and what was reached, with the driver.
 */

type Threads = typeof import('node:worker_threads')

const threads = createRequire(import.meta.url)('node:worker_threads') as Threads
const MUTANTS_MAX = 20_000
const [ACTIVE, HITS, HITS_MAX, FIRST] = [0, 1, 2, 3]
const NONE = -1
const shared = new Int32Array(new SharedArrayBuffer(4 * (FIRST + MUTANTS_MAX)))
shared[ACTIVE] = NONE

// The names of the functions are those that Stryker writes into what it instruments.
const prelude = `'use strict'
const mutants = require('node:worker_threads').workerData.mutants
function stryCov_9fa48(...ids) {
  for (const id of ids) mutants[${FIRST} + Number(id)] += 1
}
function stryMutAct_9fa48(id) {
  if (mutants[${ACTIVE}] !== Number(id)) return false
  mutants[${HITS}] += 1
  if (mutants[${HITS}] > mutants[${HITS_MAX}]) throw new Error('the mutant does not end')
  return true
}
`
const live = new Set<Worker>()

class ThreadWithMutants extends threads.Worker {
  constructor(source: string | URL, options: WorkerOptions = {}) {
    const isText = options.eval === true
    const workerData = { ...(options.workerData as object), mutants: shared }
    super(isText ? prelude + source : source, isText ? { ...options, workerData } : options)
    live.add(this)
    this.once('exit', () => live.delete(this))
  }
}

/** From now on threads that start from a text have the mutants; before any source is loaded. */
export function mutateThreads(): void {
  Object.assign(threads, { Worker: ThreadWithMutants })
  syncBuiltinESMExports()
}

/** No thread outlives its test: what a mutant has left in one would judge the next. */
export async function endThreads(): Promise<void> {
  await Promise.all([...live].map((thread) => thread.terminate()))
}

/** Threads ask for this mutant, so many times at most; for none without an id. */
export function activateInThreads(id: string | undefined, hitLimit = 0): void {
  shared[HITS] = 0
  shared[HITS_MAX] = Math.min(hitLimit, 2 ** 31 - 1)
  shared[ACTIVE] = id === undefined ? NONE : Number(id)
}

/** How often threads have passed each place since this was asked last. */
export function hitsInThreads(): Readonly<Record<string, number>> {
  const counts = [...shared.subarray(FIRST).entries()].filter(([, count]) => count > 0)
  shared.fill(0, FIRST)
  return Object.fromEntries(counts.map(([id, count]) => [`${id}`, count]))
}
