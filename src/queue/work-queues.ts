import { type Clock, limits, type RunId } from '../core/index.js'
import { type HeldLimits, heldLimits, type QueueTerms } from './terms.js'
import { type AskedTurn, type QueuePlace, WorkQueue } from './work-queue.js'

/** What waits in queues: whole runs, or the effects of runs. */
export type QueueOf = 'runs' | 'effects'

/** Of which run something waits, and what of it. */
export interface QueuedWork {
  readonly runId: RunId
  /** Path of the step, and the effect; null: the run itself. */
  readonly path: string | null
  readonly effect: string | null
}

/** One queue, as it is shown. */
export interface QueueShown {
  readonly name: string
  /** Null: nothing has asked it for a turn yet. */
  readonly of: QueueOf | null
  readonly limits: HeldLimits
  readonly running: number
  readonly waiting: number
  /** When the rate gives the next turn, or null where that is not waited for. */
  readonly nextAt: number | null
  /** Those that have their turn, then those that wait, oldest first. */
  readonly work: Iterable<ShownWork>
}

export interface ShownWork extends QueuedWork, Omit<AskedTurn, 'admitted'> {
  readonly isRunning: boolean
}

type Asked = AskedTurn & QueuedWork

/**
 * The queues of a runtime, by name. Runs have their turn from their first step to their end,
 * effects while they are performed. The two are counted apart, also under one name: a run with its
 * turn waits for turns of its effects, and nothing with the turn of an effect waits for a run.
 *
 * Owns: the queues. Does not own: what is declared, and where the times of rates are kept.
 *
 * - Q9 No cycle: an effect that has its turn is being performed, and waits for no turn, no
 *   reservation (L10) and no commit.
 */
export class WorkQueues {
  readonly #clock: Clock
  readonly #declared: Map<string, HeldLimits>
  readonly #rates: RateTimes | undefined
  readonly #queues = { runs: new Map<string, WorkQueue>(), effects: new Map<string, WorkQueue>() }
  #isHeld = false

  constructor(
    clock: Clock,
    declared: ReadonlyMap<string, HeldLimits> = new Map(),
    rates?: RateTimes
  ) {
    this.#clock = clock
    this.#declared = new Map(declared)
    this.#rates = rates
  }

  isDeclared(name: string): boolean {
    return this.#declared.has(name)
  }

  /** Says what holds for a queue that nothing has used yet. */
  declare(name: string, held: HeldLimits): void {
    this.#declared.set(name, held)
  }

  /** Asks for a turn. */
  enter(of: QueueOf, { name, priority = 0, partition = '' }: QueueTerms, work: Work): QueuePlace {
    const { runId, path, effect, since, admitted } = work
    // Written out: every effect asks for a turn, and a spread takes longer than the rest of it.
    const asked: Asked = { runId, path, effect, since, admitted, priority, partition }
    return this.#queue(of, name).enter(asked)
  }

  /** Takes the turn of a run that has begun before. */
  take(of: QueueOf, { name, priority = 0, partition = '' }: QueueTerms, work: Work): QueuePlace {
    const asked: Asked = { ...work, priority, partition }
    return this.#queue(of, name).take(asked)
  }

  /** Gives no turn before {@link open}. */
  hold(): void {
    this.#isHeld = true
    for (const queue of this.#all()) queue.hold()
  }

  open(): void {
    this.#isHeld = false
    for (const queue of this.#all()) queue.open()
  }

  close(): void {
    this.#isHeld = true
    for (const queue of this.#all()) queue.close()
  }

  /** All that are declared or were used, by name. */
  shown(): readonly QueueShown[] {
    const found: QueueShown[] = []
    for (const of of ['runs', 'effects'] as const) {
      for (const [name, queue] of this.#queues[of]) found.push(shownQueue(name, of, queue))
    }
    const used = new Set(found.map(({ name }) => name))
    for (const [name, held] of this.#declared) {
      if (used.has(name)) continue
      found.push(shownQueue(name, null, new WorkQueue({ limits: held, clock: this.#clock })))
    }
    return found.sort((one, other) => (one.name < other.name ? -1 : Number(one.name > other.name)))
  }

  /** Effects have any number of names; of a queue that nothing is in there is nothing to know. */
  #forgetIdle(all: Map<string, WorkQueue>): void {
    for (const [name, { running, waiting, limits: held }] of all) {
      if (running + waiting === 0 && held.rate === undefined) all.delete(name)
    }
  }

  #all(): readonly WorkQueue[] {
    return [...this.#queues.runs.values(), ...this.#queues.effects.values()]
  }

  #queue(of: QueueOf, name: string): WorkQueue {
    const known = this.#queues[of].get(name)
    if (known !== undefined) return known
    const held = this.#declared.get(name) ?? defaultLimits()
    const key = `${of} ${name}`
    const rates = held.rate === undefined ? undefined : this.#rates
    const made = new WorkQueue({
      limits: held,
      clock: this.#clock,
      ...(rates === undefined
        ? {}
        : { times: rates.timesOf(key), begun: (at: number) => rates.begun(key, at) })
    })
    if (this.#isHeld) made.hold()
    const all = this.#queues[of]
    if (all.size >= limits.CACHE_ENTRIES_MAX) this.#forgetIdle(all)
    all.set(name, made)
    return made
  }
}

type Work = Pick<AskedTurn, 'since' | 'admitted'> & QueuedWork

/** Where the last turns of queues with a rate are kept, so that a restart begins none too early. */
export interface RateTimes {
  timesOf(queue: string): readonly number[]
  begun(queue: string, at: number): void
}

function defaultLimits(): HeldLimits {
  const held = heldLimits({})
  // The defaults are within their own bounds.
  return held as HeldLimits
}

function shownQueue(name: string, of: QueueOf | null, queue: WorkQueue): QueueShown {
  const { running, waiting, nextAt, limits: held } = queue
  return { name, of, limits: held, running, waiting, nextAt, work: shownWork(queue) }
}

function* shownWork(queue: WorkQueue): Generator<ShownWork> {
  for (const { asked, isAdmitted } of queue.places()) {
    // Every place of these queues was entered by {@link WorkQueues}.
    const { runId, path, effect, priority, partition, since } = asked as Asked
    yield { runId, path, effect, priority, partition, since, isRunning: isAdmitted }
  }
}
