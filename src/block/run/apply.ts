import { ROOT_PATH } from '../../code/index.js'
import { unreachable } from '../../core/index.js'
import { cancelledResponse } from '../chart/chart-run.js'
import type { DecisionAction, Delivery, PumpCommand } from '../chart/protocol.js'
import { takeAnswer, takeCalled } from './body.js'
import {
  type CancelAsked,
  type JournalEntry,
  type OverlayEnded,
  placeKey,
  type Returned,
  type Rewound,
  type Sealed,
  type Settled,
  type WaitBegun,
  type Waiting
} from './entries.js'
import { referenceTo } from './folded-answers.js'
import { cancelEvent, compensationTask, deferredTask, OverlayTasks } from './overlay-tasks.js'
import { rootCommand } from './root-block.js'
import type { Driver, OpenAttempt, OpenOverlay, RunState } from './run-state.js'
import { isForSignal } from './signals.js'
import { shownWait } from './waits.js'

/**
 * Changes what a journal entry says. The pump, recovery and verification call this for the same
 * entries in the same order, which is why a resumed run is the run that was interrupted (D6, D10).
 */
export function apply<Attempt extends OpenAttempt, Scope extends OpenOverlay>(
  state: RunState<Attempt, Scope>,
  entry: JournalEntry,
  driver: Driver<Attempt, Scope>
): void {
  switch (entry.k) {
    case 'run.started':
      state.started = entry
      return driver.deliver(ROOT_PATH, rootCommand(state.root, entry))
    case 'requested':
      state.attemptAt(entry)?.past.requested.set(entry.seq, entry)
      state.overlayAround(entry.path)?.outside.requested(entry)
      return
    case 'sealed':
      return sealed(state, entry, driver)
    case 'wait':
      return begun(state, entry, driver)
    case 'waiting':
      return waiting(state, entry, driver)
    case 'answered':
      state.attemptAt(entry)?.waits.delete(entry.seq)
      return closeWait(state, entry.token, driver)
    case 'approval':
      return state.waits.approved(entry.token, entry.approval)
    case 'signal':
      return state.signals.take(entry)
    case 'rewound':
      return rewound(state, entry, driver)
    case 'settled':
      return settled(state, entry, driver)
    case 'scope':
      return overlayEnded(state, entry, driver)
    case 'timer':
      forget(state, entry.path, driver)
      return driver.deliver(entry.path, { type: 'timer.fired', at: entry.at })
    case 'decision': {
      closeWait(state, entry.token, driver)
      state.decisions.delete(entry.path)
      const action = entry.action as DecisionAction
      const patch = entry.patch === null ? {} : { patch: entry.patch }
      return driver.deliver(entry.path, { type: 'decision.made', action, ...patch, at: entry.at })
    }
    case 'called':
      return takeCalled(state, entry, driver)
    case 'returned':
      return returned(state, entry, driver)
    case 'cancel':
      return cancelled(state, entry, driver)
    case 'run.waiting':
      state.isParked = true
      return
    case 'run.resumed':
      state.isParked = false
      return
    case 'run.finished':
      state.isFinished = true
      return
    default:
      unreachable(entry)
  }
}

function sealed<Attempt extends OpenAttempt, Scope extends OpenOverlay>(
  state: RunState<Attempt, Scope>,
  entry: Sealed,
  driver: Driver<Attempt, Scope>
): void {
  const { path, seq, at } = entry
  state.overlayAround(path)?.outside.sealed(entry)
  const attempt = state.attemptAt(entry)
  // The answer to an effect of an attempt that is over is kept, and changes nothing any more.
  if (attempt === undefined) return
  // Code that polls would leave one for each sleep.
  endWait(state, attempt, seq, driver)
  attempt.past.recorded.add(entry)
  state.signals.sealed(entry)
  if (state.attempts.wake(path)) driver.deliver(path, { type: 'attempt.resumed', at })
  driver.answered(attempt, entry)
}

/** Opens a wait; one that the same call has begun on another state is over with it (L10). */
function begun<Attempt extends OpenAttempt, Scope extends OpenOverlay>(
  state: RunState<Attempt, Scope>,
  entry: WaitBegun,
  driver: Driver<Attempt, Scope>
): void {
  const attempt = entry.seq === null ? undefined : state.attemptAt(entry)
  if (attempt !== undefined && entry.seq !== null) {
    endWait(state, attempt, entry.seq, driver)
    attempt.waits.set(entry.seq, entry)
  }
  state.waits.add(entry)
  if (isForSignal(entry)) state.signals.asked()
  driver.waits(entry)
}

function waiting<Attempt extends OpenAttempt, Scope extends OpenOverlay>(
  state: RunState<Attempt, Scope>,
  entry: Waiting,
  driver: Driver<Attempt, Scope>
): void {
  const { path, token, at } = entry
  const open = state.waits.get(token)
  if (open === undefined) return
  state.attempts.wait(path)
  const sent = state.attemptAt(entry)?.past.hasSent() === true
  driver.deliver(path, { type: 'attempt.waiting', wait: shownWait(open), sent, at })
}

function rewound<Attempt extends OpenAttempt, Scope extends OpenOverlay>(
  state: RunState<Attempt, Scope>,
  entry: Rewound,
  driver: Driver<Attempt, Scope>
): void {
  const attempt = state.attemptAt(entry)
  if (attempt === undefined) return
  for (const seq of entry.dropped) endWait(state, attempt, seq, driver)
  state.signals.giveBack(attempt.ask, entry.dropped)
  attempt.past = attempt.past.without(entry.dropped, { isStated: entry.outside === true })
  driver.rewound(attempt, entry)
}

function settled<Attempt extends OpenAttempt, Scope extends OpenOverlay>(
  state: RunState<Attempt, Scope>,
  entry: Settled,
  driver: Driver<Attempt, Scope>
): void {
  const { path, response, sent, at } = entry
  const attempt = state.attemptAt(entry)
  if (attempt !== undefined) {
    const overlay = entry.overlay === undefined ? undefined : state.overlayAround(path)
    if (attempt.ask.options.deferred === true) overlay?.outside.deferred.push(attempt.ask)
    driver.settled(attempt, entry, overlay)
    state.attempts.wake(path)
    closeWaits(state, path, driver)
    if (response.success && overlay === undefined) state.signals.keep(attempt.ask)
    close(state, attempt, response.success, driver)
  }
  driver.deliver(path, { type: 'attempt.settled', response, at, sent })
}

/** The code of a workflow function has ended: it waits for nothing any more. */
function returned<Attempt extends OpenAttempt, Scope extends OpenOverlay>(
  state: RunState<Attempt, Scope>,
  entry: Returned,
  driver: Driver<Attempt, Scope>
): void {
  const { path, response, at } = entry
  const attempt = state.attemptAt(entry)
  if (attempt !== undefined) {
    state.attempts.wake(path)
    closeWaits(state, path, driver)
    close(state, attempt, response.success, driver)
  }
  driver.deliver(path, { type: 'code.returned', response, at })
}

/** Ends the overlay as the journal says; its tasks come before its composite continues. */
function overlayEnded<Attempt extends OpenAttempt, Scope extends OpenOverlay>(
  state: RunState<Attempt, Scope>,
  entry: OverlayEnded,
  driver: Driver<Attempt, Scope>
): void {
  const { path, outcome, at } = entry
  const overlay = state.openOverlays.get(path)
  if (overlay !== undefined && outcome !== 'aborting' && outcome !== 'released') {
    const outer = state.overlayAround(path)
    if (outcome === 'committed') outer?.outside.join(overlay.outside)
    const isKept = outcome === 'committed'
    if (!isKept || outer === undefined) state.signals.overlayEnded(path, { isKept })
    driver.ended(overlay, outer, entry)
  }
  const tasks = overlay === undefined ? [] : tasksOf(state, overlay, entry)
  if (overlay !== undefined && tasks.length > 0) {
    const table = state.root.leafTable()
    const ask = (one: PumpCommand) => driver.ask(one)
    const { cancelled: cancel } = state
    overlay.closing = { decided: entry, tasks: new OverlayTasks({ table, tasks, at, ask, cancel }) }
    return
  }
  state.overlayEnds.delete(path)
  state.openOverlays.delete(path)
  const { cancelled: cancel } = state
  driver.deliver(path, overlayDeliveries(entry, cancel))
  if (cancel === undefined || !continuesCancelled(entry, cancel)) return
  driver.deliver(ROOT_PATH, cancelEvent(cancel, at))
}

/** What an overlay leaves to be done: compensations of a rollback, steps put off to the commit. */
function tasksOf(state: RunState, { ask, outer, outside }: OpenOverlay, { outcome }: OverlayEnded) {
  if (outcome === 'aborting')
    return outside.undoable().map((one) => compensationTask(one, ask.request))
  const { receiptHash } = state
  if (outcome !== 'committed' || outer !== undefined || receiptHash === undefined) return []
  return outside.deferred.map((one) => deferredTask(one, receiptHash))
}

/**
 * What a composite gets when its overlay has ended. In a run that was cancelled meanwhile it is
 * not tried again; what was committed stays committed.
 */
function overlayDeliveries(
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
function continuesCancelled({ outcome }: OverlayEnded, cancel: CancelAsked | undefined): boolean {
  return cancel !== undefined && (outcome === 'committed' || outcome === 'released')
}

function cancelled<Attempt extends OpenAttempt, Scope extends OpenOverlay>(
  state: RunState<Attempt, Scope>,
  entry: CancelAsked,
  driver: Driver<Attempt, Scope>
): void {
  state.cancelled = entry
  const event = cancelEvent(entry, entry.at)
  if (entry.withoutCode === true) {
    state.settled = cancelledResponse(event)
    return
  }
  driver.deliver(ROOT_PATH, event)
  // Tasks continue, and wait for nothing.
  for (const { closing } of state.openOverlays.values()) closing?.tasks.cancel(entry)
}

/** Takes what a chart has asked for: nothing is decided or sent here. */
export function takeCommand<Attempt extends OpenAttempt, Scope extends OpenOverlay>(
  state: RunState<Attempt, Scope>,
  ask: PumpCommand,
  driver: Driver<Attempt, Scope>
): void {
  const { path } = ask
  switch (ask.kind) {
    case 'attempt': {
      const earlier = state.pasts?.get(path)
      const key = state.restoredTimes === undefined ? '' : placeKey(ask)
      const at = ask.options.frozenAt ?? state.restoredTimes?.get(key) ?? state.at
      const own = earlier?.step === ask.step ? earlier : undefined
      const attempt = driver.attempt(ask, at, own)
      if (attempt === undefined) return
      state.pasts?.delete(path)
      state.restoredTimes?.delete(key)
      state.attempts.set(path, attempt)
      return
    }
    case 'timer':
      state.timers.set(path, ask)
      return
    case 'decision':
      state.decisions.set(path, ask)
      return
    case 'cancel':
      for (const attempt of state.attemptsBelow(path)) close(state, attempt, false, driver)
      return forget(state, path, driver)
    case 'scope.open': {
      const at = ask.frozenAt ?? state.at
      state.openOverlays.set(path, driver.overlay(ask, at, state.overlayAround(path)))
      return
    }
    case 'scope.commit':
    case 'scope.abort':
      state.overlayEnds.set(path, ask)
      return
    case 'answer':
      return takeAnswer(state, ask, driver)
    case 'settled':
      state.settled = ask.response
      return
    case 'waiting':
    case 'resumed':
      return
    default:
      unreachable(ask)
  }
}

/** Ends an attempt; one that did not succeed leaves what it did to the next one of its step. */
function close<Attempt extends OpenAttempt, Scope extends OpenOverlay>(
  state: RunState<Attempt, Scope>,
  attempt: Attempt,
  succeeded: boolean,
  driver: Driver<Attempt, Scope>
): void {
  const { path } = attempt.ask
  const { past } = attempt
  state.attempts.delete(path)
  if (succeeded) resolveDoubts(state, past)
  else {
    state.signals.giveBack(attempt.ask)
    state.keepPast(path, past)
    const { written, unanswered } = past.outside()
    if (written.length > 0) state.landed = [...state.landed, ...written.map(referenceTo)]
    for (const { effect, key } of unanswered) {
      state.inDoubt = [...state.inDoubt, { path, effect, key }]
    }
  }
  driver.closed(attempt)
}

/** A later attempt of the step found out what had become of its effects. */
function resolveDoubts(state: RunState, past: OpenAttempt['past']): void {
  if (state.inDoubt.length === 0) return
  const keys = past.keys()
  state.inDoubt = state.inDoubt.filter(({ key }) => !keys.has(key))
}

function endWait<Attempt extends OpenAttempt, Scope extends OpenOverlay>(
  state: RunState<Attempt, Scope>,
  attempt: Attempt,
  seq: number,
  driver: Driver<Attempt, Scope>
): void {
  if (state.waits.isEmpty) return
  const wait = attempt.waits.get(seq)
  if (wait === undefined) return
  attempt.waits.delete(seq)
  closeWait(state, wait.token, driver)
}

function closeWait(state: RunState, token: string, driver: CallsOff): void {
  state.waits.remove(token)
  driver.calledOff(token)
}

function closeWaits(state: RunState, path: string, driver: CallsOff): void {
  for (const { token } of state.waits.removeAt(path)) driver.calledOff(token)
}

/** The block at this path waits no more, and neither does anything below it. */
function forget(state: RunState, path: string, driver: CallsOff): void {
  state.decisions.delete(path)
  state.attempts.wake(path)
  state.timers.delete(path)
  driver.calledOff(path)
  closeWaits(state, path, driver)
}

interface CallsOff {
  calledOff(key: string): void
}
