import { unreachable } from '../../core/index.js'
import type { DecisionAction } from '../protocol.js'
import type { JournalEntry, Sealed, Settled, WaitBegun, Waiting } from '../run/entries.js'
import { openWaitOf, shownWait } from '../run/waits.js'
import type { RunDriver } from './run-driver.js'

/**
 * Changes what a journal entry says. Live and recovering pumps call this for the same entries in
 * the same order, which is why a resumed run is the run that was interrupted (D6).
 */
export function applyEntry(pump: RunDriver, entry: JournalEntry): void {
  const { agenda, leaves } = pump
  switch (entry.k) {
    case 'run.started':
      return pump.begin(entry)
    case 'requested':
      leaves.at(entry.path)?.past.requested.set(entry.seq, entry)
      pump.scopes.around(entry.path)?.outside.requested(entry)
      return
    case 'sealed':
      return applySealed(pump, entry)
    case 'wait':
      return applyWait(pump, entry)
    case 'waiting':
      return applyWaiting(pump, entry)
    case 'answered':
      leaves.at(entry.path)?.waits.delete(entry.seq)
      return agenda.close(entry.token)
    case 'rewound':
      for (const wait of leaves.rewound(entry)) agenda.close(wait.token)
      return
    case 'settled':
      return applySettled(pump, entry)
    case 'scope':
      return pump.scopes.apply(entry)
    case 'timer':
      agenda.forget(entry.path)
      return pump.deliver(entry.path, { type: 'timer.fired', at: entry.at })
    case 'decision': {
      agenda.close(entry.token)
      agenda.decisions.delete(entry.path)
      const action = entry.action as DecisionAction
      const patch = entry.patch === null ? {} : { patch: entry.patch }
      return pump.deliver(entry.path, { type: 'decision.made', action, ...patch, at: entry.at })
    }
    case 'cancel':
      return pump.cancelled(entry)
    case 'run.waiting':
    case 'run.resumed':
    case 'run.finished':
      return
    default:
      unreachable(entry)
  }
}

function applySealed(pump: RunDriver, entry: Sealed): void {
  const { path, seq, step, attempt, at } = entry
  pump.scopes.around(path)?.outside.sealed(entry)
  const current = pump.leaves.at(path)
  // The answer to an effect of an attempt that is over is kept, and changes nothing any more.
  if (current?.ask.attempt !== attempt || current.ask.step !== step) return
  const wait = current.waits.get(seq)
  if (wait !== undefined) {
    pump.agenda.close(wait.token)
    // Code that polls would leave one for each sleep.
    current.waits.delete(seq)
  }
  if (pump.agenda.waiting.delete(path)) pump.deliver(path, { type: 'attempt.resumed', at })
  current.release(entry)
}

function applyWait(pump: RunDriver, entry: WaitBegun): void {
  pump.agenda.waits.add(entry)
  if (entry.seq !== null) {
    const waits = pump.leaves.at(entry.path)?.waits
    const replaced = waits?.get(entry.seq)
    if (replaced !== undefined && replaced.token !== entry.token) {
      pump.agenda.close(replaced.token)
    }
    waits?.set(entry.seq, entry)
  }
  if (!pump.isLive) return
  pump.agenda.armWait(entry)
  if (entry.actions.length === 0) return
  const shown = openWaitOf(entry, pump.host.identity)
  pump.emit({ type: 'waiting', at: entry.at, ...shown, runId: pump.runId })
}

function applyWaiting(pump: RunDriver, entry: Waiting): void {
  const { path, token, at } = entry
  const wait = pump.agenda.waits.get(token)
  if (wait === undefined) return
  pump.agenda.waiting.add(path)
  const sent = pump.leaves.at(path)?.past.hasSent() === true
  pump.deliver(path, { type: 'attempt.waiting', wait: shownWait(wait), sent, at })
}

function applySettled(pump: RunDriver, entry: Settled): void {
  const { path, response, sent, at } = entry
  const attempt = pump.leaves.at(path)
  const scope = pump.scopes.around(path)
  if (scope !== undefined && attempt !== undefined && entry.overlay !== undefined) {
    if (attempt.isStarted) scope.absorb(attempt.view)
    else scope.restore(entry.overlay, (key) => pump.host.journal.read(key))
    scope.collect(attempt, response)
  }
  pump.agenda.waiting.delete(path)
  pump.agenda.closeWaits(path)
  if (attempt !== undefined) pump.leaves.close(attempt, response.success)
  pump.deliver(path, { type: 'attempt.settled', response, at, sent })
}
