import type { Settled } from '../run/entries.js'
import type { OpenAttempt, OpenOverlay } from '../run/run-state.js'

/** An attempt that a chart has asked for and that has not settled yet. */
export interface AskedAttempt extends OpenAttempt {
  /** Canonical JSON of what the code is given. */
  readonly payloadText: string
  /** Where in the run and in the ledger it was asked for. */
  readonly asked: Moment
}

/** A place in the order of things: entries of the run, and items of the ledger. */
export interface Moment {
  readonly entry: number
  readonly item: number
}

/** One step inside an overlay that was not rolled back. */
export type OverlayStep =
  | { readonly kind: 'leaf'; readonly attempt: AskedAttempt; readonly settled: Settled }
  /** `n`: number of the entry with which it was joined. */
  | { readonly kind: 'scope'; readonly overlay: OpenedOverlay; readonly n: number }

/** An overlay of the run, with what has happened in it so far (C4). */
export interface OpenedOverlay extends OpenOverlay {
  /** Where in the run and in the ledger it was opened. */
  readonly asked: Moment
  readonly outer: OpenedOverlay | undefined
  readonly steps: OverlayStep[]
  /** Attempts that were cancelled after a write that something undoes. */
  readonly cancelled: AskedAttempt[]
}
