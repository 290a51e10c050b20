import { limits } from '../../core/index.js'
import type { Ledger } from '../../ledger/index.js'
import type { QueueShown, QueueTerms, WorkQueues } from '../../queue/index.js'
import { isQueued } from '../run/run-turns.js'
import type { QueuedLine, QueueLine } from './work-lines.js'

/**
 * Queues by name. Those of the process that holds the ledger; where none does, the runs that wait
 * for their turn are told all the same, since their records say so.
 */
export async function queueLines(
  { ledger, queues }: { readonly ledger: Ledger; readonly queues: WorkQueues | undefined },
  name: string | undefined
): Promise<readonly QueueLine[]> {
  const lines = queues === undefined ? await recordedLines(ledger) : queues.shown().map(shownLine)
  return name === undefined ? lines : lines.filter((line) => line.name === name)
}

function shownLine({ limits: held, work, ...shown }: QueueShown): QueueLine {
  const { concurrency, partitionConcurrency, rate = null } = held
  const { name, of, running, waiting, nextAt } = shown
  const first: QueuedLine[] = []
  for (const one of work) {
    if (first.length === limits.QUEUE_WORK_SHOWN_MAX) break
    first.push(one)
  }
  const counts = { running, waiting, nextAt, work: first }
  return { name, of, concurrency, partitionConcurrency, rate, ...counts }
}

async function recordedLines(ledger: Ledger): Promise<readonly QueueLine[]> {
  const found = new Map<string, QueuedLine[]>()
  for (const record of ledger.openRuns({ durable: true })) {
    if (!isQueued(record)) continue
    const { queue, at } = record.started as unknown as {
      readonly queue: QueueTerms
      readonly at: number
    }
    const { name, priority = 0, partition = '' } = queue
    const own = found.get(name) ?? []
    found.set(name, own)
    const { runId } = record
    const place = { path: null, effect: null, priority, partition }
    own.push({ runId, ...place, since: at, isRunning: false })
  }
  const names = [...found.keys()].sort()
  return names.map((name) => recordedLine(name, found.get(name) ?? []))
}

function recordedLine(name: string, waiting: readonly QueuedLine[]): QueueLine {
  const oldestFirst = [...waiting].sort((one, other) => one.since - other.since)
  return {
    name,
    of: 'runs',
    concurrency: null,
    partitionConcurrency: null,
    rate: null,
    running: 0,
    waiting: waiting.length,
    nextAt: null,
    work: oldestFirst.slice(0, limits.QUEUE_WORK_SHOWN_MAX)
  }
}
