import type { Clock } from '../../core/index.js'
import { type Store, type StoreItem, storeAround } from '../../ledger/index.js'

/**
 * One life of a process. It counts boundaries (both sides of every commit and of every effect) and
 * dies at the one that its caller names; nothing that a dead process does reaches the disk or the
 * world, and its timers are gone.
 */
export class Life {
  boundaries = 0
  isDead = false
  /** Boundary at which it died. */
  diedAt: string | undefined
  readonly #dieAt: number
  readonly #died: () => void
  /** What calls its timers off. */
  readonly #timers = new Set<() => void>()

  constructor(options: { readonly dieAt?: number | undefined; readonly died?: () => void }) {
    this.#dieAt = options.dieAt ?? Number.POSITIVE_INFINITY
    this.#died = options.died ?? (() => undefined)
  }

  /** False when the process is dead, now or since before. */
  passes(boundary = 'a boundary'): boolean {
    if (this.isDead) return false
    this.boundaries += 1
    if (this.boundaries < this.#dieAt) return true
    this.end(boundary)
    return false
  }

  /** Ends it at once. */
  end(boundary: string): void {
    if (this.isDead) return
    this.isDead = true
    this.diedAt = boundary
    for (const callOff of this.#timers) callOff()
    this.#timers.clear()
    this.#died()
  }

  clock(clock: Clock): Clock {
    return {
      now: () => clock.now(),
      schedule: (at, due) => {
        if (this.isDead) return () => undefined
        const callOff = clock.schedule(at, () => {
          this.#timers.delete(callOff)
          due()
        })
        this.#timers.add(callOff)
        return () => {
          this.#timers.delete(callOff)
          callOff()
        }
      }
    }
  }

  store(inner: Store): Store {
    const commit = async (items: readonly StoreItem[]) => {
      if (!this.passes('before a commit')) throw new Error('the process died before a commit')
      const applied = await inner.commit(items)
      if (!this.passes('after a commit')) throw new Error('the process died after a commit')
      return applied
    }
    return storeAround(inner, { commit })
  }
}
