import {
  builtInEffects,
  type CompensatingCall,
  type Compensation,
  compensationOf,
  type EffectRequest,
  effectKey,
  failedResponse,
  type Response,
  reasons
} from '../../code/index.js'
import {
  assert,
  canonicalizeOwn,
  type Hash,
  isJsonObject,
  type Json,
  type UnitId
} from '../../core/index.js'
import { approvalOf, byWith, quorum } from '../../identity/index.js'
import { cancelDraft } from './drafts.js'
import type { EntryDraft, OverlayEntry, SealedFailure, SignalGiven, WaitBegun } from './entries.js'
import { timeoutResponse } from './failed-attempts.js'
import type { RecordedResult } from './folded-answers.js'
import type { OpenAttempt, RunState } from './run-state.js'
import { isForSignal, type SentSignal, signalBody } from './signals.js'
import { waitDraft } from './wait-drafts.js'
import type { WaitMessage, WaitTerms } from './waits.js'

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
  /** Of an effect that was performed for it. */
  readonly sideEffects?: EffectRequest['sideEffects']
  readonly durable?: boolean
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
  /** A signal that may be taken. */
  | { readonly kind: 'signal'; readonly signal: SentSignal }
  /** A wait gets the signal that it is for. */
  | { readonly kind: 'delivery'; readonly wait: WaitBegun; readonly given: SignalGiven }

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

/** What a decision needs beside the state and the fact. */
export interface Given {
  /** Logical time of what is decided. */
  readonly at: number
  /** Seals the result of a call: the same for the same unit, number and body. */
  seal(unitId: UnitId, seq: number, bodyText: string): { readonly salt: Hash; readonly hash: Hash }
  /** How the provider of an effect undoes what it did. */
  compensation(effect: string): Compensation | undefined
}

/** The entries of a fact, to be appended and applied in order (D10). */
export function decide(state: RunState, fact: RunFact, given: Given): readonly EntryDraft[] {
  const { at } = given
  switch (fact.kind) {
    case 'performed':
      return performed(state, fact, given)
    case 'deadline': {
      const { attempt } = fact
      if (state.attempts.get(attempt.ask.path) !== attempt) return nothing
      return [settledDraft(attempt, timeoutResponse(attempt), at)]
    }
    case 'timer': {
      const { path, step } = fact
      return state.timers.get(path)?.step === step ? [{ k: 'timer', at, path, step }] : nothing
    }
    case 'due':
      return due(state, fact.token, given)
    case 'cancel':
      return [cancelDraft({ at, reason: fact.reason, by: fact.by })]
    case 'message':
      return answered(state, fact.message, given)
    case 'signal': {
      const { name, id, value, by } = fact.signal
      return [{ k: 'signal', at, name, id, value, by }]
    }
    case 'delivery': {
      const { wait, given: signal } = fact
      const attempt = state.attemptAt(wait)
      assert(attempt !== undefined && wait.seq !== null, 'a signal is for a call')
      const answer = { ok: true, body: signalBody(signal) }
      return [sealed(state, attempt, waitedFor(wait, wait.seq), answer, given)]
    }
  }
}

const nothing: readonly EntryDraft[] = []

function performed(
  state: RunState,
  { attempt, call, performed: result }: Extract<RunFact, { readonly kind: 'performed' }>,
  given: Given
): readonly EntryDraft[] {
  switch (result.kind) {
    case 'done':
      return [sealed(state, attempt, call, { ok: true, body: JSON.parse(result.text) }, given)]
    case 'failed':
      return [sealed(state, attempt, call, { ok: false, body: { ...result.failure } }, given)]
    case 'unknown': {
      if (state.attempts.get(attempt.ask.path) !== attempt) return nothing
      // Nothing can tell whether it happened, so a person has to (L7).
      const { seq, effect, request, requestHash } = call
      const terms: WaitTerms = {
        place: attempt.ask,
        seq,
        reason: 'decision',
        request: { unknown_outcome: effect, request, failure: { ...result.failure } },
        requestHash,
        actions: ['retry', 'resume', 'abort'],
        due: null,
        blockHash: attempt.block.codeHash
      }
      return [waitDraft(state, terms, given.at)]
    }
  }
}

interface Answer {
  readonly ok: boolean
  readonly body: Json
}

/** The result of a call, sealed. */
function sealed(
  state: RunState,
  attempt: OpenAttempt,
  call: AskedCall,
  { ok, body }: Answer,
  given: Given
): EntryDraft {
  const { seq, effect, requestHash } = call
  const { salt, hash } = given.seal(attempt.unitId, seq, canonicalizeOwn(body))
  return {
    k: 'sealed',
    at: given.at,
    seq,
    effect,
    requestHash,
    responseHash: hash,
    salt,
    path: attempt.ask.path,
    step: attempt.ask.step,
    attempt: attempt.ask.attempt,
    ok,
    body,
    ...(ok ? plannedCompensation(state, attempt, call, body, given) : undefined)
  }
}

/** What undoes a write inside an overlay (C4); of any other call nothing is said. */
function plannedCompensation(
  state: RunState,
  { ask, past, block }: OpenAttempt,
  { seq, effect, request }: AskedCall,
  response: Json,
  given: Given
): { readonly undo?: CompensatingCall | null } {
  if (!past.isRequested(seq) || state.overlayAround(ask.path) === undefined) return {}
  const compensation = block.compensate ?? given.compensation(effect)
  if (compensation === undefined) return { undo: null }
  return { undo: compensationOf(compensation, { effect, request, response }) }
}

function due(state: RunState, token: string, given: Given): readonly EntryDraft[] {
  const wait = state.waits.get(token)
  if (wait === undefined) return nothing
  const { at } = given
  if (wait.seq === null) return [{ k: 'timer', at, path: wait.path, step: wait.step }]
  const attempt = state.attemptAt(wait)
  if (attempt === undefined) return nothing
  if (wait.seq === 0) return [settledDraft(attempt, timeoutResponse(attempt), at)]
  const body = wait.reason === 'poll' ? null : { action: 'timeout', value: null, by: null }
  return [sealed(state, attempt, waitedFor(wait, wait.seq), { ok: true, body }, given)]
}

/** The call that waits. */
function waitedFor(wait: WaitBegun, seq: number): AskedCall {
  const { reason, requestHash, request } = wait
  const answer = isForSignal(wait) ? builtInEffects.signal : builtInEffects.wait
  return { seq, effect: reason === 'poll' ? builtInEffects.sleep : answer, requestHash, request }
}

function answered(state: RunState, message: WaitMessage, given: Given): readonly EntryDraft[] {
  const { token, action, value = null } = message
  const wait = state.waits.get(token)
  if (wait === undefined) return nothing
  const { at } = given
  const { path, step, seq } = wait
  const approval = approvalOf(wait, message)
  const signed = approval && quorum(wait, state.waits.approvalsOf(token), approval)
  if (approval !== undefined && signed === undefined) {
    const place = { path, step, attempt: wait.attempt, seq }
    return [{ k: 'approval', at, ...place, token, approval, by: message.by }]
  }
  const by = signed === undefined ? message.by : byWith(message.by, signed)
  if (seq === null) return [{ k: 'decision', at, path, step, token, action, patch: value, by }]
  const attempt = state.attemptAt(wait)
  assert(attempt !== undefined, 'a wait of a call belongs to an attempt')
  if (wait.reason === 'decision')
    return doubtEnded(state, attempt, wait, { action, value, by }, given)
  if (seq === 0 && action === 'deny') {
    return [settledDraft(attempt, failedResponse(reasons.denied, { by, at }), at)]
  }
  const body = { action, value, by, at, digest: wait.digest }
  return [sealed(state, attempt, waitedFor(wait, seq), { ok: true, body }, given)]
}

/** A person says what became of an effect whose outcome is unknown; `retry`: it is sent again. */
function doubtEnded(
  state: RunState,
  attempt: OpenAttempt,
  wait: WaitBegun,
  said: { readonly action: string; readonly value: Json; readonly by: Json },
  given: Given
): readonly EntryDraft[] {
  const { path, step, token, requestHash } = wait
  const { action, by, value } = said
  const seq = wait.seq ?? 0
  const shown = isJsonObject(wait.request) ? wait.request : {}
  const { unknown_outcome: effect, request = null } = shown
  const call = { seq, effect: String(effect), request, requestHash }
  const { at } = given
  const place = { path, step, attempt: wait.attempt }
  const entry: EntryDraft = { k: 'answered', at, ...place, seq, token, action, by }
  if (action === 'retry') return [entry]
  const answer: Answer =
    action === 'resume'
      ? { ok: true, body: value }
      : {
          ok: false,
          body: { reason: 'unknown_outcome', definite: false, details: { decided_by: by } }
        }
  return [entry, sealed(state, attempt, call, answer, given)]
}

/** The code does not ask for some results any more; the writes among them happened all the same. */
export function rewoundDraft(
  { ask, past }: OpenAttempt,
  dropped: readonly number[],
  at: number
): EntryDraft & { readonly k: 'rewound' } {
  const { path, step, attempt } = ask
  const entry = { k: 'rewound', at, path, step, attempt, dropped } as const
  return dropped.some((seq) => past.hasSentAs(seq)) ? { ...entry, outside: true } : entry
}

/** The end of an attempt. `overlay`: what it did to the overlay around it. */
export function settledDraft(
  attempt: OpenAttempt,
  response: Response,
  at: number,
  overlay?: OverlayEntry
): EntryDraft & { readonly k: 'settled' } {
  const { ask, past, attribution } = attempt
  return {
    k: 'settled',
    at,
    response,
    sent: past.hasSent(),
    path: ask.path,
    step: ask.step,
    attempt: ask.attempt,
    // Spread last: spread first, V8 gives each object a hidden class of its own.
    ...(attribution === undefined ? undefined : { provider: attribution.provider }),
    ...(overlay === undefined ? undefined : { overlay })
  }
}

/** The request of a write, which is on disk before the write is sent (L7). */
export function requestedDraft(
  state: RunState,
  { ask }: OpenAttempt,
  { seq, effect, sideEffects, requestHash }: EffectRequest,
  at: number
): EntryDraft {
  const { path, step, attempt } = ask
  const key = effectKey(state.runId, path, step, seq, requestHash)
  const named = { seq, effect, sideEffects, requestHash, key }
  return { k: 'requested', at, ...named, path, step, attempt }
}
