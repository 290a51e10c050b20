import {
  type Clock,
  canonicalize,
  type Json,
  limits,
  type RunId,
  type Timed
} from '../../core/index.js'
import type { Ledger, RunRecord } from '../../ledger/index.js'
import { type HeldLimits, heldLimits, type QueueTerms } from '../../queue/index.js'
import type { DocumentCompiler } from '../code/document-compiler.js'
import { isEnded } from '../run/ended.js'
import type { RunEntry } from '../run/run-entry.js'
import type { Runs } from '../run/runs.js'
import {
  begunWith,
  type RegisteredSchedule,
  RUN_PREFIX,
  registeredSchedules,
  registeredTiming,
  runIdAt,
  scheduledRun,
  tagOf
} from './spec.js'
import type { Timing } from './timing.js'

export interface SchedulerParts {
  readonly ledger: Ledger
  readonly documents: DocumentCompiler
  readonly runs: Runs
  readonly clock: Clock
}

/**
 * Begins runs when they fall due.
 *
 * Owns: timers, and which runs of schedules are open. Does not own: what is scheduled, which is
 * state of the ledger, or what has begun, which is its runs: the id of each is made of the schedule
 * and the time, so that the last one says up to where everything was looked at.
 *
 * - Q10 A time begins at most one run, whatever dies between its coming and the record of it, and
 *   however the clock is set: it would be the same run (L6).
 * - Q11 A run begins in the name of the one who has registered the schedule, through the same gate
 *   as any start of theirs (K13, K14).
 */
export class Scheduler implements Timed {
  readonly #parts: SchedulerParts
  readonly #known = new Map<string, ArmedSchedule>()
  readonly #leaveClock: (() => void) | undefined
  #beganAt = 0
  #firing = 0
  #isClosed = false
  #turn: Promise<void> = Promise.resolve()

  constructor(parts: SchedulerParts) {
    this.#parts = parts
    this.#leaveClock = parts.clock.attach?.(this)
  }

  get busyWith(): Timed['busyWith'] {
    return this.#firing > 0 ? 'itself' : undefined
  }

  /** Looks at what is registered and what has begun; what is to be caught up begins behind it. */
  async begin(): Promise<void> {
    this.#beganAt = this.#parts.clock.now()
    const past = await this.#past()
    await this.#read(past)
  }

  /** After a change of what is registered. */
  async refresh(): Promise<void> {
    await this.#read(new Map())
  }

  /** What a schedule has come to, by its name. */
  conditionOf(name: string): { readonly problem: string | null } {
    return { problem: this.#known.get(name)?.problem ?? null }
  }

  /** In words, for `status()`. */
  warnings(): readonly string[] {
    return [...this.#known.values()].flatMap(({ schedule, problem }) =>
      problem === null ? [] : [`schedule ${schedule.name}: ${problem}`]
    )
  }

  /** Begins no more; a start that is under way is refused as any other, and begins elsewhere. */
  close(): void {
    this.#isClosed = true
    for (const armed of this.#known.values()) armed.callOff?.()
    this.#leaveClock?.()
  }

  /** The runs of schedules: the last of each, and those that are open. */
  async #past(): Promise<ReadonlyMap<string, Past>> {
    const past = new Map<string, Past>()
    for await (const record of this.#parts.ledger.runs({ prefix: RUN_PREFIX })) {
      const of = scheduledRun(record.runId)
      if (of === undefined) continue
      const own = past.get(of.name) ?? { last: undefined, open: [] }
      past.set(of.name, own)
      if (own.last === undefined || of.at > own.last.at) own.last = { at: of.at, record }
      if (!isEnded(record)) own.open.push(record.runId)
    }
    return past
  }

  async #read(past: ReadonlyMap<string, Past>): Promise<void> {
    const found = await registeredSchedules(this.#parts.ledger)
    const names = new Set(found.map(({ name }) => name))
    for (const [name, { callOff }] of this.#known) {
      if (names.has(name)) continue
      callOff?.()
      this.#known.delete(name)
    }
    for (const schedule of found) {
      const before = this.#known.get(schedule.name)
      if (before !== undefined && isSame(before.schedule, schedule)) continue
      await this.#take(schedule, before, past.get(schedule.name))
    }
  }

  async #take(
    schedule: RegisteredSchedule,
    before: ArmedSchedule | undefined,
    past: Past | undefined
  ): Promise<void> {
    before?.callOff?.()
    const armed: ArmedSchedule = {
      schedule,
      ...registeredTiming(schedule),
      base: Math.max(schedule.from, before?.base ?? 0, this.#lookedAt(schedule, past)),
      open: before?.open ?? new Set(),
      callOff: undefined
    }
    this.#known.set(schedule.name, armed)
    const { queues } = this.#parts.runs
    if (schedule.spec.overlap === 'queue') queues.declare(tagOf(schedule.name), oneAtOnce())
    for (const runId of past?.open ?? []) this.#watch(armed, await this.#parts.runs.attach(runId))
    if (!schedule.isPaused) this.#due(armed)
  }

  /** Up to when everything that fell due was begun, or was left out by the rule of overlap. */
  #lookedAt({ spec }: RegisteredSchedule, past: Past | undefined): number {
    if (past?.last === undefined) return 0
    const { at, record } = past.last
    if (spec.overlap !== 'skip') return at
    return Math.max(at, isEnded(record) ? record.updatedAt : this.#parts.clock.now())
  }

  /** Begins what has fallen due, and waits for the next. */
  #due(armed: ArmedSchedule): void {
    const { clock } = this.#parts
    const { schedule, timing: times, base } = armed
    const now = clock.now()
    for (const at of this.#chosen(armed, now)) this.#plan(armed, at)
    armed.base = Math.max(base, now)
    const next = times.next(armed.base)
    if (next === undefined || this.#isClosed) return
    armed.callOff = clock.schedule(next, () => {
      if (this.#known.get(schedule.name) === armed) this.#due(armed)
    })
  }

  #chosen({ schedule, timing: times, base }: ArmedSchedule, now: number): readonly number[] {
    const { catchUp } = schedule.spec
    const most = typeof catchUp === 'number' ? catchUp : 1
    const found = times.between(base, now, most)
    return catchUp === 'none' ? found.filter((at) => at >= this.#beganAt) : found
  }

  /** One after the other: what one begins is open for the next. */
  #plan(armed: ArmedSchedule, at: number): void {
    this.#firing += 1
    this.#turn = this.#turn
      .then(() => this.#fire(armed, at))
      .catch((error: unknown) => {
        // What is wrong with one stands in its problem, and keeps no other from its time.
        armed.problem = error instanceof Error ? error.message : String(error)
      })
      .finally(() => {
        this.#firing -= 1
      })
  }

  async #fire(armed: ArmedSchedule, at: number): Promise<void> {
    const { schedule, open } = armed
    const isCurrent = this.#known.get(schedule.name) === armed
    if (this.#isClosed || !isCurrent || schedule.isPaused) return
    const { name, spec } = schedule
    const { overlap } = spec
    if (open.size > 0 && overlap === 'skip') return
    if (open.size >= limits.SCHEDULE_OPEN_MAX) {
      armed.problem = `${open.size} of its runs are open, and it begins no more`
      return
    }
    if (overlap === 'cancel') await this.#cancel(open, schedule)
    const id = runIdAt(name, at) as RunId
    const entry = this.#parts.runs.begin(id, this.#source(schedule), this.#terms(schedule))
    const begun = await entry.begun
    if (begun.refused !== undefined) {
      armed.problem = `its run is refused: ${begun.refused.response.reason ?? 'invalid'}`
      return
    }
    this.#watch(armed, entry)
    await this.#parts.ledger.durable(begun.position)
    armed.problem = null
  }

  async #cancel(open: ReadonlySet<RunId>, { by }: RegisteredSchedule): Promise<void> {
    for (const runId of open) {
      await this.#parts.runs.cancel(runId, 'the next run of its schedule begins', by)
    }
  }

  async #source({ spec }: RegisteredSchedule) {
    const { documents } = this.#parts
    const { workflow, document = '' } = spec
    return workflow === undefined
      ? documents.prepare(document)
      : documents.prepareWorkflow(workflow)
  }

  #terms(schedule: RegisteredSchedule) {
    const { name, by, spec } = schedule
    const { input, tags = [], queue, subject } = begunWith(this.#parts.ledger, schedule)
    const inputs: Json = spec.document !== undefined && input === null ? {} : input
    const own: QueueTerms | undefined = spec.overlap === 'queue' ? { name: tagOf(name) } : queue
    return { inputs, principal: by, tags: [tagOf(name), ...tags], queue: own, subject }
  }

  /** Until a run has ended. */
  #watch({ open }: ArmedSchedule, { runId, result }: RunEntry): void {
    open.add(runId)
    const ended = () => void open.delete(runId)
    result.then(ended, ended)
  }
}

interface Past {
  last: { readonly at: number; readonly record: RunRecord } | undefined
  readonly open: RunId[]
}

/** A schedule, and how far it has come. */
interface ArmedSchedule {
  readonly schedule: RegisteredSchedule
  readonly timing: Timing
  /** What fell due up to then was looked at. */
  base: number
  readonly open: Set<RunId>
  problem: string | null
  callOff: (() => void) | undefined
}

function isSame(one: RegisteredSchedule, other: RegisteredSchedule): boolean {
  // Both are read from the state, and so are plain JSON.
  return canonicalize(one as unknown as Json) === canonicalize(other as unknown as Json)
}

function oneAtOnce(): HeldLimits {
  // One is within its bounds.
  return heldLimits({ concurrency: 1 }) as HeldLimits
}
