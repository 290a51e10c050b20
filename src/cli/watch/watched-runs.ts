import { isJsonObject, type Json, limits, type RunId } from '../../core/index.js'
import type { RunLine, RunView } from '../../runtime/index.js'

/** Where a run was seen at work last. */
export interface StepAt {
  readonly path: string
  readonly step: number
  readonly attempt: number
}

/** What a watch shows of a run. */
export type WatchedLine = Pick<
  RunLine,
  | 'id'
  | 'name'
  | 'status'
  | 'startedAt'
  | 'updatedAt'
  | 'waits'
  | 'due'
  | 'queued'
  | 'quarantined'
  | 'problem'
  | 'notChecked'
> & { readonly failure: string | null }

export interface WatchedRun extends WatchedLine {
  readonly step: StepAt | null
}

/** A run that began, waits, continues or has ended, or whose step is another one. */
export interface Change {
  readonly change: WatchedRun['status'] | 'started' | 'quarantined' | 'step'
  readonly run: WatchedRun
}

/**
 * The runs that a watch knows, and what has changed in them.
 *
 * Owns: one line of each run, of `WATCH_RUNS_MAX` at most, and when it changed. Does not own: where
 * the lines come from; the same line may come again, and is no change.
 */
export class WatchedRuns {
  readonly #runs = new Map<RunId, WatchedRun>()
  readonly #changedAt = new Map<RunId, number>()
  /** Steps of runs whose line comes after the entry, with the same commit. */
  readonly #early = new Map<RunId, StepAt>()
  /** Runs that were left out. */
  #left = 0

  get all(): readonly WatchedRun[] {
    return [...this.#runs.values()]
  }

  get left(): number {
    return this.#left
  }

  has(id: RunId): boolean {
    return this.#runs.has(id)
  }

  /** When a run was seen to change; undefined where it has not. */
  changedAt(id: RunId): number | undefined {
    return this.#changedAt.get(id)
  }

  /** How a run stands when the watch begins. */
  begin(line: WatchedLine, step: StepAt | null): void {
    this.#set({ ...line, step: stepOf(line) ?? step })
  }

  /** A run as it stands now; undefined where that is no change. */
  take(line: WatchedLine, now: number): Change | undefined {
    const before = this.#runs.get(line.id)
    const step = stepOf(line) ?? before?.step ?? this.#early.get(line.id) ?? null
    this.#early.delete(line.id)
    const run = { ...line, step }
    this.#set(run)
    const change = changeOf(before, run)
    if (change === undefined) return undefined
    this.#changedAt.set(run.id, now)
    return { change, run }
  }

  /** An entry of a run's journal; undefined where it names no other step. */
  step(id: RunId, entry: Json): Change | undefined {
    const run = this.#runs.get(id)
    const step = stepIn(entry)
    if (step === null || (run !== undefined && isSame(run.step, step))) return undefined
    if (run === undefined) {
      if (this.#early.size < limits.WATCH_RUNS_MAX) this.#early.set(id, step)
      return undefined
    }
    const moved = { ...run, step }
    this.#runs.set(id, moved)
    return { change: 'step', run: moved }
  }

  #set(run: WatchedRun): void {
    this.#runs.set(run.id, run)
    if (this.#runs.size <= limits.WATCH_RUNS_MAX) return
    const id = this.#oldest()
    this.#runs.delete(id)
    this.#changedAt.delete(id)
    this.#left += 1
  }

  /** The run that is missed least: the one that ended first, or else began first. */
  #oldest(): RunId {
    const [oldest] = [...this.#runs].reduce((least, one) =>
      compareMissed(least[1], one[1]) > 0 ? one : least
    )
    return oldest
  }
}

function compareMissed(one: WatchedRun, other: WatchedRun): number {
  return (
    Number(isOpen(one)) - Number(isOpen(other)) ||
    one.updatedAt - other.updatedAt ||
    one.startedAt - other.startedAt
  )
}

export function isOpen({ status }: Pick<WatchedLine, 'status'>): boolean {
  return status === 'running' || status === 'waiting' || status === 'imported'
}

/** A run as `show` gives it. */
export function lineOf(view: RunView): WatchedLine {
  return { ...view, failure: view.response?.reason ?? null }
}

function changeOf(before: WatchedRun | undefined, run: WatchedRun): Change['change'] | undefined {
  if (run.quarantined && before?.quarantined !== true) return 'quarantined'
  if (before === undefined && run.status === 'running' && run.waits.length === 0) return 'started'
  const status = statusOf(run)
  if (before === undefined || statusOf(before) !== status) return status
  const tokens = new Set(before.waits.map(({ token }) => token))
  const isAsked = run.waits.some(({ token }) => !tokens.has(token))
  if (isAsked) return status
  return tokens.size > 0 && run.waits.length === 0 ? run.status : undefined
}

/** A run also waits where one of its steps does while others continue. */
function statusOf({ status, waits }: WatchedRun): WatchedRun['status'] {
  return status === 'running' && waits.length > 0 ? 'waiting' : status
}

/** The step of an open run that waits. */
function stepOf({ waits }: WatchedLine): StepAt | null {
  const [wait] = waits
  return wait === undefined ? null : { path: wait.path, step: wait.step, attempt: 1 }
}

/** The step that an entry of a journal is about; null where it is about the run. */
export function stepIn(entry: Json): StepAt | null {
  if (!isJsonObject(entry)) return null
  const { path, step, attempt = 1 } = entry
  const isMeant =
    typeof path === 'string' && typeof step === 'number' && typeof attempt === 'number'
  return isMeant && path.includes('/') ? { path, step, attempt } : null
}

function isSame(one: StepAt | null, other: StepAt): boolean {
  return one?.path === other.path && one.step === other.step && one.attempt === other.attempt
}
