import { canonicalize } from '../../core/index.js'
import { failedResponse, type Response } from '../protocol.js'
import type { Decision } from './decide.js'
import type { Place } from './entries.js'
import { scopeEvidence } from './evidence.js'
import { outboxOf } from './overlay-tasks.js'
import type { RunState, ScopeEndAsk } from './run-state.js'
import type { Scope } from './scope.js'
import { bare, begun, scopeUnit, type UnitContext } from './unit.js'
import { seedOf, unitIdOf } from './unit-ids.js'

/** How the overlays of atomic composites end (C4): what is decided, to be appended and applied. */

/**
 * The commit of an overlay: the outermost is one unit of work with one receipt, an inner one is
 * merged into the one around it. Undefined: what it has read is not so any more (L10).
 */
export function commitOf(
  scope: Scope,
  { path, step, attempt, response: asked }: ScopeEndAsk,
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
  if (scope.outer !== undefined) {
    return scope.outer.hasChanged(scope.view) ? undefined : { draft: ended, more: {} }
  }
  if (scope.view.isOutdated) return undefined
  const outbox = outboxOf(scope.outside.deferred)
  const id = unitIdOf(state.runId, path, step)
  const { base } = begun(state.started)
  const unit = scopeUnit(scope, context, {
    id,
    seed: { base, value: seedOf(base, id) },
    payloadText: canonicalize(scope.ask.request.payload),
    resultText: canonicalize(scope.result(response.data), scope.texts)
  })
  const draft = outbox.length === 0 ? ended : { ...ended, outbox }
  return { draft, more: { known: scope.texts, unit } }
}

/** The overlay runs again, on the state as it is now; it has done nothing outside (L10). */
export function conflictOf({ path, step, attempt }: ScopeEndAsk, at: number): Decision {
  const response = failedResponse('conflict')
  return { draft: { k: 'scope', at, path, step, attempt, outcome: 'conflict', response }, more: {} }
}

/** The overlay is rolled back: at once, or once what it did outside is undone. */
export function abortOf(
  state: RunState,
  scope: Scope,
  ask: Place & { readonly response: Response },
  at: number
): Decision {
  const { path, step, attempt } = ask
  const response = bare(ask.response)
  if (scope.outside.undoable().length === 0) return aborted(state, scope, { ...ask, response }, at)
  return { draft: { k: 'scope', at, path, step, attempt, outcome: 'aborting', response }, more: {} }
}

/** The errands of an overlay are over: its composite goes on. */
export function errandsOver(
  state: RunState,
  scope: Scope,
  { decided, errands }: NonNullable<Scope['closing']>,
  at: number
): Decision {
  if (decided.outcome === 'aborting') return aborted(state, scope, decided, at)
  const { path, step, attempt, response } = decided
  const left = errands.notDone
  const ended = { k: 'scope', at, path, step, attempt, outcome: 'released', response } as const
  if (left.length === 0) return { draft: ended, more: {} }
  const draft = { ...ended, left }
  return { draft, more: { evidence: scopeEvidence(state.runId, scope, draft) } }
}

/** Drops the overlay: all that could be undone outside has been. */
function aborted(
  state: RunState,
  scope: Scope,
  { path, step, attempt, response }: Place & { readonly response: Response },
  at: number
): Decision {
  const left = scope.outside.left((key) => scope.closing?.errands.undone(key))
  const ended = { k: 'scope', at, path, step, attempt, outcome: 'aborted', response } as const
  const draft = left.length === 0 ? ended : { ...ended, left }
  const isTold = scope.outer === undefined || left.length > 0
  return { draft, more: isTold ? { evidence: scopeEvidence(state.runId, scope, draft) } : {} }
}
