import type { RunStatus } from '../../ledger/index.js'

/** Pages of lists, and what they are asked for. */

/** One page of a list; `next` is the cursor of the page after it, null at the end. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly next: string | null
}

/** Which page of a list. */
export interface PageParams {
  /** Items of the page: 50 by default, `limits.PAGE_ITEMS_MAX` at most. */
  readonly limit?: number
  /** `next` of an earlier page, with the same other parameters. */
  readonly cursor?: string
}

/** In whose name is asked; nothing: the owner's. */
export interface AskedAs {
  /** Of this program, which is shown no more than it may see (K13). */
  readonly agent?: string
}

/** Status of a run as lists show it; `imported`: open in a read-only copy. */
export type ShownStatus = RunStatus | 'imported'

/** Which runs; all of these hold. Newest first. */
export interface RunFilter {
  readonly status?: ShownStatus
  /** Name of the document, exactly. */
  readonly name?: string
  /** Part of its id or its name, whatever the case. */
  readonly text?: string
  /** Begun at or after, and before: milliseconds. */
  readonly since?: number
  readonly until?: number
  /** One of its tags, exactly. */
  readonly tag?: string
  /** Parked on a wait that a message or a signal ends; a text: on one of this reason. */
  readonly waiting?: true | string
  /** Waits for its turn in a queue; a text: in the one of this name. */
  readonly queued?: true | string
  /** Started by this run, as a child of its workflow. */
  readonly parent?: string
}

/** Which runs, and which page of them. */
export type RunsFilter = RunFilter & PageParams

/** Of which run, or of all. */
export type WaitsFilter = PageParams & {
  readonly runId?: string
  /** With an agent: it may answer waits, and sees those of runs that others started. */
  readonly answers?: boolean
}
