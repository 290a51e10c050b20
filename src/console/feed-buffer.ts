import { limits } from '../core/index.js'
import type { EventPlace, FeedEvent } from '../runtime/index.js'

/**
 * Events of the feed that wait for one reader.
 *
 * - Q4 None is given twice or out of order. A reader that falls too far behind gets `reset` in
 *   place of what it has missed, with the place from which it follows: nothing is left out
 *   silently.
 */
export class FeedBuffer {
  #events: FeedEvent[] = []
  #place: EventPlace | undefined
  #wake: () => void = () => undefined
  #isEnded = false

  /** `since`: where the reader stands. */
  constructor(since: EventPlace | undefined) {
    this.#place = since
  }

  push(event: FeedEvent): void {
    if ('place' in event) this.#place = event.place
    const isFull = this.#events.length >= limits.FEED_EVENTS_MAX
    if (isFull && this.#place !== undefined) {
      this.#events = [{ type: 'reset', place: this.#place }]
    } else {
      // Without a place there is only what is no history, and may be lost.
      if (isFull) this.#events.shift()
      this.#events.push(event)
    }
    this.#wake()
  }

  /** No more will be pushed. */
  end(): void {
    this.#isEnded = true
    this.#wake()
  }

  /** The next event, or undefined at the end. For one reader. */
  async next(): Promise<FeedEvent | undefined> {
    for (;;) {
      const event = this.#events.shift()
      if (event !== undefined || this.#isEnded) return event
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}
