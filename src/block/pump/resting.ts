import { assert, type Json, limits } from '../../core/index.js'
import type { Journal } from '../journal.js'
import { firstWait } from './first-wait.js'
import type { RunCheckpoint } from './host.js'
import type { RunDriver } from './run-driver.js'

/**
 * Tells each leaf that has nothing but waits left that it is WAITING (B2); true when there was one.
 */
export function markWaiting(pump: RunDriver): boolean {
  let marked = false
  for (const attempt of pump.leaves.all()) {
    const { path, step, attempt: number } = attempt.ask
    if (pump.agenda.waiting.has(path)) continue
    const wait = firstWait(attempt)
    if (wait === undefined) continue
    const { token } = wait
    pump.record({ k: 'waiting', at: pump.book.now(), path, step, attempt: number, token })
    marked = true
  }
  return marked
}

/** Back pressure (D9). */
export function isFarAhead(journal: Journal): boolean {
  const { items, bytes } = journal.backlog()
  return items > limits.RUN_AHEAD_ITEMS_MAX || bytes > limits.RUN_AHEAD_BYTES_MAX
}

/** Whether the run can only go on by a message or by a time that is far enough. */
export function mayPark(pump: RunDriver): boolean {
  for (const attempt of pump.leaves.all()) {
    if (!pump.agenda.waiting.has(attempt.ask.path)) return false
  }
  assert(!pump.agenda.isEmpty, `run ${pump.runId} has nothing to do and nothing to wait for`)
  const due = pump.agenda.nextDue()
  if (due === null) return true
  // Taking it up again gives its code all of its answers: code that polls would spend its time so.
  const worthMs = limits.PARK_AFTER_MS + pump.leaves.answers * limits.PARK_AFTER_ANSWER_MS
  return due > pump.host.clock.now() + worthMs
}

/**
 * The run at this entry boundary, to go on from elsewhere (formats.md §7). Undefined when it has to
 * be rebuilt from its journal, which has what is not in memory.
 */
export function checkpointOf(pump: RunDriver, snapshot: () => Json): RunCheckpoint | undefined {
  if (!pump.scopes.isEmpty || !pump.leaves.isWhole) return undefined
  const { current, past } = pump.leaves.openEntries()
  const decisions = pump.agenda.waits.all().filter((wait) => wait.seq === null)
  const { landed: all, inDoubt } = pump.leaves
  const askings = pump.agenda.waits.askings()
  return {
    ...pump.book.save(),
    snapshot: snapshot(),
    attempts: pump.leaves.times(),
    open: [...current, ...decisions],
    waiting: [...pump.agenda.waiting],
    ...(pump.cancel === undefined ? {} : { cancel: pump.cancel }),
    ...(all.length + inDoubt.length === 0 ? {} : { landed: { all, inDoubt } }),
    ...(askings.length === 0 ? {} : { askings }),
    past
  }
}
