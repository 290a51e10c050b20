import { limits, systemClock, testingError } from '../../core/index.js'

/** One promise of a port, as a check that rejects when a driver breaks it. */
export interface ConformanceCheck<Driver> {
  /** Begins with the invariant that it stands for, where the port numbers them. */
  readonly name: string
  /** Closes what it has opened, however it ends. */
  run(driver: Driver, options?: ConformanceOptions): Promise<void>
}

/** Bounds of a conformance suite. */
export interface ConformanceOptions {
  /**
   * A driver that has not answered by then fails as `testing.no_answer`; closing what is open has
   * the same time again. Default `CONFORMANCE_MS_DEFAULT`. A driver that never gives up the thread
   * cannot be ended.
   */
  readonly deadlineMs?: number
}

/** What one run of a check has opened. */
export class Opened {
  #closers: (() => unknown)[] = []
  #isOver = false

  /** Calls `close` when the check ends; at once, where it has ended already. */
  onEnd(close: () => unknown): void {
    if (!this.#isOver) this.#closers.push(close)
    // The check has failed for being late, and tells that.
    else void ignored(async () => close())
  }

  /** Closes all, the last one first; rejects with the first failure. */
  async close(): Promise<void> {
    this.#isOver = true
    const failures: unknown[] = []
    for (const close of this.#closers.splice(0).reverse()) {
      try {
        await close()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}

/** Runs a check in its time. */
export async function runCheck(
  check: string,
  { deadlineMs = limits.CONFORMANCE_MS_DEFAULT }: ConformanceOptions,
  act: (opened: Opened) => Promise<void>
): Promise<void> {
  const opened = new Opened()
  const close = () => inTime(check, deadlineMs, () => opened.close())
  try {
    await inTime(check, deadlineMs, () => act(opened))
  } catch (error) {
    await ignored(close)
    throw error
  }
  await close()
}

async function inTime(check: string, ms: number, act: () => Promise<void>): Promise<void> {
  let callOff = () => {}
  const late = new Promise<never>((_, reject) => {
    callOff = systemClock.schedule(systemClock.now() + ms, () =>
      reject(testingError('testing.no_answer', { check, ms }))
    )
  })
  try {
    await Promise.race([act(), late])
  } finally {
    callOff()
  }
}

/** For what must not hide an earlier failure. */
export async function ignored(act: () => Promise<unknown>): Promise<void> {
  try {
    await act()
  } catch {
    // The earlier failure is reported.
  }
}
