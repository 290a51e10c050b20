import type { Hash, Json } from '../../core/index.js'
import type { SealedFailure } from './entries.js'
import type { RecordedResult } from './folded-answers.js'
import type { OpenAttempt } from './run-state.js'
import type { WaitMessage } from './waits.js'

/** What became of an effect. `unknown`: it may or may not have happened, and nothing could tell. */
export type Performed =
  | { readonly kind: 'done'; readonly text: string }
  | { readonly kind: 'failed'; readonly failure: SealedFailure }
  | { readonly kind: 'unknown'; readonly failure: SealedFailure }

/** A call, as far as its answer needs it. */
export interface AskedCall {
  readonly seq: number
  readonly effect: string
  readonly requestHash: Hash
  readonly request: Json
}

/** Something that has happened outside the charts, and that `decide` turns into journal entries. */
export type RunFact =
  /** A call of an attempt has its result. */
  | {
      readonly kind: 'performed'
      readonly attempt: OpenAttempt
      readonly call: AskedCall
      readonly performed: Performed
    }
  /** The deadline of an attempt has passed. */
  | { readonly kind: 'deadline'; readonly attempt: OpenAttempt }
  /** A timer that a chart has asked for is due. */
  | { readonly kind: 'timer'; readonly path: string; readonly step: number }
  /** A wait has reached its due time. */
  | { readonly kind: 'due'; readonly token: string }
  | { readonly kind: 'cancel'; readonly reason: string; readonly by: Json }
  /** A message that may be taken. */
  | { readonly kind: 'message'; readonly message: WaitMessage }

/** The answer of an earlier attempt, for a call that asks for the same (L7). */
export function keptEvent<Attempt extends OpenAttempt>(
  attempt: Attempt,
  { body, seq, effect, requestHash }: RecordedResult & { readonly body: Json },
  request: Json = null
): Extract<RunFact, { readonly kind: 'performed' }> & { readonly attempt: Attempt } {
  const call = { seq, effect, requestHash, request }
  return {
    kind: 'performed',
    attempt,
    call,
    performed: { kind: 'done', text: JSON.stringify(body) }
  }
}
