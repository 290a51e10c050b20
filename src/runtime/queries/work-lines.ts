import type { Json, RunId } from '../../core/index.js'

/** What is to be done, as it is listed: work in queues, and what begins by time. */

/** A queue, and what is in it. */
export interface QueueLine {
  readonly name: string
  /** Whole runs, or effects of runs; null: nothing was in it yet. */
  readonly of: 'runs' | 'effects' | null
  /** At once; null where nothing holds the ledger, and so nothing is done. */
  readonly concurrency: number | null
  readonly partitionConcurrency: number | null
  readonly rate: { readonly limit: number; readonly perMs: number } | null
  readonly running: number
  readonly waiting: number
  /** When its rate gives the next turn; null where that is not waited for. */
  readonly nextAt: number | null
  /** Those that have their turn, then those that wait, oldest first; the first of them. */
  readonly work: readonly QueuedLine[]
}

/** A run or an effect in a queue, which has its turn or waits for it. */
export interface QueuedLine {
  readonly runId: RunId
  /** Path of the step and the effect that waits; null: the run does. */
  readonly path: string | null
  readonly effect: string | null
  readonly priority: number
  /** Empty: none. */
  readonly partition: string
  /** When it began to wait, milliseconds. */
  readonly since: number
  readonly isRunning: boolean
}

/** What begins by time. */
export interface ScheduleLine {
  readonly name: string
  /** Who has registered it, in whose name its runs begin. */
  readonly by: Json
  /** How it says when; the other one is null. */
  readonly cron: string | null
  readonly everyMs: number | null
  readonly timeZone: string
  readonly overlap: 'skip' | 'queue' | 'allow' | 'cancel'
  readonly catchUp: 'none' | 'last' | number
  /** Null: it runs a document. */
  readonly workflow: string | null
  readonly isPaused: boolean
  /** Milliseconds; empty while it is paused. */
  readonly next: readonly number[]
  /** The last of its runs; null where none is among the last runs of the ledger. */
  readonly lastRun: RunId | null
  /** Why the last one could not begin, where this process has seen it; null otherwise. */
  readonly problem: string | null
}

/** What is asked about it. */
export interface WorkRequests {
  /** Queues by name, of this one or of all; in a ledger that nothing holds, those of its runs. */
  readonly queues: {
    readonly params: { readonly name?: string }
    readonly result: { readonly queues: readonly QueueLine[] }
  }
  /** What begins by time, by name, with so many of the times to come, 1 by default. */
  readonly schedules: {
    readonly params: { readonly name?: string; readonly times?: number }
    readonly result: { readonly schedules: readonly ScheduleLine[] }
  }
}
