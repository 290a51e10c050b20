import type { Response } from '../protocol.js'
import { builtInEffects } from '../run/calls.js'
import type { Requested } from '../run/entries.js'
import type { Past } from '../run/past.js'
import type { Attempt } from './attempt.js'

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
export function endedFromOutside(
  { reason = '', details }: Response,
  past: Pick<Past, 'answers' | 'tape'>
): boolean {
  if (reason === 'denied') return past.answers > 0 && past.tape.hasEffect(builtInEffects.wait)
  return fromOutside.has(reason) || details?.['timed_out'] === true
}

/**
 * The state that a failure rests on: it stands only while that is so, as a result does (L10), and
 * can then be executed again. Undefined for failures that the code did not bring about by itself.
 */
export function restsOn(
  attempt: Attempt,
  response: Response
): Pick<Attempt['view'], 'reads' | 'lists'> | undefined {
  const { past, view } = attempt
  return endedFromOutside(response, past) ? undefined : view
}

/** Something that the attempt has sent and that its result does not rest on (L10). */
export function unfulfilled(attempt: Attempt): Requested | undefined {
  for (const request of attempt.past.sent()) {
    const sealed = attempt.tape.find(request.seq)
    const contradiction = attempt.past.contradiction(request.seq, sealed?.requestHash)
    if (contradiction !== undefined) return contradiction
  }
  return undefined
}
