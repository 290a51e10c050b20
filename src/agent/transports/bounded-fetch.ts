import { limits } from '../../core/index.js'
import { turnFailure } from './failures.js'
import { BytesBound, EventsBound, EventValuesBound, type StreamBound } from './stream-bound.js'

export type Fetch = typeof globalThis.fetch

/** What is known of a turn's way over the wire. */
export interface Wire {
  readonly fetch: Fetch
  /** A request was handed to the network. */
  isSent: boolean
  /** The answer went over a limit and was cut off. */
  isTooLarge: boolean
}

export interface WireBounds {
  readonly bytesMax: number
  /** The answer is a stream of events, of which none has more bytes. */
  readonly eventBytesMax?: number
  /** As {@link eventBytesMax}, and none has more values. */
  readonly eventValuesMax?: number
}

/**
 * A `fetch` for one turn that follows no redirect, which would carry the key elsewhere, and reads
 * no more than its bounds of an answer. Of one that refuses it reads the beginning alone.
 */
export function wireOf(fetch: Fetch, bounds: WireBounds): Wire {
  const wire: Wire = {
    isSent: false,
    isTooLarge: false,
    fetch: async (input, init) => {
      if (init?.signal?.aborted === true) throw turnFailure('not_sent')
      wire.isSent = true
      const response = await fetch(input, { ...init, redirect: 'manual' })
      if (!response.ok) return beginningOf(response, limits.MODEL_REFUSAL_BYTES_MAX)
      return withBody(response, boundOf(bounds), () => {
        wire.isTooLarge = true
      })
    }
  }
  return wire
}

function boundOf({ bytesMax, eventBytesMax, eventValuesMax }: WireBounds): StreamBound {
  const bytes = new BytesBound(bytesMax)
  const events = eventBytesMax === undefined ? bytes : new EventsBound(bytes, eventBytesMax)
  return eventValuesMax === undefined ? events : new EventValuesBound(events, eventValuesMax)
}

/** A response whose body fails as `response_too_large` when it is longer. */
export function bounded(response: Response, bytesMax: number): Response {
  return withBody(response, new BytesBound(bytesMax))
}

/** A response whose body ends after so many bytes, however long it is. */
function beginningOf(response: Response, bytesMax: number): Response {
  return withBody(response, new BytesBound(bytesMax), 'ends')
}

function withBody(
  response: Response,
  bound: StreamBound,
  beyond: 'ends' | (() => void) = () => undefined
): Response {
  if (response.body === null) return response
  const { status, statusText, headers } = response
  const body = within(response.body, bound, beyond)
  return new Response(body, { status, statusText, headers })
}

// One stream of its own: a TransformStream would be two more, and they are not cheap.
function within(
  body: ReadableStream<Uint8Array>,
  bound: StreamBound,
  beyond: 'ends' | (() => void)
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) return controller.close()
        const exceeded = bound.exceededBy(value)
        if (exceeded === undefined) return controller.enqueue(value)
        if (beyond === 'ends') controller.close()
        else {
          beyond()
          controller.error(turnFailure('response_too_large', exceeded))
        }
        await reader.cancel()
      },
      cancel: (reason) => reader.cancel(reason)
    },
    { highWaterMark: 0 }
  )
}
