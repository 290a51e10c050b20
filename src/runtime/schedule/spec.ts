import { heldTerms, isWorkflow, type QueueTerms } from '../../block/index.js'
import { stateOf } from '../../capability/index.js'
import {
  canonicalize,
  canonicalizeLedgerValue,
  durationMs,
  isJsonObject,
  type Json,
  type JsonObject,
  limits,
  rfc3339,
  shownText,
  TallyError,
  withoutUndefined
} from '../../core/index.js'
import { SCHEDULES_PREFIX } from '../../intent/index.js'
import type { Ledger } from '../../ledger/index.js'
import type { Overlap, ScheduleOptions } from './schedule-options.js'
import { type Timing, timingOf } from './timing.js'

/** A schedule as the state keeps it. */
export interface HeldSchedule {
  readonly cron?: string
  readonly everyMs?: number
  readonly timeZone: string
  readonly overlap: Overlap
  /** A number: so many of the last. */
  readonly catchUp: 'none' | 'last' | number
  readonly workflow?: string
  readonly document?: string
  readonly input: Json
  readonly tags?: readonly string[]
  readonly queue?: QueueTerms
}

/** A schedule of the ledger, and who has registered it. */
export interface RegisteredSchedule {
  readonly name: string
  readonly by: Json
  /** What fell due up to then is left out. */
  readonly from: number
  readonly isPaused: boolean
  readonly spec: HeldSchedule
}

const scheduleName = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/

/** A schedule as it is registered. Throws `runtime.invalid_schedule`. */
export function heldSchedule(given: ScheduleOptions): HeldSchedule {
  const { name, timeZone = 'UTC', overlap = 'skip', catchUp = 'last', tags = [] } = given
  const refuse = (problem: string) => new TallyError('runtime.invalid_schedule', { name, problem })
  if (!scheduleName.test(shownText(name))) throw refuse('its name is none')
  const when = whenOf(given, refuse)
  if (!overlaps.has(overlap)) throw refuse('its overlap is none of skip, queue, allow and cancel')
  const most = typeof catchUp === 'object' ? catchUp.all : catchUp
  if (!isCatchUp(most)) throw refuse('its catchUp is none of none, last and { all: number }')
  const queue = given.queue === undefined ? undefined : heldTerms(given.queue)
  if (queue !== undefined && 'problem' in queue) throw refuse(queue.problem)
  if (queue !== undefined && overlap === 'queue') {
    throw refuse('a run waits in one queue, and overlap "queue" is one')
  }
  const spec: HeldSchedule = {
    ...when,
    timeZone,
    overlap,
    catchUp: most,
    ...whatOf(given, refuse),
    input: JSON.parse(canonicalizeLedgerValue(withoutUndefined(given.input ?? null))) as Json,
    ...(tags.length === 0 ? {} : { tags: [...tags] }),
    ...(queue === undefined ? {} : { queue })
  }
  try {
    timing(spec, 0)
  } catch (error) {
    throw refuse(error instanceof Error ? error.message : 'it cannot be read')
  }
  return spec
}

type Refuse = (problem: string) => TallyError

function whenOf({ cron, every }: ScheduleOptions, refuse: Refuse) {
  if ((cron === undefined) === (every === undefined)) throw refuse('it needs cron or every')
  if (cron !== undefined) {
    if (cron.length <= limits.SCHEDULE_TEXT_LENGTH_MAX) return { cron }
    throw refuse(`its cron has more than ${limits.SCHEDULE_TEXT_LENGTH_MAX} characters`)
  }
  const everyMs = durationMs(every ?? 0) ?? 0
  if (everyMs >= limits.SCHEDULE_EVERY_MS_MIN) return { everyMs }
  throw refuse(`its every is no span of ${limits.SCHEDULE_EVERY_MS_MIN} ms or more`)
}

function whatOf({ workflow, document }: ScheduleOptions, refuse: Refuse) {
  if ((workflow === undefined) === (document === undefined)) {
    throw refuse('it needs a workflow or a document')
  }
  if (workflow !== undefined) {
    return { workflow: isWorkflow(workflow) ? workflow.name : workflow }
  }
  return { document: typeof document === 'string' ? document : canonicalize(document ?? null) }
}

const overlaps: ReadonlySet<string> = new Set(['skip', 'queue', 'allow', 'cancel'])

function isCatchUp(most: 'none' | 'last' | number): boolean {
  if (typeof most !== 'number') return most === 'none' || most === 'last'
  return Number.isSafeInteger(most) && most >= 1 && most <= limits.SCHEDULE_CATCH_UP_MAX
}

/** When a schedule that is registered at a time falls due. */
export function timing({ cron, everyMs = 0, timeZone }: HeldSchedule, from: number): Timing {
  return timingOf(cron === undefined ? { everyMs, from } : { cron, timeZone })
}

/** The schedules of a ledger, by name. The kernel has checked them before it wrote them. */
export async function registeredSchedules(
  ledger: Pick<Ledger, 'list' | 'read'>
): Promise<readonly RegisteredSchedule[]> {
  const keys = await ledger.list(SCHEDULES_PREFIX)
  return keys.flatMap((key) => {
    const entry = stateOf(ledger).get(key)
    if (!isJsonObject(entry)) return []
    const { by = null, from, isPaused, spec } = entry
    return [
      {
        name: key.slice(SCHEDULES_PREFIX.length),
        by,
        from: Number(from),
        isPaused: isPaused === true,
        spec: spec as JsonObject as unknown as HeldSchedule
      }
    ]
  })
}

const RUN_PREFIX = 'schedule:'

/** The run of a schedule at a time: asked for again, it is the same (L6). */
export function runIdAt(name: string, at: number): string {
  return `${tagOf(name)}:${rfc3339(at)}`
}

/** By which the runs of a schedule are found. */
export function tagOf(name: string): string {
  return RUN_PREFIX + name
}

/** Of which schedule a run is, and when it fell due; undefined: of none. */
export function scheduledRun(
  runId: string
): { readonly name: string; readonly at: number } | undefined {
  if (!runId.startsWith(RUN_PREFIX)) return undefined
  const end = runId.indexOf(':', RUN_PREFIX.length)
  const at = Date.parse(runId.slice(end + 1))
  return end < 0 || Number.isNaN(at) ? undefined : { name: runId.slice(RUN_PREFIX.length, end), at }
}
