import { builtInEffects, effectKey, isCompensatingCall, requestHashOf } from '../../code/index.js'
import {
  type Approvers,
  hashJson,
  type IdentityId,
  isJsonObject,
  type Json
} from '../../core/index.js'
import { approversOf } from '../../identity/index.js'
import type { DecisionCommand } from '../chart/protocol.js'
import {
  type JournalEntry,
  type OpenWait,
  placeKey,
  type Requested,
  type Rewound,
  type RunStarted,
  type RunStatus,
  type Sealed,
  type Settled,
  type TimerFired,
  type WaitBegun,
  type Waiting
} from '../run/entries.js'
import type { RootBlock } from '../run/root-block.js'
import { isForSignal } from '../run/signals.js'
import { bare } from '../run/unit.js'
import { beginWait, confirmationOf, openWaitOf } from '../run/waits.js'
import {
  answeredFinding,
  answerFinding,
  approvalFinding,
  decisionFinding,
  isKeptTwice,
  signalFinding
} from './answer-checks.js'
import { bodyFinding } from './body-work.js'
import { differing, type Finding, firstOf, unexpected } from './finding.js'
import { overlayFinding } from './overlay-ends.js'
import type { ReplayState } from './replay-state.js'

/** What an entry is checked against: the run so far, and who and what runs. */
export interface CheckContext {
  readonly state: ReplayState
  readonly root: RootBlock
  readonly identity: IdentityId
}

/** Whether the run so far can have led to this entry; nothing is changed. */
export function checkEntry(entry: JournalEntry, context: CheckContext): Finding | undefined {
  const { state } = context
  if (state.isFinished) return unexpected('journal.k', 'nothing after run.finished', entry.k)
  if (entry.n !== state.entries) return differing('journal.n', state.entries, entry.n)
  if (!(entry.at >= state.at)) {
    return unexpected('journal.at', `${state.at} or later`, String(entry.at))
  }
  if (state.cancelled?.withoutCode === true && entry.k !== 'run.finished') {
    return unexpected('journal.k', 'run.finished', entry.k)
  }
  if (state.isParked && entry.k !== 'run.resumed') {
    return unexpected('journal.k', 'run.resumed', entry.k)
  }
  switch (entry.k) {
    case 'requested':
      return requested(entry, state)
    case 'sealed':
      return sealed(entry, state)
    case 'wait':
      return wait(entry, context)
    case 'waiting':
      return waiting(entry, state)
    case 'answered':
      return answeredFinding(entry, state)
    case 'approval':
      return approvalFinding(entry, state)
    case 'signal':
      return signalFinding(entry, state)
    case 'settled':
      return settled(entry, state)
    case 'scope':
      return overlayFinding(entry, state)
    case 'timer':
      return timer(entry, state)
    case 'decision':
      return decisionFinding(entry, state)
    case 'run.resumed':
      return firstOf(differing('journal.status', 'running', entry.status), tags(entry, state))
    case 'run.waiting':
      return parked(entry, context)
    case 'run.finished':
      return finished(entry, state)
    case 'rewound':
      return rewound(entry, state)
    case 'called':
    case 'returned':
      return bodyFinding(entry, state)
    case 'run.started':
    case 'cancel':
      return undefined
    default: {
      const { k } = entry as { readonly k: string }
      return unexpected('journal.k', 'a known kind of entry', String(k))
    }
  }
}

/** Whether a run can have begun like this. */
export function startFinding(
  entry: RunStarted,
  { started }: ReplayState,
  root: RootBlock
): Finding | undefined {
  if (started !== undefined) return unexpected('journal.k', 'one run.started', 'another')
  return firstOf(
    differing('journal.n', 0, entry.n),
    differing('journal.status', 'running', entry.status),
    differing('journal.name', root.name, entry.name),
    differing('journal.inputHash', hashJson(entry.input), entry.inputHash),
    entry.unsafe === undefined || (entry.unsafe === 'next' && root.hasAlternatives())
      ? undefined
      : unexpected('journal.unsafe', 'next, of a document with alternatives', entry.unsafe),
    entry.classes === undefined
      ? undefined
      : differing('journal.classes', root.classes(), entry.classes)
  )
}

function waiting(entry: Waiting, state: ReplayState): Finding | undefined {
  const { path, token } = entry
  if (state.attempts.isWaiting(path)) return unexpected('journal.k', 'no second waiting', path)
  const open = state.waits.get(token)
  return open === undefined || open.path !== path
    ? unexpected('journal.token', 'the token of an open wait', token)
    : notAsked(entry, state)
}

function requested(entry: Requested, state: ReplayState): Finding | undefined {
  const { path, step, seq, requestHash } = entry
  const known = state.attemptAt(entry)?.past.requested.get(seq)
  return firstOf(
    notAsked(entry, state),
    known === undefined ? undefined : unexpected('journal.seq', 'no second request', `${seq}`),
    differing('journal.key', effectKey(state.runId, path, step, seq, requestHash), entry.key)
  )
}

function sealed(entry: Sealed, state: ReplayState): Finding | undefined {
  const said = state.signedResult
  return firstOf(
    answerTo(entry, state),
    compensationFinding(entry, state),
    said === undefined ? undefined : differing('journal.body', said.value, entry.body)
  )
}

/** A write inside an overlay says what undoes it, and nothing else does (C4). */
function compensationFinding(entry: Sealed, state: ReplayState): Finding | undefined {
  const attempt = state.attemptAt(entry)
  if (attempt === undefined) return undefined
  const isWrite = attempt.past.requested.has(entry.seq)
  const isHere = entry.ok && isWrite && state.overlayAround(entry.path) !== undefined
  const { undo } = entry
  if (
    (undo !== undefined) === isHere &&
    (undo === undefined || undo === null || isCompensatingCall(undo))
  ) {
    return undefined
  }
  return unexpected('journal.undo', isHere ? 'what undoes it' : 'nothing', String(undo))
}

function answerTo(entry: Sealed, state: ReplayState): Finding | undefined {
  // An answer may come after its attempt has timed out or was cancelled.
  if (!state.asked.has(placeKey(entry))) return notAsked(entry, state)
  const attempt = state.attemptAt(entry)
  if (attempt === undefined) return undefined
  // Only a listing is asked for again, when its keys have changed (L10).
  const known = entry.effect !== builtInEffects.list && attempt.past.recorded.has(entry.seq)
  if (known && !isKeptTwice(entry, attempt)) {
    return unexpected('journal.seq', 'no second answer', `${entry.seq} ${entry.effect}`)
  }
  const asked = attempt.past.requested.get(entry.seq)
  if (asked !== undefined && asked.requestHash !== entry.requestHash) {
    return differing('journal.requestHash', asked.requestHash, entry.requestHash)
  }
  const open = attempt.waits.get(entry.seq)
  if (open?.requestHash === entry.requestHash) {
    return open.reason === 'decision' ? undefined : answerFinding(open, entry, state)
  }
  // Otherwise the code, on another state, has asked for something else in the place of the wait;
  // that it does is found when its unit is executed.
  const { effect } = entry
  const isWaited = effect === builtInEffects.signal || effect === builtInEffects.sleep
  if (effect !== builtInEffects.wait && !isWaited) return undefined
  return attempt.past.earlier?.hasGiven(entry) === true
    ? undefined
    : unexpected('journal.wait', 'a wait that was begun', 'none')
}

function wait(entry: WaitBegun, context: CheckContext): Finding | undefined {
  const { state, root, identity } = context
  const decision = state.decisions.get(entry.path)
  const attempt = state.attemptAt(entry)
  if (entry.seq !== null && attempt === undefined) return notAsked(entry, state)
  if (entry.seq === null && decision === undefined) {
    return unexpected('journal.wait', 'a decision that was asked for', 'none')
  }
  const replaced = attempt?.waits.get(entry.seq ?? -1)
  const isOpen = state.waits.get(entry.token) !== undefined
  // Code that runs again on another state asks anew in the place of a call (L10); what a node or a
  // doubtful outcome asks for does not depend on state.
  if (isOpen || replaced?.seq === 0 || replaced?.reason === 'decision') {
    return unexpected('journal.wait', 'a wait of its own', entry.token)
  }
  const blockHash = entry.seq === null ? root.definitionHash : attempt?.block.codeHash
  const { seq, reason, request, requestHash, actions, due, approvers } = entry
  // The types are those of the pump that wrote it; what does not fit gives another digest.
  const asked = { seq, reason, request, requestHash, actions, due, approvers }
  const terms = { place: entry, ...asked, blockHash }
  const again = beginWait(terms as Parameters<typeof beginWait>[0], {
    runId: state.runId,
    identity,
    at: entry.at,
    asking: entry.asking
  })
  const expected = termsAgain(entry, decision, context)
  return firstOf(
    askingFinding(entry, state),
    entry.blockHash === undefined
      ? undefined
      : differing('journal.blockHash', blockHash, entry.blockHash),
    differing('journal.digest', again.digest, entry.digest),
    differing('journal.token', again.token, entry.token),
    differing('journal.reason', expected.reason, reason),
    differing('journal.requestHash', expected.requestHash, requestHash),
    differing('journal.actions', expected.actions, actions),
    differing('journal.approvers', expected.approvers ?? null, approvers ?? null),
    decision === undefined || seq !== null
      ? undefined
      : differing('journal.due', decision.wait.due ?? null, due),
    decision === undefined || seq !== null
      ? undefined
      : differing('journal.request', decision.wait.request, request)
  )
}

/** Ledgers of 0.1.0 have no number on what was asked again. */
function askingFinding(entry: WaitBegun, { waits }: ReplayState): Finding | undefined {
  const { asking } = entry
  if (asking === undefined) return undefined
  const times = waits.nextAsking(entry)
  return asking > 1 && asking === times && entry.actions.length > 0
    ? undefined
    : unexpected('journal.asking', times > 1 ? `${times}` : 'no number', `${asking}`)
}

interface Terms {
  readonly reason: Json | undefined
  readonly actions: readonly string[]
  readonly requestHash: string | undefined
  readonly approvers?: Approvers | undefined
}

const approvals = ['approve', 'deny']

/** What a wait must say, by what asked for it. */
function termsAgain(
  entry: WaitBegun,
  decision: DecisionCommand | undefined,
  { state, root }: CheckContext
): Terms {
  const { request, reason, seq } = entry
  if (seq === null) {
    const { definitionHash: requestHash } = root
    return { reason: decision?.wait.reason, actions: decision?.wait.actions ?? [], requestHash }
  }
  if (seq === 0) {
    const attempt = state.attemptAt(entry)
    const asked = attempt && confirmationOf(attempt.ask, attempt.block)
    const { requestHash, approvers } = asked ?? {}
    return { reason: 'confirmation', actions: approvals, requestHash, approvers }
  }
  if (reason === 'poll') {
    return { reason, actions: [], requestHash: requestHashOf(builtInEffects.sleep, request) }
  }
  if (isForSignal(entry)) {
    const requestHash = requestHashOf(builtInEffects.signal, request)
    return { reason, actions: ['signal'], requestHash }
  }
  const shown = isJsonObject(request) ? request : {}
  const named = entry.approvers === undefined ? undefined : approversOf(entry.approvers)
  const approvers = named !== undefined && 'approvers' in named ? named.approvers : undefined
  if (reason === 'decision') {
    const effect = String(shown['unknown_outcome'])
    const requestHash = requestHashOf(effect, shown['request'] ?? null)
    return { reason, actions: ['retry', 'resume', 'abort'], requestHash }
  }
  return {
    reason: shown['reason'],
    actions: reason === 'external' ? ['resume', 'deny'] : approvals,
    requestHash: requestHashOf(builtInEffects.wait, request, approvers),
    approvers
  }
}

function settled(entry: Settled, state: ReplayState): Finding | undefined {
  const attempt = state.attemptAt(entry)
  if (attempt === undefined) return notAsked(entry, state)
  const isInOverlay = state.overlayAround(entry.path) !== undefined
  const hasOverlay = entry.overlay !== undefined
  return firstOf(
    differing('journal.sent', attempt.past.hasSent(), entry.sent),
    differing('journal.response', bare(entry.response), entry.response),
    hasOverlay === (isInOverlay && entry.response.success)
      ? undefined
      : unexpected('journal.overlay', isInOverlay ? 'an overlay' : 'no overlay', String(hasOverlay))
  )
}

function timer(entry: TimerFired, state: ReplayState): Finding | undefined {
  const { path, step, at } = entry
  const ask = state.timers.get(path) ?? state.decisions.get(path)
  const due = ask?.kind === 'timer' ? ask.due : ask?.wait.due
  if (ask?.step === step && due !== undefined && at >= due) return undefined
  return unexpected('journal.timer', 'a timer that is due', `${path} ${step} at ${at}`)
}

/** A run parks with the waits that are open then. */
function parked(
  entry: Pick<RunStatus, 'waits' | 'status' | 'tags'>,
  { state, identity }: Omit<CheckContext, 'root'>
): Finding | undefined {
  const { waits, status } = entry
  const waiting = state.waits.all().filter(({ actions }) => actions.length > 0)
  const open = waiting.map((wait) =>
    openWaitOf(wait, identity, state.waits.approvalsOf(wait.token))
  )
  const byToken = (one: OpenWait, other: OpenWait) => (one.token < other.token ? -1 : 1)
  return firstOf(
    differing('journal.status', 'waiting', status),
    differing('journal.waits', open.sort(byToken), [...waits].sort(byToken)),
    tags(entry, state)
  )
}

/** Tags are those that its code has set; a journal of 0.1.0 may have an effect of that name. */
function tags(entry: Pick<RunStatus, 'tags'>, state: ReplayState): Finding | undefined {
  if (entry.tags === undefined) return undefined
  return differing('journal.tags', state.tags ?? null, entry.tags)
}

function finished(
  entry: JournalEntry & { readonly k: 'run.finished' },
  state: ReplayState
): Finding | undefined {
  if (state.settled === undefined) {
    return unexpected('journal.k', 'a run whose blocks have ended', 'run.finished')
  }
  const response = bare(state.settled)
  const status = response.success ? 'done' : state.cancelled !== undefined ? 'cancelled' : 'failed'
  return firstOf(
    differing('journal.response', response, entry.response),
    differing('journal.status', status, entry.status),
    differing('journal.journalHash', state.journalHash, entry.journalHash),
    tags(entry, state)
  )
}

/** Ledgers of 0.1.0 do not say that writes are among what was dropped. */
function rewound(entry: Rewound, state: ReplayState): Finding | undefined {
  const { dropped, outside } = entry
  if (outside === undefined) return undefined
  const past = state.attemptAt(entry)?.past
  return past !== undefined && outside && dropped.some((seq) => past.hasSentAs(seq))
    ? undefined
    : unexpected('journal.outside', 'true, where writes are dropped', String(outside))
}

/** Names what was asked for, against a place that was not. */
function notAsked(
  {
    path,
    step,
    attempt
  }: { readonly path: string; readonly step: number; readonly attempt: number },
  state: ReplayState
): Finding | undefined {
  if (state.attemptAt({ path, step, attempt }) !== undefined) return undefined
  const open = [...state.attempts.values()].map(({ ask }) => placeKey(ask))
  return unexpected(
    'journal.place',
    open.length === 0 ? 'no attempt' : open.join(', '),
    placeKey({ path, step, attempt })
  )
}
