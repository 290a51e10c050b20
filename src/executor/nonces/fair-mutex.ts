import type { Clock } from '../../core/index.js'

/** A place at the mutex; handed from one holder to the next. */
export interface Turn {
  readonly id: number
}

/**
 * Lets one in at a time, in order. Who is in may keep its turn under a name for a limited time, and
 * come back for it by that name.
 *
 * Owns: whose turn it is, in memory. Does not own: what is done in a turn.
 */
export class FairMutex {
  readonly #clock: Clock
  #current: Turn | undefined
  #keptAs: string | undefined
  #letGo: (() => void) | undefined
  #ids = 0
  readonly #waiting: ((turn: Turn) => void)[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves when it is the caller's turn; rejects when the signal aborts first. */
  enter(signal: AbortSignal): Promise<Turn> {
    if (this.#current === undefined) return Promise.resolve(this.#admit())
    return new Promise<Turn>((resolve, reject) => {
      const admitted = (turn: Turn) => {
        signal.removeEventListener('abort', aborted)
        resolve(turn)
      }
      const aborted = () => {
        const place = this.#waiting.indexOf(admitted)
        if (place >= 0) this.#waiting.splice(place, 1)
        reject(signal.reason)
      }
      if (signal.aborted) return aborted()
      signal.addEventListener('abort', aborted, { once: true })
      this.#waiting.push(admitted)
    })
  }

  /** Keeps the turn under a name until it is left, the time is over, or the signal aborts. */
  keep(
    turn: Turn,
    name: string,
    { signal, forMs }: { readonly signal: AbortSignal; readonly forMs: number }
  ): void {
    if (this.#current !== turn) return
    this.#letGo?.()
    this.#keptAs = name
    const over = () => this.leave(turn)
    const callOff = this.#clock.schedule(this.#clock.now() + forMs, over)
    signal.addEventListener('abort', over, { once: true })
    this.#letGo = () => {
      callOff()
      signal.removeEventListener('abort', over)
    }
    if (signal.aborted) over()
  }

  /** The turn kept under a name, while it lasts. */
  turnOf(name: string): Turn | undefined {
    return this.#keptAs === name ? this.#current : undefined
  }

  leave(turn: Turn): void {
    if (this.#current !== turn) return
    this.#letGo?.()
    this.#letGo = undefined
    this.#keptAs = undefined
    this.#current = undefined
    const next = this.#waiting.shift()
    if (next !== undefined) next(this.#admit())
  }

  #admit(): Turn {
    this.#ids += 1
    this.#current = { id: this.#ids }
    return this.#current
  }
}
