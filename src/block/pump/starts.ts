import type { Attempt } from './attempt.js'
import type { RunBook } from './book.js'
import type { PumpHost } from './host.js'
import type { Leaves } from './leaves.js'

/**
 * Starts the attempts that were asked for.
 *
 * Owns: how many units of work are known to be durable, under durability `step`. Does not own: the
 * attempts ({@link Leaves}).
 *
 * D2: with `step`, every unit of work is durable before the next step begins.
 */
export class Starts {
  readonly #leaves: Leaves
  readonly #book: RunBook
  readonly #host: Pick<PumpHost, 'durability' | 'journal'>
  #syncedUnits = 0

  constructor(options: {
    readonly leaves: Leaves
    readonly book: RunBook
    readonly host: Pick<PumpHost, 'durability' | 'journal'>
  }) {
    this.#leaves = options.leaves
    this.#book = options.book
    this.#host = options.host
  }

  /** Starts what is not running yet; a promise when something has to be awaited. */
  startAll(): Promise<void> | undefined {
    const all = this.#leaves.all()
    for (const attempt of all) {
      if (attempt.isStarted) continue
      if (this.#hasToSync()) return this.#startRest(this.#sync(), this.#leaves.all())
      const starting = this.#leaves.start(attempt)
      if (starting !== undefined) return this.#startRest(starting, all)
    }
    return undefined
  }

  #hasToSync(): boolean {
    return this.#host.durability === 'step' && this.#book.units > this.#syncedUnits
  }

  #sync(): Promise<void> {
    this.#syncedUnits = this.#book.units
    return this.#book.durable()
  }

  async #startRest(first: Promise<void>, rest: Iterable<Attempt>): Promise<void> {
    await first
    for (const attempt of rest) if (!attempt.isStarted) await this.#leaves.start(attempt)
  }
}
