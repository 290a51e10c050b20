import {
  builtInEffects,
  failedResponse,
  failureResponse,
  type Outcome,
  type Response,
  reasons
} from '../../code/index.js'
import { canonicalize, canonicalizeOwn, type Hash, type Json, limits } from '../../core/index.js'
import type { Completed, Decision } from './decision.js'
import { finishedDraft } from './drafts.js'
import type { AttemptKey, Requested, RunFinished } from './entries.js'
import { overlayEvidence, runEvidence } from './evidence.js'
import { contradicted } from './failed-attempts.js'
import type { Overlay } from './overlay.js'
import { outboxOf } from './overlay-tasks.js'
import type { Past } from './past.js'
import type { LeafWork, OpenAttempt, OverlayEndCommand, RunState } from './run-state.js'
import {
  bare,
  begun,
  completedUnit,
  overlayUnit,
  seedOf,
  type UnitContext,
  unitIdOf
} from './unit.js'

/** How attempts, overlays and runs end: what is decided, to be appended and applied. */

/** An attempt whose code has run. */
export type RunAttempt = OpenAttempt & LeafWork

/** The outcome of an attempt's code. */
export interface AttemptEnd {
  readonly response: Response
  /** Canonical text of its data; undefined when it failed. */
  readonly dataText: string | undefined
  /** State that a failure depends on: it stands only while that is so, as a result does (L10). */
  readonly rests: Completed['rests']
}

/** How an attempt ends; undefined: what it has read is not so any more, and it runs again (L10). */
export function attemptEnd(
  state: RunState<OpenAttempt, Overlay>,
  attempt: RunAttempt,
  outcome: Outcome
): AttemptEnd | undefined {
  const overlay = state.overlayAround(attempt.ask.path)
  if (!outcome.ok) {
    const response = failureResponse(outcome)
    if (endedFromOutside(response, attempt.past)) return failed(response)
    // Beside it something has changed what it had read (L10, D3).
    if (isOutdated(attempt, overlay)) return undefined
    return failed(response, overlay === undefined ? attempt.view : undefined)
  }
  if (state.steps >= limits.RUN_STEPS_MAX) {
    const details = { max_steps: limits.RUN_STEPS_MAX, node: attempt.ask.path }
    return failed(failedResponse(reasons.maxStepsExceeded, details))
  }
  const contradiction = unfulfilled(attempt.past)
  if (contradiction !== undefined) return failed(failureResponse(contradicted(contradiction)))
  if (isOutdated(attempt, overlay)) return undefined
  const data = JSON.parse(outcome.text) as Json
  const response: Response = { success: true, data, metadata: {} }
  return { response, dataText: outcome.text, rests: undefined }
}

function failed(response: Response, rests?: Completed['rests']): AttemptEnd {
  return { response, dataText: undefined, rests }
}

/** Whether what it has read is not so any more, as far as its overlay can tell. */
function isOutdated({ view }: RunAttempt, overlay: Overlay | undefined): boolean {
  return overlay === undefined ? view.isOutdated : overlay.hasChanged(view)
}

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
function endedFromOutside(
  { reason = '', details }: Response,
  past: Pick<Past, 'answers' | 'recorded'>
): boolean {
  if (reason === 'denied') return past.answers > 0 && past.recorded.hasEffect(builtInEffects.wait)
  return fromOutside.has(reason) || details?.['timed_out'] === true
}

/** Something that the attempt has sent and that its result does not rest on (L10). */
function unfulfilled(past: Past): Requested | undefined {
  for (const request of past.sent()) {
    const sealed = past.recorded.find(request.seq)
    const contradiction = past.contradiction(request.seq, sealed?.requestHash)
    if (contradiction !== undefined) return contradiction
  }
  return undefined
}

/**
 * The commit of an overlay (C4): the outermost is one unit of work with one receipt, an inner one
 * is merged into the one around it. Undefined: what it has read is not so any more (L10).
 */
export function commitOf(
  overlay: Overlay,
  { path, step, attempt, response: asked }: OverlayEndCommand,
  {
    state,
    at,
    context
  }: {
    readonly state: RunState
    readonly at: number
    readonly context: UnitContext
  }
): Decision | undefined {
  const response = bare(asked)
  const ended = { k: 'scope', at, path, step, attempt, outcome: 'committed', response } as const
  if (overlay.outer !== undefined) {
    return overlay.outer.hasChanged(overlay.view) ? undefined : { draft: ended, more: {} }
  }
  if (overlay.view.isOutdated) return undefined
  const outbox = outboxOf(overlay.outside.deferred)
  const id = unitIdOf(state.runId, path, step)
  const { base } = begun(state.started)
  const unit = overlayUnit(overlay, context, {
    id,
    seed: { base, value: seedOf(base, id) },
    payloadText: canonicalize(overlay.ask.request.payload),
    resultText: canonicalize(overlay.result(response.data), overlay.texts)
  })
  const draft = outbox.length === 0 ? ended : { ...ended, outbox }
  return { draft, more: { known: overlay.texts, unit } }
}

/** The overlay runs again, on the state as it is now; it has done nothing outside (L10). */
export function conflictOf({ path, step, attempt }: OverlayEndCommand, at: number): Decision {
  const response = failedResponse('conflict')
  return { draft: { k: 'scope', at, path, step, attempt, outcome: 'conflict', response }, more: {} }
}

/** The overlay is rolled back: at once, or once what it did outside is undone. */
export function abortOf(
  state: RunState,
  overlay: Overlay,
  ask: AttemptKey & { readonly response: Response },
  at: number
): Decision {
  const { path, step, attempt } = ask
  const response = bare(ask.response)
  if (overlay.outside.undoable().length === 0)
    return aborted(state, overlay, { ...ask, response }, at)
  return { draft: { k: 'scope', at, path, step, attempt, outcome: 'aborting', response }, more: {} }
}

/** The tasks of an overlay are over: its composite continues. */
export function tasksOver(
  state: RunState,
  overlay: Overlay,
  { decided, tasks }: NonNullable<Overlay['closing']>,
  at: number
): Decision {
  if (decided.outcome === 'aborting') return aborted(state, overlay, decided, at)
  const { path, step, attempt, response } = decided
  const left = tasks.notDone
  const ended = { k: 'scope', at, path, step, attempt, outcome: 'released', response } as const
  if (left.length === 0) return { draft: ended, more: {} }
  const draft = { ...ended, left }
  return { draft, more: { evidence: overlayEvidence(state, overlay, draft) } }
}

/** Drops the overlay: all that could be undone outside has been. */
function aborted(
  state: RunState,
  overlay: Overlay,
  { path, step, attempt, response }: AttemptKey & { readonly response: Response },
  at: number
): Decision {
  const left = overlay.outside.left((key) => overlay.closing?.tasks.undone(key))
  const ended = { k: 'scope', at, path, step, attempt, outcome: 'aborted', response } as const
  const draft = left.length === 0 ? ended : { ...ended, left }
  const isTold = overlay.outer === undefined || left.length > 0
  return { draft, more: isTold ? { evidence: overlayEvidence(state, overlay, draft) } : {} }
}

/**
 * The end of a run: a `run.completed` receipt that commits to the whole of it, or failure evidence
 * with what landed outside all the same (formats.md §3).
 */
export function runEnd(
  state: RunState,
  {
    settled,
    at,
    context
  }: {
    readonly settled: Response
    readonly at: number
    readonly context: UnitContext
  }
): { readonly draft: Omit<RunFinished, 'run' | 'n'>; readonly more: Completed } {
  const response = bare(settled)
  const isCancelled = state.cancelled !== undefined
  const status = response.success ? 'done' : isCancelled ? 'cancelled' : 'failed'
  const journalHash = state.journalHash as Hash
  const draft = finishedDraft(state, { at, status, response, journalHash })
  if (!response.success) {
    const evidence = runEvidence(begun(state.started), draft, state, state.root.isPrivate())
    return { draft, more: { evidence } }
  }
  // A plan's result holds those of all its nodes: entry and receipt have one text of it.
  const dataText = canonicalizeOwn(response.data)
  const known = { get: (value: object) => (value === response.data ? dataText : undefined) }
  return { draft, more: { unit: completedUnit(state, dataText, context), known } }
}
