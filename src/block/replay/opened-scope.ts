import type { Settled } from '../run/entries.js'
import type { OpenScope } from '../run/run-state.js'
import type { AskedAttempt, Moment } from './asked-attempt.js'

/** One step inside an overlay that was not rolled back. */
export type ScopeStep =
  | { readonly kind: 'leaf'; readonly attempt: AskedAttempt; readonly settled: Settled }
  /** `n`: number of the entry with which it was joined. */
  | { readonly kind: 'scope'; readonly scope: OpenedScope; readonly n: number }

/** An overlay of the run, with what has happened in it so far (C4). */
export interface OpenedScope extends OpenScope {
  /** Where in the run and in the ledger it was opened. */
  readonly asked: Moment
  readonly outer: OpenedScope | undefined
  readonly steps: ScopeStep[]
  /** Attempts that were cancelled after a write that something undoes. */
  readonly cancelled: AskedAttempt[]
}
