import type { ScopeAsk } from '../protocol.js'
import type { ScopeEnded, Settled } from '../run/entries.js'
import type { Outside } from '../run/outside.js'
import type { Errands } from '../run/overlay-tasks.js'
import type { AskedAttempt, Moment } from './asked-attempt.js'

export type ScopeOpenAsk = Extract<ScopeAsk, { readonly kind: 'scope.open' }>

/** One step inside an overlay that was not rolled back. */
export type ScopeStep =
  | { readonly kind: 'leaf'; readonly attempt: AskedAttempt; readonly settled: Settled }
  /** `n`: number of the entry with which it was joined. */
  | { readonly kind: 'scope'; readonly scope: OpenedScope; readonly n: number }

/** An overlay of the run, with what has happened in it so far (C4). */
export interface OpenedScope {
  readonly ask: ScopeOpenAsk
  readonly at: number
  /** Where in the run and in the ledger it was opened. */
  readonly asked: Moment
  readonly outer: OpenedScope | undefined
  readonly steps: ScopeStep[]
  readonly outside: Outside
  /** Attempts that were cancelled after a write that something undoes. */
  readonly cancelled: AskedAttempt[]
  /** What was decided, and the errands that come before its composite continues. */
  closing: { readonly decided: ScopeEnded; readonly errands: Errands } | undefined
}
