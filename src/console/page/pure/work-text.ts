import type { QueueLine, ScheduleLine } from '../../../runtime/index.js'

/** Limits of queues and times of schedules, in words. */

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000]
] as const

/** `2 hours`, exactly: what a schedule says is not rounded. */
function everyText(ms: number): string {
  const unit = UNITS.find(([, one]) => ms >= one && ms % one === 0)
  if (unit === undefined) return `${ms} ms`
  const [name, one] = unit
  return ms === one ? name : `${ms / one} ${name}s`
}

type Limits = Pick<QueueLine, 'concurrency' | 'partitionConcurrency' | 'rate'>

export function limitsText({ concurrency, partitionConcurrency, rate }: Limits): string {
  if (concurrency === null) return 'nothing: no process holds the ledger'
  const parts = [`${concurrency}`]
  if (partitionConcurrency !== null) parts.push(`${partitionConcurrency} of a partition`)
  if (rate !== null) parts.push(`at most ${rate.limit} each ${everyText(rate.perMs)}`)
  return parts.join(', ')
}

type When = Pick<ScheduleLine, 'cron' | 'everyMs' | 'timeZone'>

export function whenText({ cron, everyMs, timeZone }: When): string {
  return cron === null ? `each ${everyText(everyMs ?? 0)}` : `${cron}, ${timeZone}`
}
