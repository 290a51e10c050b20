import { isJsonObject, type Json, type JsonObject } from '../../core/index.js'
import type { RecordedProvider } from '../kernel.js'
import { failedResponse, type Response, reasons } from '../protocol.js'
import type { Call } from '../run/calls.js'
import type { Place, Requested } from '../run/entries.js'
import type { TapeAnswer } from '../run/folded-answers.js'
import type { Outcome } from '../run/outcome.js'
import type { Attempt } from './attempt.js'
import type { LeafFact } from './fact.js'

/** The answer of an earlier attempt, for a call that asks for the same (L7). */
export function keptFact(
  attempt: Attempt,
  kept: TapeAnswer & { readonly body: Json },
  call?: Call
): LeafFact {
  const text = JSON.stringify(kept.body)
  const answered = call ?? {
    kind: 'wait' as const,
    seq: kept.seq,
    effect: kept.effect,
    request: null,
    requestHash: kept.requestHash,
    reason: 'confirmation' as const,
    timeoutMs: undefined,
    answer: () => undefined
  }
  return { kind: 'performed', attempt, call: answered, performed: { kind: 'done', text } }
}

/**
 * What was sent outside does not fit the state as it is now: nobody but a person can tell (L10).
 */
export function contradicted({ effect, seq }: Requested): Outcome & { readonly ok: false } {
  const details = { effect, seq }
  return { ok: false, reason: 'intent_conflict', errorType: 'IntentConflict', details }
}

export function placeOf(attempt: Attempt): Place {
  const { path, step, attempt: number } = attempt.ask
  return { path, step, attempt: number }
}

/** Who did the work of an attempt of the kernel, for its journal entry. */
export function providerOf({ attribution }: Attempt): { readonly provider?: RecordedProvider } {
  return attribution === undefined ? {} : { provider: attribution.provider }
}

/** The response of an attempt that failed. */
export function failureResponse(outcome: Outcome & { readonly ok: false }): Response {
  const { details } = outcome
  const asObject: JsonObject = isJsonObject(details) ? details : { value: details }
  return {
    success: false,
    data: null,
    reason: outcome.reason,
    errorType: outcome.errorType,
    details: details === null ? {} : asObject,
    metadata: {}
  }
}

/** The response of an attempt that ran out of time (W5). */
export function timeoutResponse(attempt: Pick<Attempt, 'past'>): Response {
  return attempt.past.hasSent()
    ? failedResponse('unknown_outcome', { timed_out: true })
    : failedResponse(reasons.timedOut, {})
}
