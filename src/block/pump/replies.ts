import type { Json } from '../../core/index.js'
import type { RecordedProvider } from '../kernel.js'
import type { Call } from '../run/calls.js'
import type { Place } from '../run/entries.js'
import type { TapeAnswer } from '../run/folded-answers.js'
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

export function placeOf(attempt: Attempt): Place {
  const { path, step, attempt: number } = attempt.ask
  return { path, step, attempt: number }
}

/** Who did the work of an attempt of the kernel, for its journal entry. */
export function providerOf({ attribution }: Attempt): { readonly provider?: RecordedProvider } {
  return attribution === undefined ? {} : { provider: attribution.provider }
}
