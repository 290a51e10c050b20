import { type Clock, limits } from '../core/index.js'
import { type Aged, AgedList } from './aged-list.js'
import type { HeldLimits } from './terms.js'

/** Work that asks for its turn. */
export interface AskedTurn {
  /** Higher ones come first. */
  readonly priority: number
  /** Empty: that of all that name none. */
  readonly partition: string
  /** When it began to wait, milliseconds: what waited before a restart comes in its old order. */
  readonly since: number
  /** Its turn has come: called later than by `enter`, whose place says so itself. */
  admitted(): void
}

/** A place in a queue: waiting, then with its turn, until it leaves. */
export interface QueuePlace {
  readonly isAdmitted: boolean
  /** Gives its turn back, or waits no more. Later calls change nothing. */
  leave(): void
}

/**
 * One queue: what has its turn, and what waits for one.
 *
 * Owns: places, and when the last turns of a rate were given. Does not own: what is done. It is
 * scheduling alone: nothing of it is recorded with what is done, and a replay asks no queue.
 *
 * - Q6 No more have their turn at once than `concurrency`, of one partition `partitionConcurrency`.
 * - Q7 In any span of `rate.perMs`, no more than `rate.limit` turns begin.
 * - Q8 All that waits gets a turn: of {@link limits.QUEUE_OLDEST_EVERY} that begin, one is that of
 *   the oldest that may have one. The others go by priority, then by partitions in turn, then by
 *   age.
 */
export class WorkQueue {
  readonly limits: HeldLimits
  readonly #clock: Clock
  readonly #begun: ((at: number) => void) | undefined
  readonly #times: number[]
  /** By priority, highest first. */
  #levels: Level[] = []
  readonly #oldest = new AgedList<Place>()
  readonly #running = new Set<Place>()
  readonly #ofPartition = new Map<string, number>()
  #waiting = 0
  #gone = 0
  #order = 0
  #untilOldest: number = limits.QUEUE_OLDEST_EVERY
  #isHeld = false
  #isAdmitting = false
  #entering: Place | undefined
  #callOff: (() => void) | undefined

  /** `times` are those of earlier turns, `begun` keeps those of new ones: where there is a rate. */
  constructor(options: {
    readonly limits: HeldLimits
    readonly clock: Clock
    readonly times?: readonly number[]
    readonly begun?: (at: number) => void
  }) {
    const { times = [], clock } = options
    this.limits = options.limits
    this.#clock = clock
    this.#begun = options.begun
    const most = this.limits.rate?.limit ?? 0
    // A clock that was set back makes none of them later than now.
    const now = clock.now()
    this.#times = most === 0 ? [] : times.slice(-most).map((at) => Math.min(at, now))
  }

  get running(): number {
    return this.#running.size
  }

  get waiting(): number {
    return this.#waiting
  }

  /** No turn comes until {@link open}: those that waited before are still being found. */
  hold(): void {
    this.#isHeld = true
  }

  open(): void {
    this.#isHeld = false
    this.#admit()
  }

  /** Takes a place; it has its turn at once where nothing stands in the way. */
  enter(asked: AskedTurn): QueuePlace {
    const place = new Place(asked, this.#nextOrder(), (one) => this.#left(one))
    const now = this.#clock.now()
    if (this.#waiting === 0 && this.#mayBegin(now) && this.#hasRoom(asked.partition)) {
      this.#begin(place)
      return place
    }
    this.#wait(place)
    this.#entering = place
    this.#admit()
    this.#entering = undefined
    return place
  }

  /** Takes its turn, whatever the limits say: it has begun before. */
  take(asked: AskedTurn): QueuePlace {
    const place = new Place(asked, this.#nextOrder(), (one) => this.#left(one))
    this.#run(place)
    return place
  }

  /** Those that have their turn, then those that wait, oldest first. */
  *places(): Generator<{ readonly asked: AskedTurn; readonly isAdmitted: boolean }> {
    yield* this.#running
    yield* this.#oldest
  }

  /** When the next turn of the rate comes, where that is what is waited for. */
  get nextAt(): number | null {
    return this.#waiting > 0 && this.#callOff !== undefined ? this.#readyAt() : null
  }

  close(): void {
    this.#isHeld = true
    this.#callOff?.()
    this.#callOff = undefined
  }

  #nextOrder(): number {
    this.#order += 1
    return this.#order
  }

  #wait(place: Place): void {
    const { priority } = place.asked
    let level = this.#levels.find((one) => one.priority === priority)
    if (level === undefined) {
      level = new Level(priority)
      this.#levels = [...this.#levels, level].sort((one, other) => other.priority - one.priority)
    }
    level.add(place)
    this.#oldest.add(place)
    this.#waiting += 1
  }

  /** Gives turns to as many as may have one. */
  #admit(): void {
    if (this.#isAdmitting) return
    this.#isAdmitting = true
    let now = this.#clock.now()
    try {
      while (this.#waiting > 0 && this.#mayBegin(now)) {
        const place = this.#next()
        if (place === undefined) break
        place.isWaiting = false
        this.#waiting -= 1
        this.#begin(place)
        // The caller of `enter` sees it by the place that it gets.
        if (place !== this.#entering) place.asked.admitted()
        now = this.#clock.now()
      }
    } finally {
      this.#isAdmitting = false
    }
    this.#watchRate(now)
  }

  #mayBegin(now: number): boolean {
    if (this.#isHeld || this.#running.size >= this.limits.concurrency) return false
    return this.#readyAt() <= now
  }

  #hasRoom(partition: string): boolean {
    return (this.#ofPartition.get(partition) ?? 0) < this.limits.partitionConcurrency
  }

  #readyAt(): number {
    const { rate } = this.limits
    const first = rate === undefined ? undefined : this.#times[this.#times.length - rate.limit]
    return first === undefined ? Number.NEGATIVE_INFINITY : first + (rate?.perMs ?? 0)
  }

  /** `now`: when nothing could begin. By a later time a turn may have come that nothing takes. */
  #watchRate(now: number): void {
    this.#callOff?.()
    this.#callOff = undefined
    if (this.#isHeld || this.#waiting === 0) return
    if (this.#running.size >= this.limits.concurrency) return
    const at = this.#readyAt()
    // What waits for a place of its partition is admitted when one leaves.
    if (at <= now) return
    this.#callOff = this.#clock.schedule(at, () => {
      this.#callOff = undefined
      this.#admit()
    })
  }

  #next(): Place | undefined {
    if (this.#untilOldest <= 1) {
      let lookedAt = 0
      for (const place of this.#oldest) {
        if (this.#hasRoom(place.asked.partition)) return place
        lookedAt += 1
        if (lookedAt === OLDEST_LOOKED_AT_MAX) break
      }
    }
    for (const level of this.#levels) {
      const place = level.next((partition) => this.#hasRoom(partition))
      if (place !== undefined) return place
    }
    this.#levels = this.#levels.filter((level) => !level.isEmpty)
    return undefined
  }

  #begin(place: Place): void {
    this.#untilOldest = this.#untilOldest <= 1 ? limits.QUEUE_OLDEST_EVERY : this.#untilOldest - 1
    const { rate } = this.limits
    if (rate !== undefined) {
      const at = this.#clock.now()
      this.#times.push(at)
      if (this.#times.length > rate.limit * 2) this.#times.splice(0, rate.limit)
      this.#begun?.(at)
    }
    this.#run(place)
  }

  #run(place: Place): void {
    const { partition } = place.asked
    place.isAdmitted = true
    this.#running.add(place)
    this.#ofPartition.set(partition, (this.#ofPartition.get(partition) ?? 0) + 1)
  }

  #left(place: Place): void {
    const { partition } = place.asked
    if (place.isAdmitted) {
      this.#running.delete(place)
      const left = (this.#ofPartition.get(partition) ?? 1) - 1
      if (left === 0) this.#ofPartition.delete(partition)
      else this.#ofPartition.set(partition, left)
      for (const level of this.#levels) level.unblock(partition)
    } else {
      this.#waiting -= 1
      this.#gone += 1
      if (this.#gone > this.#waiting + GONE_KEPT) this.#compact()
    }
    this.#admit()
  }

  #compact(): void {
    this.#gone = 0
    this.#oldest.compact()
    for (const level of this.#levels) level.compact()
  }
}

/** How many of the oldest are looked at, when those before them wait for their partition. */
const OLDEST_LOOKED_AT_MAX = 64
/** How many that have left may stand among those that wait. */
const GONE_KEPT = 64

class Place implements QueuePlace, Aged {
  readonly asked: AskedTurn
  readonly order: number
  isAdmitted = false
  isWaiting = true
  #hasLeft = false
  readonly #left: (place: Place) => void

  constructor(asked: AskedTurn, order: number, left: (place: Place) => void) {
    this.asked = asked
    this.order = order
    this.#left = left
  }

  get since(): number {
    return this.asked.since
  }

  get isGone(): boolean {
    return this.#hasLeft || !this.isWaiting
  }

  leave(): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.#left(this)
  }
}

/** Those of one priority: their partitions take turns. */
class Level {
  readonly priority: number
  /** In the order of their turns. */
  readonly #ready = new Map<string, AgedList<Place>>()
  /** As much of these is done as may be. */
  readonly #full = new Map<string, AgedList<Place>>()

  constructor(priority: number) {
    this.priority = priority
  }

  get isEmpty(): boolean {
    return this.#ready.size === 0 && this.#full.size === 0
  }

  add(place: Place): void {
    const { partition } = place.asked
    const known = this.#ready.get(partition) ?? this.#full.get(partition)
    const list = known ?? new AgedList<Place>()
    if (known === undefined) this.#ready.set(partition, list)
    list.add(place)
  }

  next(hasRoom: (partition: string) => boolean): Place | undefined {
    for (const [partition, list] of this.#ready) {
      this.#ready.delete(partition)
      const place = list.first()
      if (place === undefined) continue
      if (!hasRoom(partition)) {
        this.#full.set(partition, list)
        continue
      }
      // Behind the others: it is the last to have had a turn.
      this.#ready.set(partition, list)
      return place
    }
    return undefined
  }

  unblock(partition: string): void {
    const list = this.#full.get(partition)
    if (list === undefined) return
    this.#full.delete(partition)
    this.#ready.set(partition, list)
  }

  compact(): void {
    for (const list of [...this.#ready.values(), ...this.#full.values()]) list.compact()
  }
}
