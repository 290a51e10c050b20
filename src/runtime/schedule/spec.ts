import { stateOf } from '../../capability/index.js'
import { isWorkflow } from '../../code/index.js'
import {
  canonicalize,
  canonicalizeLedgerValue,
  durationMs,
  isError,
  isJsonObject,
  type Json,
  type JsonObject,
  ledgerError,
  limits,
  rfc3339,
  runtimeError,
  shownText,
  type TallyError,
  withoutUndefined
} from '../../core/index.js'
import { SCHEDULES_PREFIX } from '../../intent/index.js'
import { ERASED_PREFIX, type Ledger, subjectOfText } from '../../ledger/index.js'
import { heldTerms, type QueueTerms } from '../../queue/index.js'
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
  readonly input?: Json
  readonly tags?: readonly string[]
  readonly queue?: QueueTerms
  /** {@link BegunWith} under the key of a subject, in place of the three before it. */
  readonly sealed?: string
}

/** With what the runs of a schedule begin. */
export interface BegunWith {
  readonly input: Json
  readonly tags?: readonly string[]
  readonly queue?: QueueTerms
  readonly subject?: string
}

/** A schedule of the ledger, and who has registered it. */
export interface RegisteredSchedule {
  readonly name: string
  readonly by: Json
  /** What fell due up to then is left out. */
  readonly from: number
  readonly isPaused: boolean
  /** The key of its subject was erased. */
  readonly isErased: boolean
  readonly spec: HeldSchedule
}

const scheduleName = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/

/** A schedule as it is registered. Throws `runtime.invalid_schedule`. */
export function heldSchedule(given: ScheduleOptions): HeldSchedule {
  const { name, timeZone = 'UTC', overlap = 'skip', catchUp = 'last', tags = [] } = given ?? {}
  const refuse = (problem: string) =>
    runtimeError('runtime.invalid_schedule', { name: shownText(name), problem })
  if (typeof name !== 'string' || !scheduleName.test(name)) throw refuse('its name is none')
  const when = whenOf(given, refuse)
  if (!overlaps.has(overlap)) throw refuse('its overlap is none of skip, queue, allow and cancel')
  const most = typeof catchUp === 'object' ? catchUp?.all : catchUp
  if (!isCatchUp(most)) throw refuse('its catchUp is none of none, last and { all: number }')
  if (!areTags(tags)) throw refuse('its tags are no list of tags')
  if (!isText(timeZone)) throw refuse('its timeZone is no name of a zone')
  if (!isSubject(given.subject)) throw refuse('its subject is no name of one')
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
    throw refuse(saidBy(error))
  }
  return spec
}

type Refuse = (problem: string) => TallyError

function whenOf({ cron, every }: ScheduleOptions, refuse: Refuse) {
  if ((cron === undefined) === (every === undefined)) throw refuse(NEEDS_ONE)
  if (cron !== undefined) {
    if (isText(cron)) return { cron }
    throw refuse(`its cron is no text of at most ${limits.SCHEDULE_TEXT_LENGTH_MAX} characters`)
  }
  const everyMs = durationMs(every ?? 0) ?? 0
  if (everyMs >= limits.SCHEDULE_EVERY_MS_MIN) return { everyMs }
  throw refuse(SHORT)
}

function whatOf({ workflow, document }: ScheduleOptions, refuse: Refuse) {
  if ((workflow === undefined) === (document === undefined)) {
    throw refuse('it needs a workflow or a document')
  }
  if (workflow !== undefined) {
    const named = isWorkflow(workflow) ? workflow.name : workflow
    if (isText(named)) return { workflow: named }
    throw refuse('its workflow is none, and no name of one')
  }
  return { document: typeof document === 'string' ? document : canonicalize(document ?? null) }
}

const overlaps: ReadonlySet<string> = new Set(['skip', 'queue', 'allow', 'cancel'])

function isSubject(given: unknown): boolean {
  if (given === undefined) return true
  return typeof given === 'string' && given.length > 0 && given.length <= limits.SUBJECT_LENGTH_MAX
}

/** The same with what its runs begin with under the key of their subject, which is there. */
export function sealedSchedule(
  ledger: Pick<Ledger, 'subjects'>,
  name: string,
  { subject, spec }: { readonly subject: string; readonly spec: HeldSchedule }
): HeldSchedule {
  const { input = null, tags, queue, ...rest } = spec
  const begun = withoutUndefined({ input, tags, queue, subject }) as unknown as Json
  return { ...rest, sealed: ledger.subjects.sealSchedule(subject, name, canonicalize(begun)) }
}

/** Throws `ledger.erased` without the key of its subject. */
export function begunWith(
  ledger: Pick<Ledger, 'subjects'>,
  { name, spec }: RegisteredSchedule
): BegunWith {
  if (spec.sealed === undefined) return { ...spec, input: spec.input ?? null }
  const text = ledger.subjects.openSchedule(name, spec.sealed)
  if (text === undefined) throw ledgerError('ledger.erased', { what: `Schedule ${name}` })
  return JSON.parse(text) as BegunWith
}

/** What a schedule is made of may come from anywhere. */
function isText(given: unknown): given is string {
  if (typeof given !== 'string') return false
  return given.length > 0 && given.length <= limits.SCHEDULE_TEXT_LENGTH_MAX
}

function areTags(given: unknown): given is readonly string[] {
  // Its runs have one more, by which they are found.
  return Array.isArray(given) && given.length < limits.RUN_TAGS_MAX && given.every(isText)
}

function isCatchUp(most: unknown): most is HeldSchedule['catchUp'] {
  if (typeof most !== 'number') return most === 'none' || most === 'last'
  return Number.isSafeInteger(most) && most >= 1 && most <= limits.SCHEDULE_CATCH_UP_MAX
}

/** When a schedule that is registered at a time falls due. Throws what is wrong with it. */
export function timing({ cron, everyMs, timeZone }: HeldSchedule, from: number): Timing {
  if ((cron === undefined) === (everyMs === undefined)) throw new Error(NEEDS_ONE)
  if (cron !== undefined) return timingOf({ cron, timeZone })
  const isSpan = Number.isSafeInteger(everyMs) && Number(everyMs) >= limits.SCHEDULE_EVERY_MS_MIN
  if (everyMs === undefined || !isSpan) throw new Error(SHORT)
  return timingOf({ everyMs, from })
}

const WAS_ERASED = 'its subject was erased: it begins nothing more, and can be removed'
const NEEDS_ONE = 'it needs cron or every'
const SHORT = `its every is no span of ${limits.SCHEDULE_EVERY_MS_MIN} ms or more`

/**
 * {@link timing} of a schedule that may not have come through {@link heldSchedule}: by an intent of
 * the owner's own making, or in a ledger from elsewhere. What cannot be read is never due.
 */
export function registeredTiming({ spec, from, isErased }: RegisteredSchedule): {
  readonly timing: Timing
  readonly problem: string | null
} {
  if (isErased) return { timing: never, problem: WAS_ERASED }
  try {
    return { timing: timing(spec, from), problem: null }
  } catch (error) {
    return { timing: never, problem: saidBy(error) }
  }
}

const never: Timing = { next: () => undefined, between: () => [] }

function saidBy(error: unknown): string {
  return isError(error) ? error.message : 'it cannot be read'
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
        isErased: isErased(ledger, spec),
        spec: spec as JsonObject as unknown as HeldSchedule
      }
    ]
  })
}

function isErased(ledger: Pick<Ledger, 'read'>, spec: Json | undefined): boolean {
  const sealed = isJsonObject(spec) ? spec['sealed'] : undefined
  const id = typeof sealed === 'string' ? subjectOfText(sealed) : undefined
  return id !== undefined && ledger.read(ERASED_PREFIX + id) !== undefined
}

/** With which the ids of all runs of schedules begin. */
export const RUN_PREFIX = 'schedule:'

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
