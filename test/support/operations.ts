import { Session } from 'node:inspector'
import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** Set for files that have a process to themselves (`vitest.config.ts`). */
    isAlone?: true
  }
}

/**
 * Counts how often the blocks of all loaded code are executed: work as a number that does not
 * depend on the machine. What engines do inside one call, as searching a text, is not seen, nor is
 * code that was compiled before counting began: a file that counts has a process to itself.
 */
export class OperationCount {
  readonly #session = new Session()

  constructor() {
    if (inject('isAlone') !== true) {
      throw new Error('name this file among those that count operations, in vitest.config.ts')
    }
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
