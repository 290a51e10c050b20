import { type Clock, type Json, limits } from '../core/index.js'
import type { OwnerHandler } from '../ledger/index.js'
import { toRemote } from '../owner/index.js'
import type { EventPlace, FeedEvent } from '../runtime/index.js'
import type { EventStream } from './event-stream.js'
import { FeedBuffer } from './feed-buffer.js'

export interface FeedOptions {
  readonly handle: OwnerHandler
  readonly since: EventPlace | undefined
  readonly paceMs: number | undefined
  readonly stream: EventStream
  /** Aborts when the reader or the server goes away. */
  readonly signal: AbortSignal
  readonly clock: Clock
}

/**
 * Follows the ledger for one reader until it goes away. What the ledger gives is taken at once,
 * whatever the reader takes, so that one which does not read holds up no other.
 */
export async function sendFeed({ handle, since, paceMs, stream, signal, clock }: FeedOptions) {
  const buffer = new FeedBuffer(since)
  const params = {
    ...(since === undefined ? {} : { since }),
    ...(paceMs === undefined ? {} : { paceMs })
  }
  const taking = take(() => handle({ method: 'feed', params, signal }), buffer, signal)
  // Awaited below, once the reader has what came before.
  taking.catch(() => undefined)
  stream.begin()
  const silence = new Silence(clock, () => void stream.comment())
  try {
    for (let event = await buffer.next(); event !== undefined; event = await buffer.next()) {
      const id = 'place' in event ? { id: event.place } : {}
      const sent = { ...id, type: event.type, data: event as unknown as Json }
      if (!(await stream.send(sent)) || signal.aborted) return
      silence.restart()
    }
    await taking
  } catch (error) {
    await stream.send({ type: 'failed', data: { error: toRemote(error) } as unknown as Json })
  } finally {
    silence.end()
    stream.end()
  }
}

async function take(
  follow: () => ReturnType<OwnerHandler>,
  buffer: FeedBuffer,
  signal: AbortSignal
): Promise<void> {
  const stop = () => buffer.end()
  signal.addEventListener('abort', stop, { once: true })
  try {
    // Only the caller decides that it is a stream: the method is one.
    for await (const event of follow() as AsyncIterable<unknown>) {
      if (signal.aborted) return
      buffer.push(event as FeedEvent)
    }
  } finally {
    signal.removeEventListener('abort', stop)
    buffer.end()
  }
}

/** Calls `over` whenever nothing was said for a while. */
class Silence {
  readonly #clock: Clock
  readonly #over: () => void
  #callOff: () => void = () => undefined

  constructor(clock: Clock, over: () => void) {
    this.#clock = clock
    this.#over = over
    this.restart()
  }

  restart(): void {
    this.end()
    this.#callOff = this.#clock.schedule(this.#clock.now() + limits.FEED_COMMENT_MS, () => {
      this.#over()
      this.restart()
    })
  }

  end(): void {
    this.#callOff()
  }
}
