import type { Position, RunObserver } from '../block/index.js'
import type { RunId } from '../core/index.js'

/** What tells another tool of everything that a runtime does: see `openTelemetry`. */
export interface Telemetry {
  /** Called when a runtime opens. Rejects with `telemetry.missing_library`. */
  open(program: { readonly version: string }): Promise<RunningTelemetry>
}

/** A batch of the ledger that is on disk. */
export interface CommitSeen {
  /** Everything up to here is durable. */
  readonly position: Position
  readonly units: number
  readonly bytes: number
  /** Receipts of the chain, this batch included. */
  readonly receipts: number
  readonly durationMs: number
  /** When it was there, milliseconds. */
  readonly at: number
}

/** A verification that has ended. */
export interface VerificationSeen {
  readonly isOk: boolean
  readonly receipts: number
  /** Milliseconds. */
  readonly from: number
  readonly to: number
}

/** The telemetry of one runtime. Nothing here throws, or changes what the runtime does. */
export interface RunningTelemetry {
  /** What sees a run; the same until the run has ended. */
  run(runId: RunId): RunObserver
  /** A message is about to answer a wait: the trace in which it was given is linked to. */
  answering(token: string): void
  committed(commit: CommitSeen): void
  verified(verification: VerificationSeen): void
}
