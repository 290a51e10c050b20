import type { OverlayEnded } from '../run/entries.js'
import { outboxOf } from '../run/overlay-tasks.js'
import { bare } from '../run/unit.js'
import { differing, type Finding, firstOf, unexpected } from './finding.js'
import type { OpenedOverlay } from './redo.js'
import type { ReplayState } from './replay-state.js'

/** Whether overlays may end as the journal says (C4). */

/** Whether an overlay can have ended like this now. */
export function overlayFinding(entry: OverlayEnded, state: ReplayState): Finding | undefined {
  const end = state.overlayEnds.get(entry.path)
  const { path, step, attempt, outcome, response } = entry
  const overlay = state.openOverlays.get(path)
  if (end === undefined || overlay === undefined) {
    return unexpected('journal.scope', 'an end that was asked for', path)
  }
  const kind = outcome === 'aborted' || outcome === 'aborting' ? 'scope.abort' : 'scope.commit'
  const givesUp = kind === 'scope.abort' && response.reason === 'intent_conflict'
  const sameAsAsked = outcome === 'conflict' || (givesUp && end.kind === 'scope.commit')
  return firstOf(
    sameAsAsked ? undefined : differing('journal.scope', end.kind, kind),
    differing('journal.step', end.step, step),
    differing('journal.attempt', end.attempt, attempt),
    sameAsAsked ? undefined : differing('journal.response', bare(end.response), response),
    orderFinding(entry, overlay),
    contentFinding(entry, overlay)
  )
}

/** What was decided comes first, then the tasks, then the end. */
function orderFinding({ outcome }: OverlayEnded, { closing, outside }: OpenedOverlay) {
  const { decided, tasks } = closing ?? {}
  switch (outcome) {
    case 'committed':
      return decided === undefined ? undefined : unexpected('journal.scope', 'its end', outcome)
    case 'conflict': {
      const mayRunAgain = decided === undefined && !outside.hasActed
      return mayRunAgain ? undefined : unexpected('journal.scope', 'an end', outcome)
    }
    case 'aborting': {
      const mayCompensate = decided === undefined && outside.undoable().length > 0
      return mayCompensate ? undefined : unexpected('journal.scope', 'aborted', outcome)
    }
    case 'aborted':
    case 'released': {
      const before = outcome === 'aborted' ? 'aborting' : 'committed'
      const isDirect = outcome === 'aborted' && outside.undoable().length === 0
      if (isDirect && decided === undefined) return undefined
      return decided?.outcome === before && tasks?.isOver === true
        ? undefined
        : unexpected('journal.scope', `${before}, and its tasks to be over`, outcome)
    }
  }
}

function contentFinding(entry: OverlayEnded, { closing, outside, outer }: OpenedOverlay) {
  const { outcome, response, left, outbox } = entry
  const again =
    outcome === 'aborted'
      ? outside.left((key) => closing?.tasks.undone(key))
      : outcome === 'released'
        ? (closing?.tasks.notDone ?? [])
        : []
  const isOutbox = outcome === 'committed' && outer === undefined
  return firstOf(
    differing('journal.left', again, left ?? []),
    differing('journal.outbox', isOutbox ? outboxOf(outside.deferred) : [], outbox ?? []),
    closing === undefined || outcome === 'conflict'
      ? undefined
      : differing('journal.response', closing.decided.response, response)
  )
}

/** What has to stand beside the entry. */
export function overlayCompletes(
  { path, outcome, left }: OverlayEnded,
  state: ReplayState
): 'unit' | 'evidence' | undefined {
  const isOutermost = state.openOverlays.get(path)?.outer === undefined
  switch (outcome) {
    case 'committed':
      return isOutermost ? 'unit' : undefined
    case 'aborted':
      return isOutermost || left !== undefined ? 'evidence' : undefined
    case 'released':
      return left === undefined ? undefined : 'evidence'
    default:
      return undefined
  }
}
