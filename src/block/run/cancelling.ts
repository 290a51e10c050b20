import { cancelledResponse } from '../chart/chart-run.js'
import type { CancelEvent, Delivery } from '../chart/protocol.js'
import type { CancelAsked, OverlayEnded } from './entries.js'

/** What cancelling a run means where its charts cannot hear of it: while tasks are done (C4). */

/** The cancel as blocks get it, also later than it was asked for. */
export function cancelEvent({ reason }: CancelAsked, at: number): CancelEvent {
  return { type: 'block.cancel', reason, at }
}

/**
 * What a composite gets when its overlay has ended. In a run that was cancelled meanwhile it is
 * not tried again; what was committed stays committed.
 */
export function overlayDeliveries(
  { outcome, response, left, at }: OverlayEnded,
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
export function continuesCancelled(
  { outcome }: OverlayEnded,
  cancel: CancelAsked | undefined
): boolean {
  return cancel !== undefined && (outcome === 'committed' || outcome === 'released')
}
