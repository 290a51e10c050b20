import fc from 'fast-check'
import { expect, it } from 'vitest'
import { limits, ManualClock } from '../../src/core/index.js'
import { heldLimits, type QueueLimits } from '../../src/queue/index.js'
import { type QueuePlace, WorkQueue } from '../../src/queue/work-queue.js'
import { cases } from '../support/effort.js'

/** Q6, Q7, Q8: what a queue promises, over anything that is asked of it. */

interface Work {
  readonly partition: string
  readonly priority: number
  /** Turns that had begun when it asked, and how many stood before it. */
  readonly asked: { readonly begun: number; readonly waiting: number }
  place: QueuePlace | undefined
  begunAt: number | undefined
  isOver: boolean
}

/** A queue, and all that has happened to it. */
class Seen {
  readonly clock = new ManualClock(1_000)
  readonly work: Work[] = []
  readonly begun: Work[] = []
  queue: WorkQueue
  readonly #limits: QueueLimits
  /** As a process keeps them beside its ledger. */
  readonly times: number[] = []

  constructor(given: QueueLimits) {
    this.#limits = given
    this.queue = this.#open()
  }

  #open(): WorkQueue {
    const held = heldLimits(this.#limits)
    if ('problem' in held) throw new Error(held.problem)
    const begun = (at: number) => this.times.push(at)
    return new WorkQueue({ limits: held, clock: this.clock, times: this.times, begun })
  }

  get running(): readonly Work[] {
    return this.work.filter(({ begunAt, isOver }) => begunAt !== undefined && !isOver)
  }

  get waiting(): readonly Work[] {
    return this.work.filter(({ begunAt, isOver }) => begunAt === undefined && !isOver)
  }

  ask(partition: string, priority: number): void {
    const asked = { begun: this.begun.length, waiting: this.waiting.length }
    const place = undefined
    const work: Work = { partition, priority, asked, place, begunAt: undefined, isOver: false }
    this.work.push(work)
    this.#enter(work, this.clock.now())
  }

  #enter(work: Work, since: number): void {
    const begins = () => {
      work.begunAt = this.clock.now()
      this.begun.push(work)
    }
    const { partition, priority } = work
    const place = this.queue.enter({ partition, priority, since, admitted: begins })
    work.place = place
    if (place.isAdmitted && work.begunAt === undefined) begins()
  }

  /** The process dies: what had its turn keeps it, what waited is found again in any order. */
  restart(): void {
    this.queue.close()
    this.queue = this.#open()
    this.queue.hold()
    for (const work of this.running) {
      const { partition, priority } = work
      const since = 0
      work.place = this.queue.take({ partition, priority, since, admitted: () => undefined })
    }
    const found = this.waiting.map((work, order) => ({ work, order })).reverse()
    for (const { work, order } of found) this.#enter(work, order)
    this.queue.open()
  }

  end(work: Work | undefined): void {
    if (work === undefined) return
    work.isOver = true
    work.place?.leave()
  }
}

const step = fc.oneof(
  fc.record({
    kind: fc.constant('ask' as const),
    partition: fc.constantFrom('', 'a', 'b', 'c'),
    priority: fc.integer({ min: -2, max: 2 })
  }),
  fc.record({ kind: fc.constantFrom('end' as const, 'cancel' as const), pick: fc.nat(50) }),
  fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 40 }) }),
  fc.record({ kind: fc.constant('restart' as const) })
)

const given = fc.record({
  concurrency: fc.integer({ min: 1, max: 4 }),
  partitionConcurrency: fc.integer({ min: 1, max: 4 }),
  rate: fc.option(
    fc.record({ limit: fc.integer({ min: 1, max: 3 }), per: fc.integer({ min: 1, max: 50 }) }),
    { nil: undefined }
  )
})

function checkNow(seen: Seen, { concurrency, partitionConcurrency }: Required<QueueLimits>): void {
  const { running } = seen
  expect(running.length).toBeLessThanOrEqual(concurrency)
  for (const partition of new Set(running.map((one) => one.partition))) {
    const own = running.filter((one) => one.partition === partition)
    expect(own.length).toBeLessThanOrEqual(partitionConcurrency)
  }
}

function checkRate(times: readonly number[], limit: number, perMs: number): void {
  for (const [place, at] of times.entries()) {
    const before = times[place - limit]
    if (before !== undefined) expect(at - before).toBeGreaterThanOrEqual(perMs)
  }
}

it('B13, Q6, Q7, Q8: keeps its bounds whatever happens, and everything gets its turn', () => {
  const property = fc.property(given, fc.array(step, { maxLength: 120 }), (asked, steps) => {
    const { rate, ...counts } = asked
    const held = { ...counts, ...(rate === undefined ? {} : { rate }) }
    const seen = new Seen(held)
    for (const one of steps) {
      if (one.kind === 'ask') seen.ask(one.partition, one.priority)
      else if (one.kind === 'pass') seen.clock.advance(one.ms)
      else if (one.kind === 'restart') seen.restart()
      else {
        const among = one.kind === 'end' ? seen.running : seen.waiting
        seen.end(among[one.pick % Math.max(1, among.length)])
      }
      checkNow(seen, held as Required<QueueLimits>)
    }
    for (let left = steps.length * 60; left > 0 && seen.waiting.length > 0; left -= 1) {
      seen.end(seen.running[0])
      seen.clock.advance(1)
      checkNow(seen, held as Required<QueueLimits>)
    }
    expect(seen.waiting).toEqual([])
    if (rate !== undefined) {
      const times = seen.begun.map(({ begunAt = 0 }) => begunAt)
      checkRate(times, rate.limit, rate.per)
    }
  })
  fc.assert(property, { numRuns: cases({ usual: 300, long: 1650, soak: 30_000 }) })
})

it('Q8: passes the oldest over for no longer than is promised', () => {
  const ask = fc.record({
    partition: fc.constantFrom('a', 'b', 'c', 'd'),
    priority: fc.integer({ min: 0, max: 3 })
  })
  const property = fc.property(fc.array(ask, { minLength: 1, maxLength: 60 }), (asked) => {
    const seen = new Seen({ concurrency: 1 })
    for (const { partition, priority } of asked) seen.ask(partition, priority)
    // Others come for ever, and come first by their priority.
    for (let round = 0; round < asked.length * limits.QUEUE_OLDEST_EVERY * 2; round += 1) {
      seen.ask('loud', limits.QUEUE_PRIORITY_MAX)
      seen.end(seen.running[0])
    }
    for (const work of seen.work.slice(0, asked.length)) {
      const passed = seen.begun.indexOf(work) - work.asked.begun
      expect(passed).toBeGreaterThanOrEqual(0)
      expect(passed).toBeLessThanOrEqual((work.asked.waiting + 1) * limits.QUEUE_OLDEST_EVERY)
    }
  })
  fc.assert(property, { numRuns: cases({ usual: 100, long: 550 }) })
})

it('Q8: gives partitions their turns one after the other', () => {
  const seen = new Seen({ concurrency: 1 })
  seen.ask('a', 0)
  for (let count = 0; count < 5; count += 1) seen.ask('a', 0)
  seen.ask('b', 0)
  seen.ask('c', 0)
  for (let count = 0; count < 5; count += 1) seen.end(seen.running[0])
  const order = seen.begun.map(({ partition }) => partition)
  expect(order).toEqual(['a', 'a', 'b', 'c', 'a', 'a'])
})
