import type { Ledger } from '../../ledger/index.js'
import {
  type RegisteredSchedule,
  registeredSchedules,
  registeredTiming,
  tagOf
} from '../schedule/spec.js'
import type { Timing } from '../schedule/timing.js'
import type { FoundRuns } from './find-runs.js'
import type { ScheduleLine } from './work-lines.js'

export interface ScheduleLineParts {
  readonly ledger: Ledger
  readonly runs: Pick<FoundRuns, 'find'>
  readonly now: number
  /** How many of the times to come. */
  readonly times: number
  readonly problemOf: ((schedule: string) => string | null) | undefined
}

/** The schedules of a ledger by name, read from its state. */
export async function scheduleLines(
  parts: ScheduleLineParts,
  name: string | undefined
): Promise<readonly ScheduleLine[]> {
  const lines: ScheduleLine[] = []
  for (const schedule of await registeredSchedules(parts.ledger)) {
    if (name === undefined || schedule.name === name) lines.push(await lineOf(parts, schedule))
  }
  return lines
}

async function lineOf(
  { runs, now, times, problemOf }: ScheduleLineParts,
  schedule: RegisteredSchedule
): Promise<ScheduleLine> {
  const { name, by, isPaused, spec } = schedule
  const { cron = null, everyMs = null, timeZone, overlap, catchUp, workflow = null } = spec
  const { timing, problem } = registeredTiming(schedule)
  const { items } = await runs.find({ tag: tagOf(name) }, { limit: 1, cursor: undefined })
  return {
    ...{ name, by, cron, everyMs, timeZone, overlap, catchUp, workflow, isPaused },
    next: isPaused ? [] : nextTimes(timing, now, times),
    lastRun: items[0]?.id ?? null,
    problem: problemOf?.(name) ?? problem
  }
}

function nextTimes({ next }: Timing, now: number, count: number): number[] {
  const found: number[] = []
  for (let at = next(now); at !== undefined && found.length < count; at = next(at)) found.push(at)
  return found
}
