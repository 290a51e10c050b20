import {
  type Clock,
  ManualClock,
  nextTurn,
  SteadyClock,
  systemTime,
  type TallyError,
  type Timed,
  type TimeSource,
  testingError
} from '../core/index.js'

/** Where a fake clock begins, and which timers it takes over. */
export interface FakeClockOptions {
  /** Where it begins, milliseconds since 1970-01-01 UTC. Default: 2023-11-14 22:13:20. */
  readonly at?: number
  /**
   * Moves the fake timers that have replaced `Date`, `setTimeout` and `clearTimeout`, by whole
   * milliseconds. Time is theirs then: `at` counts for nothing, and they set the wall clock.
   */
  readonly timers?: (ms: number) => unknown
}

/** What may hold time back. */
export interface SettleOptions {
  /**
   * `wait` (default): no time passes while an effect is under way. `pass`: it passes, for effects
   * that are to time out or that wait for this clock; those that answer at once still come first.
   */
  readonly effects?: 'wait' | 'pass'
}

/**
 * A clock for runtimes under test, which moves when it is told to. It is the clock of the runtime
 * itself over time that is made up: set its wall clock back, and sleeps still end in their time.
 * Stores, signing and threads stay real; before time passes, it waits until every runtime with this
 * clock waits for time, for a person, or for nothing.
 *
 * Owns: its time, and who goes by it. One `advance` at a time.
 *
 * @example
 * const clock = new FakeClock()
 * const tally = await createRuntime({ location: 'memory:', clock, blocks })
 * const run = tally.begin(document)
 * await clock.advance(3_600_000)
 */
export class FakeClock implements Clock {
  readonly #time: FakeTime
  readonly #steady: SteadyClock
  readonly #attached = new Set<Timed>()

  constructor({ at, timers }: FakeClockOptions = {}) {
    this.#time = timers === undefined ? new MadeUpTime(at) : new TimeOfTimers(timers)
    this.#steady = new SteadyClock(this.#time)
  }

  now(): number {
    return this.#steady.now()
  }

  schedule(at: number, due: () => void): () => void {
    return this.#steady.schedule(at, due)
  }

  attach(timed: Timed): () => void {
    this.#attached.add(timed)
    return () => void this.#attached.delete(timed)
  }

  /**
   * Sets the wall clock, forward or back, while no time passes: sleeps that are under way still
   * end in their time. Throws `testing.clock_invalid`.
   */
  setWall(at: number): void {
    if (!Number.isSafeInteger(at)) throw invalid(`${at} is no time`)
    this.#time.setWall(at)
  }

  /**
   * Lets time pass: from one due time to the next, what falls due wakes, and what that begins
   * settles before time passes again. Rejects with `testing.clock_busy`.
   */
  async advance(ms: number, { effects = 'wait' }: SettleOptions = {}): Promise<void> {
    if (!Number.isSafeInteger(ms) || ms < 0) throw invalid(`${ms} ms cannot pass`)
    const time = this.#time
    const end = time.monotonic() + ms
    for (let wakes = 0; wakes <= WAKES_MAX; wakes += 1) {
      await this.#rest(effects)
      const { nextDue } = time
      const isDue = nextDue !== undefined && nextDue <= end
      // What is due at its end has fallen due before it ends.
      if (!isDue && time.monotonic() === end) return
      time.tick(Math.max(0, (isDue ? nextDue : end) - time.monotonic()))
    }
    throw busy(`more than ${WAKES_MAX} times fell due in ${ms} ms`)
  }

  /**
   * Resolves when every runtime with this clock is at rest, without any time passing: what is due
   * by now wakes. Rejects with `testing.clock_busy`.
   */
  settle(options: SettleOptions = {}): Promise<void> {
    return this.advance(0, options)
  }

  async #rest(effects: 'wait' | 'pass'): Promise<void> {
    let quiet = 0
    for (let turn = 0; turn < TURNS_MAX; turn += 1) {
      if (quiet === QUIET_TURNS) return
      await nextTurn()
      quiet = this.#isBusy(effects) ? 0 : quiet + 1
    }
    const isBusy = this.#isBusy('pass')
    throw busy(isBusy ? 'a runtime does not settle' : 'an effect is under way and has no answer')
  }

  #isBusy(effects: 'wait' | 'pass'): boolean {
    for (const { busyWith } of this.#attached) {
      if (busyWith === 'itself' || (busyWith === 'effects' && effects === 'wait')) return true
    }
    return false
  }
}

/** Turns of the loop for which runs may settle, and due times of one advance. */
const TURNS_MAX = 1_000_000
export const WAKES_MAX = 100_000
/** Turns for code of the test that hears of a result, and begins something. */
const QUIET_TURNS = 4

/** Time that a test moves. */
interface FakeTime extends TimeSource {
  /** When the next timer is due, in monotonic time. */
  readonly nextDue: number | undefined
  tick(ms: number): void
  setWall(at: number): void
}

class MadeUpTime implements FakeTime {
  readonly #clock: ManualClock
  #wallAheadMs = 0

  constructor(at: number | undefined) {
    if (at !== undefined && !Number.isSafeInteger(at)) throw invalid(`${at} is no time`)
    this.#clock = new ManualClock(at)
  }

  get nextDue(): number | undefined {
    return this.#clock.nextDue
  }

  wall(): number {
    return this.#clock.now() + this.#wallAheadMs
  }

  monotonic(): number {
    return this.#clock.now()
  }

  timer(delayMs: number, due: () => void): () => void {
    return this.#clock.schedule(this.#clock.now() + delayMs, due)
  }

  tick(ms: number): void {
    this.#clock.advance(ms)
  }

  setWall(at: number): void {
    this.#wallAheadMs = at - this.#clock.now()
  }
}

/** The fake timers of a test runner: monotonic time is what this clock has moved them by. */
class TimeOfTimers implements FakeTime {
  readonly #move: (ms: number) => unknown
  readonly #dues = new Set<{ readonly at: number }>()
  #movedMs = 0

  constructor(move: (ms: number) => unknown) {
    this.#move = move
  }

  get nextDue(): number | undefined {
    let next: number | undefined
    for (const { at } of this.#dues) if (next === undefined || at < next) next = at
    return next
  }

  wall(): number {
    return systemTime.wall()
  }

  monotonic(): number {
    return this.#movedMs
  }

  timer(delayMs: number, due: () => void): () => void {
    const timer = { at: this.#movedMs + delayMs }
    this.#dues.add(timer)
    const callOff = systemTime.timer(delayMs, () => {
      this.#dues.delete(timer)
      due()
    })
    return () => {
      this.#dues.delete(timer)
      callOff()
    }
  }

  tick(ms: number): void {
    this.#movedMs += ms
    this.#move(ms)
  }

  setWall(): void {
    throw invalid('the wall clock is that of the fake timers')
  }
}

function invalid(problem: string): TallyError {
  return testingError('testing.clock_invalid', { problem })
}

function busy(problem: string): TallyError {
  return testingError('testing.clock_busy', { problem })
}
