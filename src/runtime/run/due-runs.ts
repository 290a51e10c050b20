import { limits } from '../../core/index.js'

/**
 * Runs whose time has come, in the order in which it came. So many are rebuilt from their journals,
 * and do what they can, at once: when thousands fall due together, the first end before the last
 * are read, and memory holds few of them.
 *
 * Owns: those that wait. Does not own: what resuming does.
 */
export class DueRuns {
  readonly #waiting = new Set<() => Promise<void>>()
  #underWay = 0

  /** Resumes one when there is room; gives what takes it back until then. */
  add(resume: () => Promise<void>): () => void {
    this.#waiting.add(resume)
    this.#next()
    return () => void this.#waiting.delete(resume)
  }

  #next(): void {
    for (const resume of this.#waiting) {
      if (this.#underWay >= limits.DUE_RUNS_AT_ONCE_MAX) return
      this.#waiting.delete(resume)
      this.#underWay += 1
      void resume().finally(() => {
        this.#underWay -= 1
        this.#next()
      })
    }
  }
}
