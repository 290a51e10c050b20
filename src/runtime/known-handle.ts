import type { RunId } from '../core/index.js'
import type { Answer, RunHandle } from './handle.js'
import type { Known } from './known.js'
import { messageOf, ownerNamed } from './messages.js'
import type { Runs } from './runs.js'

/** What a caller holds of a run that this process knows. */
export function handleOf(runId: RunId, known: Known, runs: Runs): RunHandle {
  const answer = (token: string, given: Answer, action: 'approve' | 'deny') =>
    runs.mail.message(runId, messageOf(token, given, action))
  return {
    id: runId,
    result: known.result.promise,
    waits: () => runs.durableWaits(runId),
    approve: (token, given) => answer(token, given, 'approve'),
    deny: (token, given) => answer(token, given, 'deny'),
    resume: (token, { action = 'resume', ...given }) =>
      runs.mail.message(runId, messageOf(token, given, action)),
    cancel: (reason = 'cancelled by the owner') =>
      runs.cancel(runId, reason, ownerNamed(undefined)),
    [Symbol.asyncIterator]: () => runs.read(runId, known)[Symbol.asyncIterator](),
    // Leaving the scope lets go of the handle only; the run continues.
    [Symbol.asyncDispose]: async () => undefined
  }
}
