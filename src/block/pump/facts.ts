import type { RunFact } from '../run/facts.js'
import type { Outcome } from '../run/outcome.js'
import type { MessageOutcome } from '../run/waits.js'
import type { Attempt } from './attempt.js'

type FactOf<Kind extends RunFact['kind']> = Extract<RunFact, { readonly kind: Kind }>

/** Where the sender of a message is given its outcome. */
export interface Reply<Outcome> {
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}

/** The code of an attempt has ended. */
export interface OutcomeEvent {
  readonly kind: 'outcome'
  readonly attempt: Attempt
  readonly outcome: Outcome
}

export type PerformedFact = FactOf<'performed'> & { readonly attempt: Attempt }

/** Something that has happened outside the charts, and waits in the inbox for its turn. */
export type PumpEvent =
  | OutcomeEvent
  | PerformedFact
  /** What it has read changed before it sent anything: it has to run again (L10). */
  | { readonly kind: 'stale'; readonly attempt: Attempt; readonly reruns: number }
  | FactOf<'deadline' | 'timer' | 'due'>
  | (FactOf<'cancel'> & Reply<boolean>)
  | (FactOf<'message'> & Reply<MessageOutcome>)
