import type { QueuedLine, QueueLine, ScheduleLine } from '../../../src/runtime/index.js'
import { START } from './fake-journals.js'

/** What stands in queues and begins by time, in a ledger that was never written. */

const MINUTE_MS = 60_000

function line(runId: string, minute: number, more: Partial<QueuedLine> = {}): QueuedLine {
  const since = START + minute * MINUTE_MS
  const own = { path: null, effect: null, priority: 0, partition: '', isRunning: false }
  return { runId: runId as QueuedLine['runId'], ...own, since, ...more }
}

export const fakeQueues: readonly QueueLine[] = [
  {
    name: 'invoices',
    of: 'runs',
    concurrency: 2,
    partitionConcurrency: 1,
    rate: null,
    running: 2,
    waiting: 3,
    nextAt: null,
    work: [
      line('june', 42, { isRunning: true, partition: 'acme' }),
      line('july', 48, { isRunning: true, partition: 'harbour' }),
      line('august', 55, { priority: 5, partition: 'harbour' }),
      line('september', 61, { partition: 'acme' }),
      line('october', 74)
    ]
  },
  {
    name: 'bank.api',
    of: 'effects',
    concurrency: 10,
    partitionConcurrency: null,
    rate: { limit: 30, perMs: MINUTE_MS },
    running: 0,
    waiting: 1,
    nextAt: START + 90.5 * MINUTE_MS,
    work: [line('july', 89, { path: 'root/pay', effect: 'bank.transfer' })]
  }
]

const by = { kind: 'owner', id: 'local' }

export const fakeSchedules: readonly ScheduleLine[] = [
  {
    name: 'nightly.invoices',
    by,
    cron: '30 2 * * 1-5',
    everyMs: null,
    timeZone: 'Europe/Berlin',
    overlap: 'skip',
    catchUp: 'last',
    workflow: null,
    isPaused: false,
    next: [11, 35, 59].map((hour) => START + hour * 60 * MINUTE_MS),
    lastRun: 'june' as ScheduleLine['lastRun'],
    problem: null
  },
  {
    name: 'poll.carrier',
    by,
    cron: null,
    everyMs: 15 * MINUTE_MS,
    timeZone: 'UTC',
    overlap: 'queue',
    catchUp: 'none',
    workflow: 'carrier.poll',
    isPaused: true,
    next: [],
    lastRun: null,
    problem: 'the workflow carrier.poll is not registered'
  }
]

/** One that says a text wherever it can say something. */
export function hostileQueue(text: string): QueueLine {
  const [queue] = fakeQueues
  const said = { path: `root/${text}`, effect: text, partition: text }
  const base = { ...(queue as QueueLine), name: text }
  return { ...base, work: [line(text, 1, said)] }
}

export function hostileSchedule(text: string): ScheduleLine {
  const [schedule] = fakeSchedules
  const lastRun = text as ScheduleLine['lastRun']
  const said = { name: text, cron: text, timeZone: text, workflow: text, problem: text, lastRun }
  return { ...(schedule as ScheduleLine), ...said }
}
