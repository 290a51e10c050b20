import { canonicalize } from '../../core/index.js'
import { failedResponse, type Response } from '../chart/protocol.js'
import type { Decision } from './decide.js'
import type { AttemptKey } from './entries.js'
import { overlayEvidence } from './evidence.js'
import type { Overlay } from './overlay.js'
import { outboxOf } from './overlay-tasks.js'
import type { OverlayEndCommand, RunState } from './run-state.js'
import { bare, begun, overlayUnit, type UnitContext } from './unit.js'
import { seedOf, unitIdOf } from './unit-ids.js'

/** How the overlays of atomic composites end (C4): what is decided, to be appended and applied. */

/**
 * The commit of an overlay: the outermost is one unit of work with one receipt, an inner one is
 * merged into the one around it. Undefined: what it has read is not so any more (L10).
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
  return { draft, more: { evidence: overlayEvidence(state.runId, overlay, draft) } }
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
  return { draft, more: isTold ? { evidence: overlayEvidence(state.runId, overlay, draft) } : {} }
}
