import {
  anyWithin,
  exactJsonInTurns,
  exactNumbersInTurns,
  inTurns,
  isJsonObject,
  type Json,
  limits
} from '../../core/index.js'
import { bounded, type Fetch } from '../transports/bounded-fetch.js'
import { Lines } from '../transports/lines.js'
import { BytesBound, EventsBound } from '../transports/stream-bound.js'

/**
 * The MCP SDK reads messages with `JSON.parse`, which changes large numbers, in one call, and then
 * looks at their parts in another. Here they are read in turns, with large numbers in quotes
 * (semantics.md A7), and what has too many values never comes to the SDK.
 */

/** A message that is too long, or has too many values. */
export class MessageTooLarge extends Error {
  override readonly name = 'MessageTooLarge'
}

/** One message as it is read, and text that `JSON.parse` reads as the same. */
interface ExactMessage {
  readonly value: unknown
  readonly text: string
}

/**
 * Reads one message with exact numbers. A list of tools stays as it came: grants name its hash.
 * Rejects with {@link MessageTooLarge}, and for what is no JSON.
 */
async function exactMessage(text: string, exact: string): Promise<ExactMessage> {
  const value = await exactJsonInTurns(exact)
  await checkValues(value)
  if (exact === text || !isToolList(value)) return { value, text: exact }
  return { value: JSON.parse(text), text }
}

/** Rejects with {@link MessageTooLarge} for a message with more values than the SDK may look at. */
export async function checkValues(message: unknown): Promise<void> {
  let values = 0
  const isOneTooMany = () => {
    values += 1
    return values > limits.MCP_MESSAGE_VALUES_MAX
  }
  // What was read from JSON is plain.
  if (await inTurns(anyWithin(message as Json, isOneTooMany))) throw new MessageTooLarge()
}

function isToolList(message: unknown): boolean {
  const result = isJsonObject(message as Json) ? (message as { result?: Json }).result : undefined
  return isJsonObject(result ?? null) && Array.isArray((result as { tools?: Json }).tools)
}

/**
 * A `fetch` whose answers have exact numbers: JSON as a whole, event streams line by line. What is
 * no stream has an end. `tooLarge` is called for an answer that is cut off for one of its messages.
 */
export function exactFetch(fetch: Fetch, tooLarge: () => void): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    if (response.body === null) return response
    const type = response.headers.get('content-type') ?? ''
    if (response.ok && type.startsWith('text/event-stream')) {
      return answerOf(response, response.body.pipeThrough(exactEvents(tooLarge)))
    }
    const whole = bounded(response, limits.AGENT_MESSAGE_LENGTH_MAX)
    if (!response.ok || !type.startsWith('application/json')) return whole
    try {
      return answerOf(whole, await exactText(await whole.text()))
    } catch (error) {
      if (error instanceof MessageTooLarge) tooLarge()
      throw error
    }
  }
}

/** What the SDK reads in place of a message. It tells of what is no JSON. */
async function exactText(text: string): Promise<string> {
  const exact = await exactNumbersInTurns(text)
  // So short a text cannot have too many values.
  if (exact === text && text.length < limits.MCP_MESSAGE_VALUES_MAX) return text
  try {
    return (await exactMessage(text, exact)).text
  } catch (error) {
    if (error instanceof MessageTooLarge) throw error
    return NO_JSON
  }
}

const NO_JSON = 'no JSON'

function answerOf(
  { status, statusText, headers }: Response,
  body: string | ReadableStream<Uint8Array>
): Response {
  const kept = new Headers(headers)
  // The text is decoded by now, and may have another length.
  for (const name of ['content-length', 'content-encoding']) kept.delete(name)
  return new Response(body, { status, statusText, headers: kept })
}

function exactEvents(tooLarge: () => void): TransformStream<Uint8Array, Uint8Array> {
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
      try {
        if (isTooLong) throw new MessageTooLarge()
        // One chunk for each that came: a message may have half a million lines.
        let text = ''
        for (const line of complete) text += `${await exactEvent(line)}\n`
        if (text !== '') controller.enqueue(encoder.encode(text))
      } catch (error) {
        tooLarge()
        controller.error(error)
      }
    },
    flush: async (controller) => controller.enqueue(encoder.encode(await exactEvent(lines.rest())))
  })
}

async function exactEvent(line: string): Promise<string> {
  const data = /^data: ?/.exec(line)?.[0]
  return data === undefined ? line : data + (await exactText(line.slice(data.length)))
}

/** What is read of a stream of messages, one a line: undefined for a line that is no JSON. */
export async function* messageLines(chunks: AsyncIterable<unknown>): AsyncGenerator<unknown> {
  const decoder = new TextDecoder('utf-8')
  const lines = new Lines(limits.AGENT_MESSAGE_LENGTH_MAX)
  for await (const chunk of chunks) {
    const complete = lines.take(decoder.decode(chunk as Uint8Array, { stream: true }))
    if (complete === undefined) throw new MessageTooLarge()
    for (const line of complete) {
      if (line.trim() !== '') yield await valueIn(line)
    }
  }
}

async function valueIn(line: string): Promise<unknown> {
  try {
    return (await exactMessage(line, await exactNumbersInTurns(line))).value
  } catch (error) {
    if (error instanceof MessageTooLarge) throw error
    return undefined
  }
}
