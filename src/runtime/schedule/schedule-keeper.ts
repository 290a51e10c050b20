import { canonicalize, type Json, type JsonObject, runtimeError } from '../../core/index.js'
import { doneReply, type IntentReply, SCHEDULES_PREFIX } from '../../intent/index.js'
import { type HeldLimits, heldLimits } from '../../queue/index.js'
import { refusal } from '../gate/refusal.js'
import type { ScheduleOptions } from './schedule-options.js'
import type { Scheduler, SchedulerParts } from './scheduler.js'

export interface ScheduleKeeperParts extends SchedulerParts {
  /** Has an intent of the owner done. */
  intent(action: string, payload: JsonObject): Promise<IntentReply>
}

/**
 * The schedules of a runtime: registered by receipts of the owner, and begun where the runtime goes
 * on with what was interrupted. What reads times and zones is loaded with the first schedule.
 *
 * Owns: the scheduler, once there is one.
 */
export class ScheduleKeeper {
  readonly #parts: ScheduleKeeperParts
  #scheduler: Scheduler | undefined
  #begins = false
  /** Of those that the program gives, the ones whose subject was erased. */
  readonly #erased = new Set<string>()

  constructor(parts: ScheduleKeeperParts) {
    this.#parts = parts
  }

  /** Before runs are resumed: those that wait for an earlier one of theirs go on waiting. */
  async prepare(): Promise<void> {
    const { ledger, runs } = this.#parts
    if ((await ledger.list(SCHEDULES_PREFIX)).length === 0) return
    const { registeredSchedules, tagOf } = await import('./spec.js')
    for (const { name, spec } of await registeredSchedules(ledger)) {
      if (spec.overlap === 'queue') runs.queues.declare(tagOf(name), oneAtOnce())
    }
  }

  /** Registers what the program says, and begins what falls due from now on. */
  async begin(given: readonly ScheduleOptions[]): Promise<void> {
    for (const schedule of given) {
      const reply = await this.add(schedule)
      if (reply.type !== 'error') continue
      if (reply.reason === 'subject_erased') {
        // Whom a program still names may have been erased: it opens all the same.
        this.#erased.add(schedule.name)
        continue
      }
      const problem = reply.message
      throw runtimeError('runtime.invalid_schedule', { name: schedule.name, problem })
    }
    this.#begins = true
    await this.changed()
  }

  /** Registers a schedule; one that is there as it is leaves no receipt. */
  async add(given: ScheduleOptions): Promise<IntentReply> {
    const { ledger, documents } = this.#parts
    const { heldSchedule, registeredSchedules, sealedSchedule } = await import('./spec.js')
    const { name, subject } = given
    const held = heldSchedule(given)
    if (subject !== undefined && ledger.subjects.isErased(ledger.subjects.idOf(subject))) {
      return refusal(name as never, 'system.schedule', 'subject_erased', { problem: ERASED })
    }
    if (subject !== undefined) await ledger.subjects.begin(subject)
    const spec =
      subject === undefined ? held : sealedSchedule(ledger, name, { subject, spec: held })
    const known = (await registeredSchedules(ledger)).find((one) => one.name === name)
    const specJson = spec as unknown as JsonObject
    if (
      known !== undefined &&
      canonicalize(known.spec as unknown as Json) === canonicalize(specJson)
    ) {
      const result = { name, replaced: false }
      return doneReply({ id: name as never, dappId: 'kernel', receipt: null, result })
    }
    const prepared =
      spec.workflow === undefined
        ? await documents.prepare(spec.document ?? '')
        : documents.prepareWorkflow(spec.workflow)
    if (!prepared.ok) {
      const problem = prepared.diagnostics[0]?.message ?? 'the document is not valid'
      return refusal(name as never, 'system.schedule', 'invalid_document', { problem })
    }
    return this.#parts.intent('system.schedule', { name, spec: specJson })
  }

  /** After a receipt that has changed a schedule. */
  async changed(): Promise<void> {
    if (!this.#begins) return
    if (this.#scheduler !== undefined) return this.#scheduler.refresh()
    if ((await this.#parts.ledger.list(SCHEDULES_PREFIX)).length === 0) return
    const { Scheduler } = await import('./scheduler.js')
    if (this.#scheduler !== undefined) return this.changed()
    this.#scheduler = new Scheduler(this.#parts)
    await this.#scheduler.begin()
  }

  problemOf(name: string): string | null {
    return this.#scheduler?.conditionOf(name).problem ?? null
  }

  warnings(): readonly string[] {
    const untold = [...this.#erased].filter((name) => this.problemOf(name) === null)
    const erased = untold.map((name) => `schedule ${name}: ${ERASED}`)
    return [...(this.#scheduler?.warnings() ?? []), ...erased]
  }

  close(): void {
    this.#begins = false
    this.#scheduler?.close()
  }
}

/** The schedules of a runtime. */
export function scheduleKeeperOf(
  runtime: {
    readonly ledger: SchedulerParts['ledger']
    readonly registry: { readonly documents: SchedulerParts['documents'] }
    readonly runsOf: SchedulerParts['runs']
    intent(asked: { readonly action: string; readonly payload: JsonObject }): Promise<IntentReply>
  },
  clock: SchedulerParts['clock']
): ScheduleKeeper {
  const { ledger, registry, runsOf: runs } = runtime
  return new ScheduleKeeper({
    ...{ ledger, documents: registry.documents, runs, clock },
    intent: (action, payload) => runtime.intent({ action, payload })
  })
}

const ERASED = 'its subject was erased: it begins nothing'

function oneAtOnce(): HeldLimits {
  // One is within its bounds.
  return heldLimits({ concurrency: 1 }) as HeldLimits
}
