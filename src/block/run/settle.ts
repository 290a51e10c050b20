import { type Json, limits } from '../../core/index.js'
import { failedResponse, type Response, reasons } from '../chart/protocol.js'
import { builtInEffects } from './calls.js'
import type { Completed } from './decide.js'
import type { Requested } from './entries.js'
import type { LeafWork } from './leaf-work.js'
import { contradicted, failureResponse, type Outcome } from './outcome.js'
import type { Overlay } from './overlay.js'
import type { Past } from './past.js'
import type { OpenAttempt, RunState } from './run-state.js'

/** An attempt whose code has run. */
export type RunAttempt = OpenAttempt & LeafWork

/** The outcome of an attempt's code. */
export interface AttemptEnd {
  readonly response: Response
  /** Canonical text of its data; undefined when it failed. */
  readonly dataText: string | undefined
  /** State that a failure depends on: it stands only while that is so, as a result does (L10). */
  readonly rests: Completed['rests']
}

/** How an attempt ends; undefined: what it has read is not so any more, and it runs again (L10). */
export function attemptEnd(
  state: RunState<OpenAttempt, Overlay>,
  attempt: RunAttempt,
  outcome: Outcome
): AttemptEnd | undefined {
  const overlay = state.overlayAround(attempt.ask.path)
  if (!outcome.ok) {
    const response = failureResponse(outcome)
    if (endedFromOutside(response, attempt.past)) return failed(response)
    // Beside it something has changed what it had read (L10, D3).
    if (isOutdated(attempt, overlay)) return undefined
    return failed(response, overlay === undefined ? attempt.view : undefined)
  }
  if (state.steps >= limits.RUN_STEPS_MAX) {
    const details = { max_steps: limits.RUN_STEPS_MAX, node: attempt.ask.path }
    return failed(failedResponse(reasons.maxStepsExceeded, details))
  }
  const contradiction = unfulfilled(attempt.past)
  if (contradiction !== undefined) return failed(failureResponse(contradicted(contradiction)))
  if (isOutdated(attempt, overlay)) return undefined
  const data = JSON.parse(outcome.text) as Json
  const response: Response = { success: true, data, metadata: {} }
  return { response, dataText: outcome.text, rests: undefined }
}

function failed(response: Response, rests?: Completed['rests']): AttemptEnd {
  return { response, dataText: undefined, rests }
}

/** Whether what it has read is not so any more, as far as its overlay can tell. */
function isOutdated({ view }: RunAttempt, overlay: Overlay | undefined): boolean {
  return overlay === undefined ? view.isOutdated : overlay.hasChanged(view)
}

/** Reasons of failures that the code of an attempt did not bring about by itself. */
const fromOutside: ReadonlySet<string> = new Set([
  'determinism_violation',
  'infrastructure_failed',
  'intent_conflict',
  'max_steps_exceeded',
  'package_missing',
  'timed_out'
])

/**
 * Whether a failure came from outside the code: another execution need not come to it. A denied
 * wait for a grant is one: a grant that came at the same moment must not undo it.
 */
function endedFromOutside(
  { reason = '', details }: Response,
  past: Pick<Past, 'answers' | 'recorded'>
): boolean {
  if (reason === 'denied') return past.answers > 0 && past.recorded.hasEffect(builtInEffects.wait)
  return fromOutside.has(reason) || details?.['timed_out'] === true
}

/** Something that the attempt has sent and that its result does not rest on (L10). */
function unfulfilled(past: Past): Requested | undefined {
  for (const request of past.sent()) {
    const sealed = past.recorded.find(request.seq)
    const contradiction = past.contradiction(request.seq, sealed?.requestHash)
    if (contradiction !== undefined) return contradiction
  }
  return undefined
}
