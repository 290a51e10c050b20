import type { OpenWait } from '../../block/index.js'
import type { Json, ManualClock, RunId } from '../../core/index.js'
import type { RunHandle, RunResult, WiredRuntime } from '../../runtime/index.js'
import type { Life } from '../machine/life.js'
import type { People } from '../machine/people.js'
import { beginRun, type RunSource } from '../machine/run-source.js'
import type { Fate } from './fate.js'

/** How one run has ended in a life: with a result, or with an error. */
export type RunEnd = { readonly result: RunResult } | { readonly error: unknown }

/** A run that a node is to do. */
export interface PlannedRun {
  readonly id: RunId
  readonly input: Json
}

const DAY_MS = 24 * 60 * 60 * 1000

/**
 * One life of a node's process, from opening its ledger to its end.
 *
 * Owns: the runs of this life, and the people who have been asked in it. Does not own: what
 * outlives it.
 */
export class Process {
  readonly life: Life
  readonly ends = new Map<RunId, RunEnd>()
  /** The first error that belongs to no run: of opening, of a question that was answered. */
  error: { readonly error: unknown; readonly run: RunId | undefined } | undefined
  runtime: WiredRuntime | undefined
  /** Grows with what happens in it besides the boundaries of its life. */
  changes = 0
  readonly #parts: ProcessParts
  readonly #handles = new Map<RunId, RunHandle>()
  /** Runs that have begun, and of which the ledger may not have heard yet. */
  readonly #unknown = new Set<RunId>()
  readonly #asked = new Set<string>()
  readonly #answering: { readonly run: RunHandle; readonly wait: OpenWait }[] = []
  #isComingLate = false

  constructor(parts: ProcessParts) {
    this.life = parts.life
    this.#parts = parts
    parts.open().then(
      (runtime) => {
        this.runtime = runtime
        this.changes += 1
      },
      (error: unknown) => this.#note(error, undefined)
    )
  }

  /** Whether it does something of which no boundary and no clock shows a sign. */
  get isBusy(): boolean {
    if (this.life.isDead || this.error !== undefined) return false
    const { runtime } = this
    if (runtime === undefined) return true
    for (const id of this.#unknown) {
      if (!this.ends.has(id) && !runtime.ledger.hasRun(id)) return true
      this.#unknown.delete(id)
    }
    return false
  }

  has(run: RunId): boolean {
    return this.#handles.has(run)
  }

  /** Begins a run, or continues it where an earlier life has left it. */
  begin(runtime: WiredRuntime, { id, input }: PlannedRun): void {
    const { source, context } = this.#parts
    this.changes += 1
    if (!runtime.ledger.hasRun(id)) {
      this.#unknown.add(id)
      this.#hear(beginRun(runtime, source, { id, input, context }))
      return
    }
    runtime.resume(id).then(
      (run) => this.#hear(run),
      (error: unknown) => this.#note(error, id)
    )
  }

  /** Asks people about new waits, and has them give the answers whose time has come. */
  ask(runtime: WiredRuntime): void {
    const { clock, fate, people } = this.#parts
    for (const [id, run] of this.#handles) {
      if (this.ends.has(id)) continue
      for (const wait of runtime.runsOf.waits(id)) {
        if (this.#asked.has(wait.token)) continue
        this.#asked.add(wait.token)
        const isLate = fate.actOf(wait.token).manner === 'late' && wait.due === null
        const at = clock.now() + fate.personMs() + (isLate ? DAY_MS : 0)
        clock.schedule(at, () => this.#answering.push({ run, wait }))
      }
    }
    if (!this.#isComingLate) {
      this.#isComingLate = true
      this.#await(people.comeLate(), () => {
        this.#isComingLate = false
      })
    }
    for (const { run, wait } of this.#answering.splice(0)) {
      this.changes += 1
      this.#await(people.answer(run, wait))
    }
  }

  /** Whether a run waits for people. */
  waits(runtime: WiredRuntime, run: RunId): boolean {
    return runtime.runsOf.waits(run).length > 0
  }

  #await(work: Promise<unknown>, then: () => void = () => undefined): void {
    work.then(
      () => {
        then()
      },
      (error: unknown) => this.#note(error, undefined)
    )
  }

  #hear(run: RunHandle): void {
    const { id, result } = run
    this.#handles.set(id, run)
    this.changes += 1
    const ended = (end: RunEnd) => {
      this.ends.set(id, end)
      this.changes += 1
    }
    result.then(
      (given) => ended({ result: given }),
      (error: unknown) => ended({ error })
    )
  }

  #note(error: unknown, run: RunId | undefined): void {
    this.error ??= { error, run }
    this.changes += 1
  }
}

export interface ProcessParts {
  readonly life: Life
  readonly clock: ManualClock
  readonly fate: Fate
  readonly people: People
  readonly source: RunSource
  readonly context: Readonly<Record<string, Json>>
  open(): Promise<WiredRuntime>
}
