import type { Block, Call, ChildRequest, FunctionCall } from '../../code/index.js'
import { blockError, canonicalize, type RunId, type TallyError } from '../../core/index.js'
import { callBody, callHash } from '../run/body.js'
import type { Past } from '../run/past.js'
import type { RecordedResults } from '../run/recorded-results.js'

/** Whether code of a workflow function that runs again asks for what it asked for before (B12). */

/** The attempt of such code. */
interface BodyAttempt {
  readonly runId: RunId
  readonly ask: { readonly path: string; readonly step: number }
  readonly block: Block
  readonly called: ReadonlyMap<number, FunctionCall>
  readonly recorded: Pick<RecordedResults, 'seqsFrom'>
  readonly waits: ReadonlyMap<number, { readonly requestHash: string; readonly reason: string }>
  readonly past: Pick<Past, 'isRequested'>
  callAt(seq: number): Call | undefined
}

/**
 * What of the journal a call of the code contradicts; undefined when it stands there, or may come
 * next. A call that was made is recorded before anything else is, so only the last may be missing.
 * Of an effect the journal has its request, or its answer alone where it changes nothing outside.
 */
export function contradictedBy(attempt: BodyAttempt, call: Call): TallyError | undefined {
  const { seq } = call
  const recorded = attempt.called.get(seq)
  if (recorded !== undefined) {
    const isSame = call.kind === 'child' && callHash(recorded) === call.requestHash
    return isSame ? undefined : divergedCall(attempt, seq, recorded, call)
  }
  const wait = attempt.waits.get(seq)
  if (wait !== undefined) {
    const isSame = wait.requestHash === call.requestHash
    return isSame ? undefined : diverged(attempt, call, `a wait (${wait.reason})`, toldCall(call))
  }
  if (call.kind === 'effect') {
    if (call.sideEffects === 'none' || attempt.past.isRequested(seq)) return undefined
  }
  const isBehind =
    [...attempt.called.keys(), ...attempt.waits.keys()].some((one) => one > seq) ||
    attempt.recorded.seqsFrom(0).some((one) => one > seq)
  return isBehind ? diverged(attempt, call, 'no call', toldCall(call)) : undefined
}

/**
 * Throws `run.diverged` for a recorded call that the code, which has made so many, has not made
 * again. Code that has ended waits for none of them: the end of an atomic part has no answer.
 */
export function checkCallsMade(
  attempt: BodyAttempt,
  called: ReadonlyMap<number, FunctionCall>,
  made = 0
): void {
  for (const [seq, recorded] of called) {
    if (seq > made) throw divergedCall(attempt, seq, recorded)
  }
}

/** The error for a recorded call in whose place the code makes another, or none. */
export function divergedCall(
  attempt: BodyAttempt,
  seq: number,
  recorded: FunctionCall,
  made: Call | undefined = attempt.callAt(seq)
): TallyError {
  const call = { seq, effect: recorded.kind }
  const isAlike = made?.kind === 'child' && told(made.call) === told(recorded)
  const more = isAlike ? ` with ${canonicalize(callBody(recorded))}` : ''
  const found = made === undefined ? 'no call' : toldCall(made)
  const other = isAlike && made.kind === 'child' ? ` with ${canonicalize(callBody(made.call))}` : ''
  return diverged(attempt, call, `${told(recorded)}${more}`, `${found}${other}`)
}

function diverged(
  { runId, ask }: BodyAttempt,
  { seq, effect }: { readonly seq: number; readonly effect: string },
  signed: string,
  computed: string
): TallyError {
  const { path, step } = ask
  return blockError('run.diverged', { runId, path, step, seq, effect, signed, computed })
}

function toldCall(call: Call): string {
  return call.kind === 'child' ? `${told(call.call)}${place(call)}` : call.effect
}

function place({ line }: ChildRequest): string {
  return line === undefined ? '' : ` at ${line}`
}

function told(call: FunctionCall): string {
  switch (call.kind) {
    case 'step':
      return `step ${call.name} (${call.block})`
    case 'scope':
      return `atomic part ${call.name}`
    case 'return':
      return `the end of the atomic part of call ${call.scope}`
  }
}
