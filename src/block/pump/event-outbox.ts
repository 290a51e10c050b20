import type { RunBook } from './book.js'
import type { PumpHost, RunEvent } from './host.js'

/**
 * Tells those who watch a run.
 *
 * Owns: events of entries that the journal does not have yet.
 *
 * D2: an event comes after the entries that it tells of.
 */
export class Telling {
  readonly #book: RunBook
  readonly #host: Pick<PumpHost, 'emit'>
  #held: RunEvent[] = []

  constructor(book: RunBook, host: Pick<PumpHost, 'emit'>) {
    this.#book = book
    this.#host = host
  }

  emit(event: RunEvent): void {
    this.#held.push(event)
    this.#tell()
  }

  /** Leaves nothing in memory that the journal and those who watch should have. */
  handIn(): void {
    this.#book.handIn()
    this.#tell()
  }

  #tell(): void {
    if (this.#book.isHolding || this.#held.length === 0) return
    for (const event of this.#held.splice(0)) this.#host.emit(event, this.#book.position)
  }
}
