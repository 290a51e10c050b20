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
      if (response.body === null) return response
      const body = response.body.pipeThrough(counted(wire, bytesMax))
      const { status, statusText, headers } = response
      return new Response(body, { status, statusText, headers })
    }
  }
  return wire
}

function counted(wire: Wire, bytesMax: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength
      if (bytes <= bytesMax) return controller.enqueue(chunk)
      wire.isTooLarge = true
      controller.error(turnFailure('response_too_large', { bytesMax }))
    }
  })
}
