import { builtInEffects, signalNamed } from '../../code/index.js'
import { isJsonObject, type Json } from '../../core/index.js'
import { answerProblem, approvalProblem, approvalsIn } from '../../identity/index.js'
import type {
  Answered,
  ApprovalGiven,
  DecisionMade,
  JournalEntry,
  Sealed,
  SignalGiven,
  WaitBegun
} from '../run/entries.js'
import type { OpenAttempt, RunState } from '../run/run-state.js'
import { isForSignal, signalBody } from '../run/signals.js'
import { differing, type Finding, firstOf, unexpected } from './finding.js'

type OpenWaits = Pick<RunState, 'waits' | 'signals'>

/** What approvers have signed fits the wait, and is what the wait needs (K13). */
export function signedFinding(
  { waits }: OpenWaits,
  open: WaitBegun,
  answer: { readonly action: string; readonly value?: Json; readonly by: Json }
): Finding | undefined {
  const problem = answerProblem(open, waits.approvalsOf(open.token), answer)
  if (problem === undefined) return undefined
  return unexpected('journal.by.approvals', 'valid approvals, as many as it needs', problem)
}

/** A decision about an unknown outcome answers one that is open. */
export function answeredFinding(entry: Answered, state: OpenWaits): Finding | undefined {
  const { token, action, by } = entry
  const open = state.waits.get(token)
  if (open?.reason !== 'decision') {
    return unexpected('journal.token', 'the token of an open decision', token)
  }
  return signedFinding(state, open, { action, by })
}

/** What approvers have signed as the result of a decision about an unknown outcome. */
export function signedResultOf(entry: JournalEntry): { readonly value: Json } | undefined {
  if (entry.k !== 'answered' || entry.action !== 'resume') return undefined
  const [approval] = approvalsIn(entry.by) ?? []
  return approval === undefined ? undefined : { value: approval.value }
}

/** One of several approvers has signed: it counts, and others have to sign as well. */
export function approvalFinding(entry: ApprovalGiven, state: OpenWaits): Finding | undefined {
  const { token, approval: given, path, step, attempt, seq } = entry
  const open = state.waits.get(token)
  if (open?.approvers === undefined) {
    return unexpected('journal.token', 'the token of an open wait with approvers', token)
  }
  const problem = approvalProblem(open, state.waits.approvalsOf(token), given)
  if (problem !== undefined) {
    return unexpected('journal.approval', 'an approval that counts, below the threshold', problem)
  }
  return firstOf(
    differing(
      'journal.place',
      [open.path, open.step, open.attempt, open.seq],
      [path, step, attempt, seq]
    ),
    open.actions.includes(given.action)
      ? undefined
      : unexpected('journal.approval.action', open.actions.join(' or '), given.action)
  )
}

/**
 * An answer to a wait names what was shown, and comes by a message or when the wait is due (W7).
 */
export function answerFinding(
  open: WaitBegun,
  entry: Sealed,
  state: OpenWaits
): Finding | undefined {
  const isDue = open.due !== null && entry.at >= open.due
  if (open.reason === 'poll') {
    return firstOf(
      differing('journal.effect', builtInEffects.sleep, entry.effect),
      differing('journal.body', null, entry.body),
      isDue ? undefined : unexpected('journal.at', `${open.due} or later`, String(entry.at))
    )
  }
  const body = isJsonObject(entry.body) ? entry.body : {}
  const action = String(body['action'])
  const asked = isForSignal(open) ? builtInEffects.signal : builtInEffects.wait
  const effect = differing('journal.effect', asked, entry.effect)
  if (action === 'timeout') {
    return effect ?? (isDue ? undefined : unexpected('journal.body', 'an answer', 'a timeout'))
  }
  if (isForSignal(open)) return effect ?? takenFinding(open, entry, state)
  return firstOf(
    effect,
    differing('journal.body.digest', open.digest, body['digest']),
    open.actions.includes(action)
      ? undefined
      : unexpected('journal.body.action', open.actions.join(' or '), action),
    signedFinding(state, open, { action, value: body['value'] ?? null, by: body['by'] ?? null })
  )
}

/** 0.1.0 could record twice, alike, the confirmation that an attempt keeps from the one before. */
export function isKeptTwice(entry: Sealed, { past: { earlier, recorded } }: OpenAttempt): boolean {
  const isSame = recorded.find(entry.seq)?.responseHash === entry.responseHash
  return entry.seq === 0 && isSame && earlier?.hasGiven(entry) === true
}

/** What a call for a signal was given is the next one of its name that nothing has taken. */
function takenFinding(
  open: WaitBegun,
  { body }: Sealed,
  { signals }: OpenWaits
): Finding | undefined {
  const given = signals.next(signalNamed(open.request) ?? '')
  if (given === undefined) return unexpected('journal.body', 'a signal that was sent', 'none')
  return differing('journal.body', signalBody(given), body)
}

/** A signal has an id of its own in its run (W10). */
export function signalFinding({ id }: SignalGiven, { signals }: OpenWaits): Finding | undefined {
  if (signals.known(id) === undefined) return undefined
  return unexpected('journal.id', 'an id that no signal of the run has', id)
}

/** A decision about a failure answers one that is open. */
export function decisionFinding(entry: DecisionMade, state: OpenWaits): Finding | undefined {
  const open = state.waits.get(entry.token)
  if (open === undefined || open.seq !== null || open.path !== entry.path) {
    return unexpected('journal.token', 'the token of an open decision', entry.token)
  }
  return firstOf(
    differing('journal.step', open.step, entry.step),
    open.actions.includes(entry.action)
      ? undefined
      : unexpected('journal.action', open.actions.join(' or '), entry.action),
    signedFinding(state, open, { action: entry.action, value: entry.patch, by: entry.by })
  )
}
