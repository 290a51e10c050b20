import { Transform } from 'node:stream'
import { exactNumbers, exactNumbersInTurns, isJsonObject, limits } from '../../core/index.js'
import { bounded, type Fetch } from '../transports/bounded-fetch.js'
import { Lines } from '../transports/lines.js'

/**
 * The MCP SDK reads messages with `JSON.parse`, which changes large numbers. Here they are put in
 * quotes before it does (semantics.md A7).
 */

/** One message with exact numbers. A list of tools stays as it came: grants name its hash. */
export function exactMessage(text: string): string {
  return unlessList(text, exactNumbers(text))
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
 * no stream has an end.
 */
export function exactFetch(fetch: Fetch): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    if (response.body === null) return response
    const type = response.headers.get('content-type') ?? ''
    if (response.ok && type.startsWith('text/event-stream')) {
      return answerOf(response, response.body.pipeThrough(exactEvents()))
    }
    const whole = bounded(response, limits.TURN_RESPONSE_BYTES_MAX)
    return response.ok && type.startsWith('application/json')
      ? answerOf(whole, await exactInTurns(await whole.text()))
      : whole
  }
}

async function exactInTurns(text: string): Promise<string> {
  return unlessList(text, await exactNumbersInTurns(text))
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

function exactEvents(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder('utf-8')
  const encoder = new TextEncoder()
  const lines = new Lines()
  return new TransformStream({
    transform(chunk, controller) {
      const complete = lines.take(decoder.decode(chunk, { stream: true }))
      if (lines.length > LINE_LENGTH_MAX) return controller.error(new Error(ENDLESS))
      controller.enqueue(encoder.encode(complete.map((line) => `${exactEvent(line)}\n`).join('')))
    },
    flush: (controller) => controller.enqueue(encoder.encode(exactEvent(lines.rest())))
  })
}

function exactEvent(line: string): string {
  const data = /^data: ?/.exec(line)?.[0]
  return data === undefined ? line : data + exactMessage(line.slice(data.length))
}

/** Bytes in, bytes out: messages of a stream, one a line, with exact numbers. */
export function exactLines(): Transform {
  const decoder = new TextDecoder('utf-8')
  const lines = new Lines()
  return new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      const complete = lines.take(decoder.decode(chunk, { stream: true }))
      if (lines.length > LINE_LENGTH_MAX) return done(new Error(ENDLESS))
      done(null, Buffer.from(complete.map((line) => `${exactMessage(line)}\n`).join('')))
    }
  })
}

const ENDLESS = 'the line does not end'
const LINE_LENGTH_MAX = limits.TURN_RESPONSE_BYTES_MAX
