import { Transform } from 'node:stream'
import { exactNumbersInTurns, isJsonObject, limits } from '../../core/index.js'
import { bounded, type Fetch } from '../transports/bounded-fetch.js'
import { Lines } from '../transports/lines.js'
import { BytesBound, EventsBound } from '../transports/stream-bound.js'

/**
 * The MCP SDK reads messages with `JSON.parse`, which changes large numbers. Here they are put in
 * quotes before it does (semantics.md A7).
 */

/** One message with exact numbers. A list of tools stays as it came: grants name its hash. */
export async function exactMessage(text: string): Promise<string> {
  return unlessList(text, await exactNumbersInTurns(text))
}

function unlessList(text: string, exact: string): string {
  return exact === text || isToolList(text) ? text : exact
}

function isToolList(text: string): boolean {
  try {
    const message: unknown = JSON.parse(text)
    const result = isJsonObject(message) ? message['result'] : undefined
    return isJsonObject(result) && Array.isArray(result['tools'])
  } catch {
    return false
  }
}

/**
 * A `fetch` whose answers have exact numbers: JSON as a whole, event streams line by line. What is
 * no stream has an end. `tooLong` is called for a stream that is cut off for its longest message.
 */
export function exactFetch(fetch: Fetch, tooLong: () => void): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    if (response.body === null) return response
    const type = response.headers.get('content-type') ?? ''
    if (response.ok && type.startsWith('text/event-stream')) {
      return answerOf(response, response.body.pipeThrough(exactEvents(tooLong)))
    }
    const whole = bounded(response, limits.AGENT_MESSAGE_LENGTH_MAX)
    return response.ok && type.startsWith('application/json')
      ? answerOf(whole, await exactMessage(await whole.text()))
      : whole
  }
}

function answerOf(
  { status, statusText, headers }: Response,
  body: string | ReadableStream<Uint8Array>
): Response {
  const kept = new Headers(headers)
  // The text is decoded by now, and may have another length.
  for (const name of ['content-length', 'content-encoding']) kept.delete(name)
  return new Response(body, { status, statusText, headers: kept })
}

function exactEvents(tooLong: () => void): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder('utf-8')
  const encoder = new TextEncoder()
  const lines = new Lines(Number.POSITIVE_INFINITY)
  // Streams have no end of their own; an event of one has.
  const all = new BytesBound(Number.POSITIVE_INFINITY)
  const bound = new EventsBound(all, limits.AGENT_MESSAGE_LENGTH_MAX)
  return new TransformStream({
    async transform(chunk, controller) {
      const isTooLong = bound.exceededBy(chunk) !== undefined
      const complete = lines.take(decoder.decode(chunk, { stream: true })) ?? []
      if (isTooLong) {
        tooLong()
        return controller.error(new Error(ENDLESS))
      }
      for (const line of complete) controller.enqueue(encoder.encode(`${await exactEvent(line)}\n`))
    },
    flush: async (controller) => controller.enqueue(encoder.encode(await exactEvent(lines.rest())))
  })
}

async function exactEvent(line: string): Promise<string> {
  const data = /^data: ?/.exec(line)?.[0]
  return data === undefined ? line : data + (await exactMessage(line.slice(data.length)))
}

/** Bytes in, bytes out: messages of a stream, one a line, with exact numbers. */
export function exactLines(): Transform {
  const decoder = new TextDecoder('utf-8')
  const lines = new Lines(limits.AGENT_MESSAGE_LENGTH_MAX)
  const exact = async (complete: readonly string[]) => {
    const messages: string[] = []
    for (const line of complete) messages.push(`${await exactMessage(line)}\n`)
    return Buffer.from(messages.join(''))
  }
  return new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      const complete = lines.take(decoder.decode(chunk, { stream: true }))
      if (complete === undefined) return done(new Error(ENDLESS))
      exact(complete).then((bytes) => done(null, bytes), done)
    }
  })
}

const ENDLESS = 'the line does not end'
