import {
  type AnswerCommand,
  type FunctionCall,
  type Response,
  ROOT_PATH,
  requestHashOf
} from '../../code/index.js'
import type { Hash, Json, JsonObject } from '../../core/index.js'
import type { Called, EntryDraft, Sealed } from './entries.js'
import type { Driver, OpenAttempt, OpenOverlay, RunState } from './run-state.js'

/**
 * The code of a workflow function, as its journal has it (B12): an attempt at the root of its run,
 * whose calls for children are entries, and whose children's ends are their answers.
 */

/** Body of a call for a child. A call is plain JSON; its type only lacks the index signature. */
export function callBody(call: FunctionCall): JsonObject {
  return call as unknown as JsonObject
}

/** As the code's call has it, and as the entry of the call has it. */
export function callHash(call: FunctionCall): Hash {
  return requestHashOf(call.kind, callBody(call))
}

/** Takes a call of the code: its chart executes the child. */
export function takeCalled<Attempt extends OpenAttempt, Scope extends OpenOverlay>(
  state: RunState<Attempt, Scope>,
  { path, seq, call, at, ...place }: Called,
  driver: Driver<Attempt, Scope>
): void {
  state.attemptAt({ path, ...place })?.called?.set(seq, call)
  driver.deliver(path, { type: 'code.called', seq, call, at })
}

/**
 * Gives the code the end of a child. It goes to the recorded results, where a sealed response would
 * stand; the child's own entries are all that the journal has of it.
 */
export function takeAnswer<Attempt extends OpenAttempt, Scope extends OpenOverlay>(
  state: RunState<Attempt, Scope>,
  { seq, response, at }: AnswerCommand,
  driver: Driver<Attempt, Scope>
): void {
  const attempt = state.attempts.get(ROOT_PATH)
  const call = attempt?.called?.get(seq)
  if (attempt === undefined || call === undefined) return
  const { path, step, attempt: number } = attempt.ask
  const answer: Sealed = {
    k: 'sealed',
    run: state.runId,
    n: state.entries,
    at,
    path,
    step,
    attempt: number,
    seq,
    effect: call.kind,
    requestHash: callHash(call),
    responseHash: NOT_SEALED,
    salt: NOT_SEALED,
    ok: true,
    body: response as unknown as Json
  }
  attempt.past.recorded.add(answer)
  driver.answered(attempt, answer)
}

// The receipt of the child commits to its result, not a seal.
const NOT_SEALED = '' as Hash

export function calledDraft(
  { ask }: OpenAttempt,
  { seq, call }: Pick<Called, 'seq' | 'call'>,
  at: number
): EntryDraft & { readonly k: 'called' } {
  const { path, step, attempt } = ask
  return { k: 'called', at, path, step, attempt, seq, call }
}

export function returnedDraft(
  { ask }: OpenAttempt,
  response: Response,
  at: number
): EntryDraft & { readonly k: 'returned' } {
  const { path, step, attempt } = ask
  return { k: 'returned', at, path, step, attempt, response }
}
