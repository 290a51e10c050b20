import { Session } from 'node:inspector'

/**
 * Counts how often the blocks of all loaded code are executed: work as a number that does not
 * depend on the machine. What engines do inside one call, as searching a text, is not seen.
 */
export class OperationCount {
  readonly #session = new Session()

  constructor() {
    this.#session.connect()
    this.#session.post('Profiler.enable')
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  /** Blocks that were executed since the last time. */
  take(): number {
    let count = 0
    this.#session.post('Profiler.takePreciseCoverage', (error, taken) => {
      if (error !== null) throw error
      for (const { functions } of taken.result) {
        for (const { ranges } of functions) for (const range of ranges) count += range.count
      }
    })
    return count
  }

  [Symbol.dispose](): void {
    this.#session.post('Profiler.stopPreciseCoverage')
    this.#session.disconnect()
  }
}
