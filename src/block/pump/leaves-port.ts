import type { Hash, Json, RunId } from '../../core/index.js'
import type { EntryDraft } from '../run/entries.js'
import type { Literals } from '../run/literals.js'
import type { Scope } from '../run/scope.js'
import type { WaitTerms } from '../run/waits.js'
import type { RunBook } from './book.js'
import type { EarlyExecution } from './early.js'
import type { LeafFact } from './fact.js'
import type { PumpHost, RunEvent } from './host.js'

/** What the attempts of a run need of their pump. */
export interface LeavesPort {
  readonly host: PumpHost
  readonly book: RunBook
  readonly runId: RunId
  readonly base: () => Hash | 'GENESIS'
  /** Of the run's definition. */
  readonly literals?: () => Literals
  /** Who started the run (K13). */
  readonly principal: () => Json
  scopeOf(path: string): Scope | undefined
  /** Keeps what a write inside an overlay rests on from being changed (L10). */
  reserve(scope: Scope): void
  post(fact: LeafFact): void
  emit(event: RunEvent): void
  openWait(terms: WaitTerms): void
  record(draft: EntryDraft): void
  /** Posts the fact when it is due, under a key; a parked run is taken up for it. */
  arm(key: string, due: number, fact: LeafFact): void
  disarm(key: string): void
  /** The pump stops with this error (a poisoned ledger). */
  fail(error: unknown): void
  /** Whether new effects may still be sent. */
  isStopping(): boolean
  /** Looks again whether there is anything to do. */
  wake(): void
  /** Of a lone leaf: its first execution, when it has begun already. */
  readonly early?: EarlyExecution | undefined
}
