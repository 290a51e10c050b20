import {
  assert,
  canonicalize,
  type Hash,
  isJsonObject,
  type Json,
  type UnitId
} from '../../core/index.js'
import { approvalOf, byWith, quorum } from '../../identity/index.js'
import { type DecisionCommand, failedResponse, type Response, reasons } from '../chart/protocol.js'
import { builtInEffects, type Call, type EffectRequest, effectKey } from '../code/calls.js'
import { type CompensatingCall, type Compensation, compensationOf } from '../code/compensation.js'
import { cancelDraft } from './drafts.js'
import type { EntryDraft, OverlayEntry, SealedFailure, WaitBegun } from './entries.js'
import { releaseEvidence } from './evidence.js'
import { timeoutResponse } from './failed-attempts.js'
import type { RecordedResult } from './folded-answers.js'
import type { EvidenceDraft, JournalItem, UnitDraft } from './journal.js'
import { isDeferredTask } from './overlay-tasks.js'
import type { OpenAttempt, RunState } from './run-state.js'
import { beginWait, type Confirmation, type WaitMessage, type WaitTerms } from './waits.js'

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

/** An entry that was decided, and what it completes. */
export interface Decision {
  readonly draft: EntryDraft
  readonly more: Completed
}

/** What an entry completes, and what of its text is known. */
export interface Completed {
  readonly unit?: UnitDraft
  readonly evidence?: EvidenceDraft
  /** Canonical text of the data of a step that succeeded. */
  readonly dataText?: string
  readonly known?: { get(value: object): string | undefined }
  /** State that an entry without a unit depends on (L10). */
  readonly rests?: JournalItem['rests']
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
  const { salt, hash } = given.seal(attempt.unitId, seq, canonicalize(body))
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
function waitedFor({ reason, requestHash, request }: WaitBegun, seq: number): AskedCall {
  const effect = reason === 'poll' ? builtInEffects.sleep : builtInEffects.wait
  return { seq, effect, requestHash, request }
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

/** The entry that opens a wait. */
function waitDraft(
  state: RunState,
  terms: WaitTerms,
  at: number
): EntryDraft & { readonly k: 'wait' } {
  const { place, seq, requestHash, actions } = terms
  const { path, step, attempt } = place
  const times = state.waits.nextAsking({ path, step, attempt, seq, requestHash })
  // What no message ends is asked of no person.
  const asking = times === 1 || actions.length === 0 ? undefined : times
  return beginWait(terms, { runId: state.runId, identity: state.identity, at, asking })
}

/** A call that waits: for a time, or for a message. */
export function callWait(
  state: RunState,
  { ask, block }: OpenAttempt,
  call: Extract<Call, { readonly kind: 'sleep' | 'wait' }>,
  at: number
): EntryDraft {
  const { seq, request, requestHash } = call
  const named = { place: ask, seq, request, requestHash, blockHash: block.codeHash }
  if (call.kind === 'sleep') {
    const end = at + Math.max(0, call.ms)
    return waitDraft(state, { ...named, reason: 'poll', actions: [], due: end }, at)
  }
  const { reason, timeoutMs, approvers } = call
  const actions = reason === 'external' ? (['resume', 'deny'] as const) : approvals
  const end = timeoutMs === undefined ? null : at + timeoutMs
  return waitDraft(state, { ...named, reason, actions, due: end, approvers }, at)
}

const approvals = ['approve', 'deny'] as const

/** The wait that a node itself asks for before an attempt: call number 0. */
export function confirmationWait(
  state: RunState,
  { ask, block }: OpenAttempt,
  { request, requestHash, approvers }: Confirmation,
  at: number
): EntryDraft {
  const terms: WaitTerms = {
    place: ask,
    seq: 0,
    reason: 'confirmation',
    request,
    requestHash,
    actions: approvals,
    due: ask.options.deadline ?? null,
    blockHash: block.codeHash,
    approvers
  }
  return waitDraft(state, terms, at)
}

/**
 * The wait for a person's decision about a failure; undefined when it is open already. Of a step
 * that was put off, evidence says that its composite's promise is not kept yet.
 */
export function decisionWait(
  state: RunState,
  ask: DecisionCommand,
  at: number
): Decision | undefined {
  const { path, wait } = ask
  if (state.waits.all().some((open) => open.seq === null && open.path === path)) return undefined
  const { definitionHash } = state.root
  const terms: WaitTerms = {
    place: ask,
    seq: null,
    reason: wait.reason,
    request: wait.request,
    requestHash: definitionHash,
    actions: wait.actions,
    due: wait.due ?? null,
    blockHash: definitionHash
  }
  const draft = waitDraft(state, terms, at)
  return { draft, more: isDeferredTask(path) ? { evidence: releaseEvidence(state, ask, at) } : {} }
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
