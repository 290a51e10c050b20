import { turnFailure } from './failures.js'

export type Fetch = typeof globalThis.fetch

/** What is known of a turn's way over the wire. */
export interface Wire {
  readonly fetch: Fetch
  /** A request was handed to the network. */
  isSent: boolean
  /** The answer went over the limit and was cut off. */
  isTooLarge: boolean
}

/**
 * A `fetch` for one turn that follows no redirect, which would carry the key elsewhere, and reads
 * no more than `bytesMax` of an answer.
 */
export function wireOf(fetch: Fetch, bytesMax: number): Wire {
  const wire: Wire = {
    isSent: false,
    isTooLarge: false,
    fetch: async (input, init) => {
      if (init?.signal?.aborted === true) throw turnFailure('not_sent')
      wire.isSent = true
      const response = await fetch(input, { ...init, redirect: 'manual' })
      return bounded(response, bytesMax, () => {
        wire.isTooLarge = true
      })
    }
  }
  return wire
}

/** A response whose body fails as `response_too_large` when it is longer. */
export function bounded(
  response: Response,
  bytesMax: number,
  tooLarge: () => void = () => undefined
): Response {
  if (response.body === null) return response
  const { status, statusText, headers } = response
  const body = counted(response.body, bytesMax, tooLarge)
  return new Response(body, { status, statusText, headers })
}

// One stream of its own: a TransformStream would be two more, and they are not cheap.
function counted(
  body: ReadableStream<Uint8Array>,
  bytesMax: number,
  tooLarge: () => void
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let bytes = 0
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) return controller.close()
        bytes += value.byteLength
        if (bytes <= bytesMax) return controller.enqueue(value)
        tooLarge()
        controller.error(turnFailure('response_too_large', { bytesMax }))
        await reader.cancel()
      },
      cancel: (reason) => reader.cancel(reason)
    },
    { highWaterMark: 0 }
  )
}
