import type { OpenWait } from '../../block/index.js'
import type { DigestedWait, Hash, Json, JsonObject, RunId } from '../../core/index.js'
import type { GivenNote, QuarantineMark } from '../../ledger/index.js'
import type { QueueTerms } from '../../queue/index.js'
import type { ThrownLine } from '../run/exception-log.js'
import type {
  AskedAs,
  Page,
  PageParams,
  RunFilter,
  RunsFilter,
  ShownStatus,
  WaitsFilter
} from './page-types.js'
import type { Calls, ChartAt, RunChart, SignalLine } from './picture-types.js'
import type { WorkRequests } from './work-lines.js'

/**
 * What a page asks of a ledger: lists page by page, one run as a picture at any entry, state as of
 * any receipt, and one feed of everything that became durable.
 *
 * - Q1 Pages are read by index: the work of one is bounded by its length, not by the ledger's.
 * - Q2 A cursor is good until the ledger is gone, whatever was added since: no item twice, none
 *   that was there is left out.
 * - Q3 What is shown is compared with what is signed when it is read (L12); what could not be
 *   compared stands in `notChecked`, and what differs in `problem`, in place of the value.
 * - Q4 Everything that is durable has one place, `EventPlace`; the feed gives each once, in order.
 */

export type { AskedAs, Page, PageParams, RunFilter, RunsFilter, ShownStatus, WaitsFilter }

/** One run in a list. */
export interface RunLine {
  readonly id: RunId
  readonly name: string
  readonly status: ShownStatus
  readonly principal: Json
  /** Absent: none. */
  readonly tags?: readonly string[]
  /** The run that waits for it, of a child; absent: none. */
  readonly parent?: RunId
  /** The queue in which it waits for its turn; absent: in none. */
  readonly queued?: QueueTerms
  readonly startedAt: number
  readonly updatedAt: number
  readonly entries: number
  /** Signed units of the run; null where it is open or failed, and its journal long. */
  readonly receipts: number | null
  readonly waits: readonly OpenWait[]
  readonly due: number | null
  /** Reason of the failure in one line, of a run that has failed; null otherwise. */
  readonly failure: string | null
  readonly quarantined: boolean
  readonly problem?: string
  readonly notChecked: readonly string[]
}

/** How many runs a ledger has. */
export interface RunCounts {
  readonly all: number
  /** Absent: none. */
  readonly byStatus: Readonly<Partial<Record<ShownStatus, number>>>
}

/** An open wait of any run: of the runs that began first before the others. */
export interface WaitLine {
  readonly runId: RunId
  readonly runName: string
  /** When it began, milliseconds. */
  readonly since: number
  /** When it ends by itself, or null. */
  readonly due: number | null
  /** With all members that its digest covers: `digestOf(wait)` is `wait.digest`. */
  readonly wait: OpenWait & DigestedWait
  /** Whether the one who asks may answer, and why not. */
  readonly mayAnswer: { readonly ok: true } | { readonly ok: false; readonly reason: string }
  readonly notChecked: readonly string[]
}

/** One line of the log: a receipt or evidence, without bodies. */
export interface LogLine {
  readonly leaf: number
  readonly kind: 'receipt' | 'evidence'
  /** Place in the chain; null for evidence. */
  readonly index: number | null
  readonly hash: Hash
  readonly commitSeq: number
  readonly at: number
  readonly runId: RunId | null
  readonly path: string | null
  readonly action: string
  readonly by: string
  readonly problem?: string
}

/** Proves to a verifier outside that a signed record stands in the log. */
export interface LogProofLine {
  readonly leaf: number
  /** The record as it is stored: canonical JSON. */
  readonly record: string
  readonly leafHash: Hash
  /** Root of the log that the proof is about, as a note signs it. */
  readonly root: Hash
  /** An inclusion proof (docs/spec/log-and-notes.md). */
  readonly proof: Json
}

/** How far a verification is; the last one carries the report. */
export interface VerificationProgress {
  /** `executing`: records are read, and what they say is executed again. */
  readonly phase: 'records' | 'executing' | 'done'
  /** Commit records. */
  readonly done: number
  readonly total: number
  readonly report?: JsonObject
}

/** A key of the state with the value that it has as of a receipt. */
export interface StateLine {
  readonly key: string
  /** Null where the body is withheld. */
  readonly value: Json
  /** The receipt that wrote it; null where an archive has that, and nothing says which. */
  readonly index: number | null
}

/** One write of a key: what the value was before it, null where an archive has that, and after. */
export interface StateChange {
  readonly index: number
  readonly receiptHash: Hash
  readonly at: number
  readonly runId: RunId | null
  readonly before: Json
  readonly after: Json
  readonly removed: boolean
}

/** Proves to a verifier outside that a key had a value, or none, as of a receipt. */
export interface StateProof {
  readonly key: string
  readonly asOf: number
  /** `nextStateRoot` of the receipt: sha256 of the canonical JSON of `parts`. */
  readonly root: Hash
  /** What the root commits to; `storage` is the root of the proof. */
  readonly parts: Json
  /** Of membership or absence (docs/spec/state-root.md). */
  readonly proof: Json
  /** Null where the key was absent, and where the body is withheld. */
  readonly value: Json
}

/** One check of `tally doctor`. */
export interface HealthCheck {
  readonly name: string
  readonly status: 'ok' | 'warning' | 'failed'
  readonly message: string
  readonly fix: string | null
}

/** A right that was granted, and by whom. */
export interface GrantLine {
  readonly to: { readonly kind: string; readonly id: string }
  readonly capability: string
  readonly codeHash: Hash | null
  readonly by: string
}

/**
 * Where something durable stands: commit sequence and place in that commit, as `57.2`. Commits are
 * in log order; within one, entries and receipts are in the order in which they were appended.
 * The same in every process and after every restart.
 */
export type EventPlace = string

/** What the feed gives: what has a place is history; what has none is not, and may be lost. */
export type FeedEvent =
  | { readonly place: EventPlace; readonly type: 'run'; readonly run: RunLine }
  | {
      readonly place: EventPlace
      readonly type: 'entry'
      readonly runId: RunId
      readonly entry: Json
    }
  | { readonly place: EventPlace; readonly type: 'receipt'; readonly line: LogLine }
  | { readonly place: EventPlace; readonly type: 'evidence'; readonly line: LogLine }
  /**
   * What has changed up to its place, with `paceMs`: runs with new entries, null where they are
   * too many to name, and whether receipts or evidence came.
   */
  | {
      readonly place: EventPlace
      readonly type: 'changed'
      readonly runs: readonly RunId[] | null
      readonly isSigned: boolean
    }
  | {
      readonly type: 'mode'
      readonly mode: string
      readonly cause: Json
      /** False where no process holds the ledger, and it is read from the disk. */
      readonly isHeld?: boolean
    }
  | { readonly type: 'delta'; readonly runId: RunId; readonly path: string; readonly text: string }
  /** What followed `since` is not kept any more: ask anew, and follow from here. */
  | { readonly type: 'reset'; readonly place: EventPlace }

/** One entry of a run that is followed. */
export interface FollowedEntry {
  /** `after` of a reader that continues behind it. */
  readonly place: EventPlace
  readonly entry: JsonObject
}

/** Queries with one result. */
export interface QueryRequests extends WorkRequests {
  readonly find: {
    readonly params: RunFilter & PageParams & AskedAs
    readonly result: Page<RunLine>
  }
  readonly counts: { readonly params: object; readonly result: RunCounts }
  readonly waits: { readonly params: WaitsFilter & AskedAs; readonly result: Page<WaitLine> }
  /** Throws `run.not_found`. */
  readonly chart: { readonly params: { readonly id: string }; readonly result: RunChart }
  /** Throws `run.not_found`; an entry after the last is the last. */
  readonly chartAt: {
    readonly params: { readonly id: string; readonly entry?: number }
    readonly result: ChartAt
  }
  readonly calls: {
    readonly params: {
      readonly id: string
      readonly path: string
      /** Default: 0, that of the root. */
      readonly step?: number
      /** Default: the first. */
      readonly attempt?: number
    }
    readonly result: Calls
  }
  /** Signals that wait in a run, oldest first. Throws `run.not_found`. */
  readonly signals: {
    readonly params: { readonly id: string }
    readonly result: { readonly signals: readonly SignalLine[] }
  }
  /** What code has thrown in a run, the last ones, oldest first: for people, and not signed. */
  readonly exceptions: {
    readonly params: { readonly id: string }
    readonly result: { readonly exceptions: readonly ThrownLine[] }
  }
  /** Newest first: leaves `from` <= leaf < `before`. */
  readonly log: {
    readonly params: PageParams & { readonly before?: number; readonly from?: number }
    readonly result: Page<LogLine>
  }
  /** Throws `receipt.not_found`. */
  readonly proof: { readonly params: { readonly leaf: number }; readonly result: LogProofLine }
  /** Keys in order; `asOf` is a place in the chain, default the last. */
  readonly state: {
    readonly params: PageParams & { readonly asOf?: number; readonly prefix?: string }
    readonly result: Page<StateLine>
  }
  readonly stateHistory: {
    readonly params: PageParams & { readonly key: string }
    readonly result: Page<StateChange>
  }
  readonly stateProof: {
    readonly params: { readonly key: string; readonly asOf?: number }
    readonly result: StateProof
  }
  readonly doctor: {
    readonly params: object
    readonly result: { readonly checks: readonly HealthCheck[] }
  }
  readonly grants: { readonly params: PageParams; readonly result: Page<GrantLine> }
  readonly resumable: {
    readonly params: object
    readonly result: {
      readonly runs: readonly Json[]
      readonly quarantined: readonly QuarantineMark[]
    }
  }
  /** Where one id, hash, key or token leads: what the search box asks. */
  readonly locate: {
    readonly params: { readonly text: string }
    readonly result: { readonly found: readonly Found[] }
  }
}

/** What a search by id, hash, token or key has found. */
export type Found =
  | { readonly kind: 'run'; readonly id: RunId; readonly name: string }
  | { readonly kind: 'receipt'; readonly index: number; readonly hash: Hash }
  | { readonly kind: 'wait'; readonly runId: RunId; readonly token: string }
  | { readonly kind: 'state'; readonly key: string }

/** Queries with a stream of results. */
export interface QueryStreams {
  readonly verifying: {
    readonly params: {
      readonly replay?: boolean
      readonly notes?: readonly GivenNote[]
      /** How often, with `replay`; more than once compares the executions (P2). Default 1. */
      readonly executions?: number
      /** Paths of all archives of the ledger, on its machine. */
      readonly archives?: readonly string[]
    }
    readonly event: VerificationProgress
  }
  /** A run's journal behind `after`, then what follows, until it ends. Throws `run.not_found`. */
  readonly follow: {
    readonly params: { readonly id: string; readonly after?: EventPlace }
    readonly event: FollowedEntry
  }
  /** What becomes durable after `since`, default from now on, until the caller ends it. */
  readonly feed: {
    readonly params: {
      readonly since?: EventPlace
      /** Milliseconds from 1: at most once in this time one `changed` in place of each event. */
      readonly paceMs?: number
    }
    readonly event: FeedEvent
  }
}
