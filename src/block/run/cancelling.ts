import { cancelledResponse } from '../chart/execution.js'
import type { CancelEvent, Delivery } from '../protocol.js'
import type { CancelAsked, ScopeEnded } from './entries.js'

/** What cancelling a run means where its charts cannot hear of it: while errands are done (C4). */

/** The cancel as blocks are told of it, also later than it was asked for. */
export function cancelEvent({ reason }: CancelAsked, at: number): CancelEvent {
  return { type: 'block.cancel', reason, at }
}

/**
 * What a composite is told when its overlay has ended. In a run that was cancelled meanwhile it is
 * not tried again; what was committed stays committed.
 */
export function scopeNews(
  { outcome, response, left, at }: ScopeEnded,
  cancel: CancelAsked | undefined
): Delivery {
  const isCommitted = outcome === 'committed' || outcome === 'released'
  if (cancel !== undefined && !isCommitted) {
    const cancelled = cancelledResponse(cancelEvent(cancel, at))
    return { type: 'scope.settled', response: cancelled, at, sent: left !== undefined }
  }
  if (outcome === 'conflict') return { type: 'scope.conflict', at }
  return { type: 'scope.settled', response, at, sent: left !== undefined }
}

/**
 * Whether what comes after a commit has to be cancelled: its parent has not heard of the cancel.
 */
export function goesOnCancelled({ outcome }: ScopeEnded, cancel: CancelAsked | undefined): boolean {
  return cancel !== undefined && (outcome === 'committed' || outcome === 'released')
}
