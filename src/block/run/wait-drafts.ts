import type { Call } from '../../code/index.js'
import type { DecisionCommand } from '../chart/protocol.js'
import type { Decision } from './decision.js'
import type { EntryDraft } from './entries.js'
import { releaseEvidence } from './evidence.js'
import { isDeferredTask } from './overlay-tasks.js'
import type { OpenAttempt, RunState } from './run-state.js'
import { beginWait, type Confirmation, type WaitTerms } from './waits.js'

/** Entries that open a wait, for each of those who may ask for one. */

/** The entry that opens a wait. */
export function waitDraft(
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
  call: Extract<Call, { readonly kind: 'sleep' | 'wait' | 'signal' }>,
  at: number
): EntryDraft {
  const { seq, request, requestHash } = call
  const { codeHash: blockHash } = block
  if (call.kind === 'sleep') {
    const due = at + Math.max(0, call.ms)
    // Written out: what polls opens many of these, and a spread takes longer than the rest.
    const terms: WaitTerms = {
      place: ask,
      seq,
      reason: 'poll',
      request,
      requestHash,
      actions: [],
      due,
      blockHash
    }
    return waitDraft(state, terms, at)
  }
  const named = { place: ask, seq, request, requestHash, blockHash }
  const end = call.timeoutMs === undefined ? null : at + call.timeoutMs
  if (call.kind === 'signal') {
    return waitDraft(state, { ...named, reason: 'external', actions: ['signal'], due: end }, at)
  }
  const { reason, approvers } = call
  const actions = reason === 'external' ? (['resume', 'deny'] as const) : approvals
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
