import { parseServiceName } from '../../../src/cli/new.js'
import {
  isJsonObject,
  type Json,
  type JsonObject,
  ManualClock,
  parse
} from '../../../src/core/index.js'
import { openMemoryStore } from '../../../src/ledger/index.js'
import { heldLimits, heldTerms } from '../../../src/queue/index.js'
import type { WiredRuntime } from '../../../src/runtime/runtime.js'
import { heldSchedule, timing } from '../../../src/runtime/schedule/spec.js'
import { openOn } from '../../support/lives.js'
import type { FuzzTarget } from '../target.js'

/** What is said of when and where work is done: schedules, queues, and the name of a service. */

const textOf = (input: Buffer) => input.toString('utf8')
const jsonOf = (input: Buffer) => parse(textOf(input)) as never

/** The times to come are asked for: what reads an expression may only then find it wrong. */
function readSchedule(input: Buffer): unknown {
  const spec = heldSchedule(jsonOf(input))
  const { next, between } = timing(spec, 0)
  return { spec, next: next(1_700_000_000_000) ?? null, before: between(0, 1_700_000_000_000, 3) }
}

let scheduling: Promise<WiredRuntime> | undefined
function runtimeOfSchedules(): Promise<WiredRuntime> {
  scheduling ??= (async () => {
    const tally = await openOn(openMemoryStore(), { clock: new ManualClock(1_700_000_000_000) })
    await tally.schedules.begin([])
    return tally
  })()
  return scheduling
}

/** Intents of the owner about schedules: whatever they leave is listed, and begun again. */
async function askSchedules(input: Buffer): Promise<unknown> {
  const asked: Json = parse(textOf(input))
  const { action, payload } = isJsonObject(asked) ? asked : ({} as JsonObject)
  if (typeof action !== 'string' || !action.startsWith('system.schedule')) return null
  const tally = await runtimeOfSchedules()
  const given = { action, ...(payload === undefined ? {} : { payload }) } as never
  const reply = await tally.intent(given)
  await tally.schedules.changed()
  return [reply.type, await tally.queries.schedules()]
}

export async function closeSchedules(): Promise<void> {
  await (await scheduling)?.close()
}

export const workTargets: Readonly<Record<string, FuzzTarget>> = {
  'schedule-options': {
    readers: ['runtime/schedule/spec.ts#heldSchedule'],
    read: readSchedule
  },
  'schedule-calls': { readers: [], isSlow: true, read: askSchedules },
  'queue-terms': {
    readers: ['queue/terms.ts#heldTerms', 'queue/terms.ts#heldLimits'],
    read: (input) => [heldTerms(jsonOf(input)), heldLimits(jsonOf(input))]
  },
  'service-name': {
    readers: ['cli/new.ts#parseServiceName'],
    read: (input) => parseServiceName(textOf(input)),
    write: (name: string) => name
  }
}
