import { limits } from '../../core/index.js'

/**
 * Runs whose time has come, in the order in which it came. So many are rebuilt from their journals,
 * and do what they can, at once: when thousands fall due together, the first end before the last
 * are read, and memory holds few of them.
 *
 * Owns: those that wait. Does not own: what resuming does.
 */
export class DueRuns {
  /** From `#from` on; those before have begun. */
  #waiting: Waiting[] = []
  #from = 0
  #underWay = 0

  /** Resumes one when there is room; gives what takes it back until then. */
  add(resume: () => Promise<void>): () => void {
    const waiting: Waiting = { resume, isGone: false }
    this.#waiting.push(waiting)
    this.#next()
    return () => {
      waiting.isGone = true
    }
  }

  #next(): void {
    while (this.#underWay < limits.DUE_RUNS_AT_ONCE_MAX) {
      const next = this.#waiting[this.#from]
      if (next === undefined) break
      this.#from += 1
      if (!next.isGone) this.#begin(next)
    }
    if (this.#from * 2 < this.#waiting.length) return
    this.#waiting = this.#waiting.slice(this.#from)
    this.#from = 0
  }

  #begin({ resume }: Waiting): void {
    this.#underWay += 1
    void resume().finally(() => {
      this.#underWay -= 1
      this.#next()
    })
  }
}

interface Waiting {
  readonly resume: () => Promise<void>
  isGone: boolean
}
