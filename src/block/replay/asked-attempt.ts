import type { OpenAttempt } from '../run/run-state.js'

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
