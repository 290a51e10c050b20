import { isJsonObject, type Json, type JsonObject, lazySchema, limits } from '../../core/index.js'
import { subjectOfText } from '../../ledger/index.js'
import { recordedState } from '../providers.js'
import { payloadOf } from './payload.js'
import type { SystemWork } from './system-work.js'

/** State entries `system/schedules/<name>`: what begins by time, and in whose name. */
export const SCHEDULES_PREFIX = 'system/schedules/'

const name = lazySchema((z) => z.string().regex(/^[A-Za-z][A-Za-z0-9_.-]{0,63}$/))

const schedule = lazySchema((z) => {
  const text = z.string().min(1).max(limits.SCHEDULE_TEXT_LENGTH_MAX)
  const queue = z.strictObject({
    name: text,
    priority: z.int().optional(),
    partition: text.optional()
  })
  const spec = z.strictObject({
    /** One of these two says when. */
    cron: text.optional(),
    everyMs: z.int().min(1).optional(),
    timeZone: text,
    overlap: z.enum(['skip', 'queue', 'allow', 'cancel']),
    catchUp: z.union([z.enum(['none', 'last']), z.int().min(1).max(limits.SCHEDULE_CATCH_UP_MAX)]),
    /** One of these two says what. */
    workflow: text.optional(),
    document: z.string().min(1).max(limits.DOCUMENT_BYTES_MAX).optional(),
    /** One of these two says with what: what is sealed is under the key of a subject. */
    input: z.json().optional(),
    sealed: z
      .string()
      .min(1)
      .max(limits.SCHEDULE_SEALED_LENGTH_MAX)
      .refine(isEncryptedText)
      .optional(),
    tags: z.array(text).max(limits.RUN_TAGS_MAX).optional(),
    queue: queue.optional()
  })
  const isOne = ({ input, sealed }: { input?: unknown; sealed?: unknown }) =>
    (input === undefined) !== (sealed === undefined)
  return z.strictObject({ name: name(), spec: spec.refine(isOne) })
})

function isEncryptedText(text: string): boolean {
  return subjectOfText(text) !== undefined
}

const named = lazySchema((z) => z.strictObject({ name: name() }))

/**
 * `system.schedule`: `{ name, spec }`, worked out by the runtime. Another one under the name takes
 * its place; what fell due before is not begun any more.
 */
export function keepSchedule(work: SystemWork): Json {
  const { port, by, at } = work
  const { name: own, spec } = payloadOf(work, schedule())
  const key = SCHEDULES_PREFIX + own
  const before = recordedState(port).get(key)
  const entry = { at, by: { id: by.id, kind: by.kind }, from: port.at, spec }
  // Its members are plain JSON: it was parsed from the payload.
  port.write(key, entry as unknown as JsonObject)
  return { name: own, replaced: before !== undefined }
}

/** `system.schedule.pause`: `{ name }`; runs that have begun continue. */
export function pauseSchedule(work: SystemWork): Json {
  const { entry, key, own } = known(work)
  work.port.write(key, { ...entry, isPaused: true })
  return { name: own, isPaused: true }
}

/** `system.schedule.resume`: `{ name }`; what fell due while it was paused is left out. */
export function resumeSchedule(work: SystemWork): Json {
  const { entry, key, own } = known(work)
  const { isPaused: _, ...rest } = entry
  work.port.write(key, { ...rest, from: work.port.at })
  return { name: own, isPaused: false }
}

/** `system.schedule.remove`: `{ name }`; runs that have begun continue. */
export function removeSchedule(work: SystemWork): Json {
  const { key, own } = known(work)
  work.port.write(key, undefined)
  return { name: own }
}

function known(work: SystemWork): {
  readonly entry: JsonObject
  readonly key: string
  readonly own: string
} {
  const { name: own } = payloadOf(work, named())
  const key = SCHEDULES_PREFIX + own
  const entry = recordedState(work.port).get(key) ?? null
  if (isJsonObject(entry)) return { entry, key, own }
  const problem = 'no schedule has this name'
  return work.port.fail('not_scheduled', { name: own, problem })
}
