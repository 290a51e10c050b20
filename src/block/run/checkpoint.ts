import { CompactRange, type Json, type JsonObject } from '../../core/index.js'
import type { Approval } from '../../identity/index.js'
import { type CancelAsked, type JournalEntry, placeKey } from './entries.js'
import type { SealedReference } from './journal.js'
import { restorePast, type SavedPart } from './past.js'
import type { RunState } from './run-state.js'
import type { SavedSignals } from './signals.js'
import type { Askings } from './waits.js'

/** A run at an entry boundary, to be resumed elsewhere (formats.md §7). */
export interface RunCheckpoint {
  readonly entries: number
  readonly at: number
  readonly journalHash: string
  readonly receipts: { readonly size: number; readonly peaks: readonly string[] }
  readonly steps: number
  readonly snapshot: Json
  /**
   * Journal entries that attempts in progress still need: their recorded results, requests and
   * waits.
   */
  readonly open: readonly JournalEntry[]
  /** Frozen times of the attempts in progress, by place: the restored charts ask for them again. */
  readonly attempts: Readonly<Record<string, number>>
  /** Paths of the leaves that are WAITING inside an attempt. */
  readonly waiting: readonly string[]
  /** The request to cancel, if the run is cancelled. */
  readonly cancel?: CancelAsked
  /** What attempts that failed have done outside, and may have done; absent: nothing. */
  readonly landed?: {
    readonly all: readonly SealedReference[]
    readonly inDoubt: readonly JsonObject[]
  }
  /** How often attempts in progress have asked each question; absent: none was asked. */
  readonly askings?: Askings
  /** What approvers have signed of open waits, by token; absent: nothing. */
  readonly approvals?: Readonly<Record<string, readonly Approval[]>>
  /** The signals that the run was sent; absent: none. */
  readonly signals?: SavedSignals
  /** Tags that its code has set; absent: none. */
  readonly tags?: readonly string[]
  /** By path: dropped parts and failed attempts whose results the next one keeps (L7). */
  readonly past: Readonly<Record<string, readonly SavedPart[]>>
}

/**
 * The state of a run for a checkpoint. Undefined when the run has to be rebuilt from its journal,
 * which has what is not in memory: what is in an overlay, and the answers of long recorded results.
 */
export function checkpointOf(state: RunState, snapshot: () => Json): RunCheckpoint | undefined {
  const attempts = [...state.attempts.values()]
  const pasts = [...(state.pasts?.values() ?? [])]
  const isWhole = [...attempts.map(({ past }) => past), ...pasts].every((past) => past.isWhole)
  const signals = state.signals.save()
  // The code of a function runs again from its first line: the journal has what it was given.
  const isRebuilt = state.openOverlays.size > 0 || state.root.isFunction === true
  if (isRebuilt || !isWhole || signals === undefined) return undefined
  const decisions = state.waits.all().filter((wait) => wait.seq === null)
  const approvals = approvalsOf(state)
  const { landed: all, inDoubt, cancelled } = state
  const askings = state.waits.askings()
  return {
    entries: state.entries,
    at: state.at,
    journalHash: state.journalHash,
    receipts: state.receipts.save(),
    steps: state.steps,
    snapshot: snapshot(),
    attempts: Object.fromEntries(attempts.map(({ ask, at }) => [placeKey(ask), at])),
    // In the order of the recorded results: a listing that was asked for again stays in its place.
    open: [
      ...attempts.flatMap(({ past, waits }) => [
        ...past.requested.values(),
        ...past.recorded.whole(),
        ...waits.values()
      ]),
      ...decisions
    ],
    waiting: state.attempts.waiting(),
    ...(cancelled === undefined ? {} : { cancel: cancelled }),
    ...(all.length + inDoubt.length === 0 ? {} : { landed: { all, inDoubt } }),
    ...(askings.length === 0 ? {} : { askings }),
    ...(signals.known.length === 0 ? {} : { signals }),
    ...(state.tags === undefined ? {} : { tags: state.tags }),
    ...(approvals.length === 0 ? {} : { approvals: Object.fromEntries(approvals) }),
    past: Object.fromEntries([
      ...attempts.flatMap(({ ask: { path }, past: { earlier } }) =>
        earlier === undefined ? [] : [[path, earlier.saved()] as const]
      ),
      ...[...(state.pasts ?? [])].map(([path, past]) => [path, past.saved()] as const)
    ])
  }
}

function approvalsOf({ waits }: RunState) {
  const all = waits.all().map(({ token }) => [token, waits.approvalsOf(token)] as const)
  return all.filter(([, approvals]) => approvals.length > 0)
}

/** Takes over a checkpoint; what it says of attempts follows once the charts ask for them. */
export function restore(state: RunState, saved: RunCheckpoint): void {
  state.entries = saved.entries
  state.at = saved.at
  state.journalHash = saved.journalHash
  state.receipts = new CompactRange(saved.receipts)
  state.steps = saved.steps
  state.cancelled = saved.cancel
  state.landed = saved.landed?.all ?? []
  state.inDoubt = saved.landed?.inDoubt ?? []
  state.tags = saved.tags
  if (saved.signals !== undefined) state.signals.restore(saved.signals)
  state.restoredTimes = new Map(Object.entries(saved.attempts))
  for (const [path, parts] of Object.entries(saved.past)) {
    const past = restorePast(parts)
    if (past !== undefined) state.keepPast(path, past)
  }
}
