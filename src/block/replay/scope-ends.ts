import { differing, type Finding, firstOf, unexpected } from '../finding.js'
import type { ScopeEnded } from '../run/entries.js'
import { outboxOf } from '../run/overlay-tasks.js'
import { bare } from '../run/unit.js'
import type { OpenedScope } from './open.js'
import type { ReplayState } from './replay-state.js'

/** Whether overlays may end as the journal says (C4). */

/** Whether an overlay can have ended like this now. */
export function scopeFinding(entry: ScopeEnded, state: ReplayState): Finding | undefined {
  const end = state.scopeEnds.get(entry.path)
  const { path, step, attempt, outcome, response } = entry
  const scope = state.scopes.get(path)
  if (end === undefined || scope === undefined) {
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
    orderFinding(entry, scope),
    contentFinding(entry, scope)
  )
}

/** What was decided comes first, then the errands, then the end. */
function orderFinding({ outcome }: ScopeEnded, { closing, outside }: OpenedScope) {
  const { decided, errands } = closing ?? {}
  switch (outcome) {
    case 'committed':
      return decided === undefined ? undefined : unexpected('journal.scope', 'its end', outcome)
    case 'conflict': {
      const mayRunAgain = decided === undefined && !outside.hasActed
      return mayRunAgain ? undefined : unexpected('journal.scope', 'an end', outcome)
    }
    case 'aborting': {
      const mayUndo = decided === undefined && outside.undoable().length > 0
      return mayUndo ? undefined : unexpected('journal.scope', 'aborted', outcome)
    }
    case 'aborted':
    case 'released': {
      const before = outcome === 'aborted' ? 'aborting' : 'committed'
      const isDirect = outcome === 'aborted' && outside.undoable().length === 0
      if (isDirect && decided === undefined) return undefined
      return decided?.outcome === before && errands?.isOver === true
        ? undefined
        : unexpected('journal.scope', `${before}, and its errands to be over`, outcome)
    }
  }
}

function contentFinding(entry: ScopeEnded, { closing, outside, outer }: OpenedScope) {
  const { outcome, response, left, outbox } = entry
  const again =
    outcome === 'aborted'
      ? outside.left((key) => closing?.errands.undone(key))
      : outcome === 'released'
        ? (closing?.errands.notDone ?? [])
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
export function scopeCompletes(
  { path, outcome, left }: ScopeEnded,
  state: ReplayState
): 'unit' | 'evidence' | undefined {
  const isOutermost = state.scopes.get(path)?.outer === undefined
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
