import { type Clock, limits, systemClock } from '../../core/index.js'

/**
 * The time that turns and tools of runs have worked, until a turn takes it into its result
 * (semantics.md A7). Waits, retries that are due later, and the time without a process are in none
 * of it.
 *
 * Owns: what this process has measured and no turn has taken. A crash loses it: work is counted too
 * short then, never too long.
 */
export class RunWork {
  readonly #clock: Clock
  readonly #ms = new Map<string, number>()

  constructor(clock: Clock = systemClock) {
    this.#clock = clock
  }

  /** Does something for a run and counts how long it takes, however it ends. */
  async measure<Result>(
    runId: string | undefined,
    act: () => Promise<Result> | Result
  ): Promise<Result> {
    const began = this.#clock.now()
    try {
      return await act()
    } finally {
      if (runId !== undefined) this.#add(runId, Math.max(0, this.#clock.now() - began))
    }
  }

  /** The milliseconds since the last time that they were taken. */
  take(runId: string): number {
    const ms = this.#ms.get(runId) ?? 0
    this.#ms.delete(runId)
    return ms
  }

  #add(runId: string, ms: number): void {
    const sum = (this.#ms.get(runId) ?? 0) + ms
    this.#ms.delete(runId)
    this.#ms.set(runId, sum)
    const [oldest] = this.#ms.keys()
    if (this.#ms.size > limits.CACHE_ENTRIES_MAX && oldest !== undefined) this.#ms.delete(oldest)
  }
}
