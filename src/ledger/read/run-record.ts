import type { RunId } from '../../core/index.js'
import type { CommitQueue } from '../commit/queue.js'
import type { QueuedItem } from '../commit/queued-item.js'
import type { Derived } from '../derived/derived.js'
import { addEntries, newDelta, runChangesOf } from '../derived/run-records.js'
import type { DerivableCommit } from '../derived/unflushed-records.js'
import type { Position } from '../item.js'
import type { DurableCommit, RunRecord } from '../ledger-api.js'

/** A run's record as it is stored, with the entries of it that are queued behind `durable`. */
export function queuedRecord(
  runId: RunId,
  derived: Derived,
  { queue, durable }: { readonly queue: CommitQueue<QueuedItem>; readonly durable: Position }
): RunRecord | undefined {
  const queued = newDelta()
  queue.eachPending((item, position) => {
    // The end of a flush reaches the derived records a moment before the queue.
    if (item.runId === runId && position > durable) {
      addEntries(queued, item.entries, { runChanges: runChangesOf(item) })
    }
  })
  return derived.run(runId, queued)
}

/** What listeners hear of a commit: what the entries of runs with a subject say. */
export function toldCommit(commit: DerivableCommit): DurableCommit {
  const items = commit.items.map((item) => {
    const { runId, entries, plain = entries } = item
    return plain === entries ? item : { runId, entries: plain }
  })
  return { ...commit, items }
}
