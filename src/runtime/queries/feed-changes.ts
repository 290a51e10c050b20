import { type Clock, limits } from '../../core/index.js'
import type { Ledger } from '../../ledger/index.js'
import type { FeedEvent } from './query-types.js'

export interface FeedSources {
  readonly ledger: Pick<Ledger, 'mode' | 'onCommit' | 'onMode'>
  /** Hears the text of agents as it arrives; the returned function stops it. */
  onDelta(listener: (delta: FeedEvent & { readonly type: 'delta' }) => void): () => void
}

/** What happens while a reader reads: that commits came, and what is no history. */
export class FeedChanges {
  readonly #events: FeedEvent[] = []
  readonly #stops: (() => void)[]
  #wake: () => void = () => undefined

  constructor({ ledger, onDelta }: FeedSources, signal: AbortSignal) {
    const wake = () => this.#wake()
    signal.addEventListener('abort', wake, { once: true })
    this.#stops = [
      ledger.onCommit(wake),
      ledger.onMode(({ mode, cause }) => {
        this.#add({ type: 'mode', mode, cause: cause ?? null })
      }),
      onDelta((delta) => this.#add(delta)),
      () => signal.removeEventListener('abort', wake)
    ]
  }

  *take(): Generator<FeedEvent> {
    for (let next = this.#events.shift(); next !== undefined; next = this.#events.shift()) {
      yield next
    }
  }

  /** Resolves with the next changes, at once when there is any. */
  async next(isThere: () => boolean): Promise<void> {
    if (this.#events.length > 0 || isThere()) return
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
  }

  /** Resolves at a time, or with what is no history before that. */
  async until(at: number, clock: Clock, isOver: () => boolean): Promise<void> {
    while (clock.now() < at && this.#events.length === 0 && !isOver()) {
      let callOff = () => {}
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        callOff = clock.schedule(at, resolve)
      })
      callOff()
    }
  }

  close(): void {
    for (const stop of this.#stops) stop()
  }

  // The oldest may be lost: it is no history.
  #add(event: FeedEvent): void {
    this.#events.push(event)
    if (this.#events.length > limits.FEED_NEWS_MAX) this.#events.shift()
    this.#wake()
  }
}
