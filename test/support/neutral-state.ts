/**
 * What the state of a run must be after an entry of its journal, in terms of `docs/spec/journal.md`
 * alone: any implementation can be compared with it.
 */
export interface NeutralState {
  readonly n: number
  readonly k: string
  /** Logical time, milliseconds. */
  readonly at: number
  /** Attempts that have ended. */
  readonly steps: number
  readonly journalHash: string
  /** Receipts of the run so far, and the root of the tree over them. */
  readonly receipts: { readonly count: number; readonly root: string }
  readonly status: 'running' | 'parked' | 'ended'
  /** Whether its cancellation was asked for. */
  readonly cancelled: boolean
  /** How the root block has ended: `success`, a reason, or null. */
  readonly ended: string | null
  readonly waits: readonly {
    readonly token: string
    readonly digest: string
    readonly path: string
    readonly step: number
    readonly seq: number | null
    readonly due: number | null
    /** Keys that have signed an answer, in order; absent: none has. */
    readonly approvals?: readonly string[]
  }[]
  /** Paths of blocks that are WAITING. */
  readonly waiting: readonly string[]
  /** Delays before retries. */
  readonly timers: readonly { readonly path: string; readonly due: number }[]
  /** Paths about whose failure a person has to decide. */
  readonly decisions: readonly string[]
  readonly attempts: readonly {
    readonly path: string
    readonly step: number
    readonly attempt: number
    readonly block: string
    /** Frozen time of its code. */
    readonly at: number
    /** Results in the order in which its code is given them. */
    readonly tape: readonly (readonly [seq: number, responseHash: string])[]
    /** Writes that were asked for and have no result. */
    readonly unanswered: readonly number[]
    readonly waits: readonly number[]
  }[]
  readonly overlays: readonly {
    readonly path: string
    readonly step: number
    readonly attempt: number
    readonly writes: readonly (readonly [key: string, text: string | null])[]
    /** Whether its end was asked for. */
    readonly asked: 'scope.commit' | 'scope.abort' | null
    /** What was decided, while its tasks are under way. */
    readonly closing: string | null
  }[]
  /** Results of writes whose attempts failed, and keys of writes that nothing answered. */
  readonly landed: readonly string[]
  readonly inDoubt: readonly string[]
  /** What charts and tasks have asked for upon this entry: kind, path, step and attempt. */
  readonly commands: readonly string[]
}
