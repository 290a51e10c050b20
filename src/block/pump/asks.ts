import { TallyError, unreachable } from '../../core/index.js'
import type { Ask, DecisionAsk } from '../protocol.js'
import { isRelease } from '../run/overlay-tasks.js'
import type { WaitTerms } from '../run/waits.js'
import type { RunDriver } from './run-driver.js'
import { releaseEvidence } from './undoing.js'

/** Takes up what a chart has asked for. Nothing is decided or sent here while the pump recovers. */
export function takeAsk(pump: RunDriver, ask: Ask): void {
  switch (ask.kind) {
    case 'attempt':
      if (pump.leaves.open(ask)) return
      throw new TallyError('run.unknown_block', { runId: pump.runId, block: ask.block })
    case 'timer':
      return pump.agenda.arm(ask.path, ask.due, { kind: 'timer', path: ask.path, step: ask.step })
    case 'decision':
      pump.agenda.decisions.set(ask.path, ask)
      if (pump.isLive) openDecision(pump, ask)
      return
    case 'cancel':
      pump.leaves.cancel(ask.path)
      return pump.agenda.forget(ask.path)
    case 'scope.open':
    case 'scope.commit':
    case 'scope.abort':
      return pump.scopes.take(ask)
    case 'settled':
      return pump.settle(ask.response)
    case 'waiting':
    case 'resumed':
      return
    default:
      unreachable(ask)
  }
}

/** Opens the wait for a person's decision about a failure, unless the journal already has it. */
export function openDecision(pump: RunDriver, ask: DecisionAsk): void {
  const waits = pump.agenda.waits.all()
  if (waits.some((wait) => wait.seq === null && wait.path === ask.path)) return
  const evidence = isRelease(ask.path)
    ? releaseEvidence(ask, {
        runId: pump.runId,
        parent: pump.scopes.parentOf(ask.path),
        landed: pump.leaves.landedAt(ask.path),
        at: pump.book.now()
      })
    : undefined
  const terms: WaitTerms = {
    place: ask,
    seq: null,
    reason: ask.wait.reason,
    request: ask.wait.request,
    requestHash: pump.started.definitionHash,
    actions: ask.wait.actions,
    due: ask.wait.due ?? null,
    blockHash: pump.root.definitionHash
  }
  pump.openWait(terms, evidence)
}
