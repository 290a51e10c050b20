import { failedResponse, type Outcome, type Response, reasons } from '../../code/index.js'
import type { Requested } from './entries.js'
import type { Past } from './past.js'

/** The response of an attempt that ran out of time (W5). */
export function timeoutResponse(attempt: { readonly past: Pick<Past, 'hasSent'> }): Response {
  return attempt.past.hasSent()
    ? failedResponse('unknown_outcome', { timed_out: true })
    : failedResponse(reasons.timedOut, {})
}

/**
 * What was sent outside does not fit the state as it is now: only a person can decide (L10).
 */
export function contradicted({ effect, seq }: Requested): Outcome & { readonly ok: false } {
  const details = { effect, seq }
  return { ok: false, reason: 'intent_conflict', errorType: 'IntentConflict', details }
}
