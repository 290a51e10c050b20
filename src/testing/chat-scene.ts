import type { Json } from '../core/index.js'

/** What the fake chat server does with one request. */
export type ChatScene = ChatAnswer | ChatRefusal | ChatBreak

/** An answer, streamed in pieces when the request asks for a stream. */
export interface ChatAnswer {
  readonly text?: string
  readonly reasoning?: string
  readonly toolCalls?: readonly {
    readonly id: string
    readonly name: string
    /** JSON text, sent as it is: also what is not JSON. */
    readonly arguments: string
  }[]
  /** Default `stop`, or `tool_calls` when there are any. */
  readonly finishReason?: string
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number }
  /** UTF-16 units of a piece. Default: each text in one piece. */
  readonly chunkLength?: number
  /** Called before each piece but the first: tests pace the stream with it. */
  readonly beforeChunk?: (at: number) => Promise<void>
}

/** A refusal with an HTTP status, whose text quotes key and prompt as real servers do. */
export interface ChatRefusal {
  readonly status: number
  readonly code?: string
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * A fault in mid-answer, after `text` was sent: a line that is not JSON; nothing more, ever; a
 * broken connection; an answer that ends before it is finished; pieces without end; one piece
 * without end.
 */
export interface ChatBreak {
  readonly breaks: 'malformed' | 'hang' | 'disconnect' | 'truncated' | 'endless' | 'oversized'
  readonly text?: string
}

/** Pieces of a streamed answer, as `choices[0].delta` of a chunk. */
export function deltasOf(answer: ChatAnswer): readonly Json[] {
  const { text = '', reasoning = '', toolCalls = [], chunkLength } = answer
  return [
    { role: 'assistant', content: '' },
    ...pieces(reasoning, chunkLength).map((piece) => ({ reasoning_content: piece })),
    ...pieces(text, chunkLength).map((piece) => ({ content: piece })),
    ...toolCalls.flatMap((call, index) => [
      toolDelta(index, { id: call.id, name: call.name, text: '' }),
      ...pieces(call.arguments, chunkLength).map((piece) => toolDelta(index, { text: piece }))
    ])
  ]
}

function toolDelta(
  index: number,
  part: { readonly id?: string; readonly name?: string; readonly text: string }
): Json {
  const { id, name, text } = part
  if (id === undefined || name === undefined) {
    return { tool_calls: [{ index, function: { arguments: text } }] }
  }
  return { tool_calls: [{ index, id, type: 'function', function: { name, arguments: text } }] }
}

/** The message of an answer that is not streamed. */
export function messageOf(answer: ChatAnswer): Json {
  const { text = '', reasoning, toolCalls = [] } = answer
  const calls = toolCalls.map(({ id, name, arguments: given }) => {
    return { id, type: 'function', function: { name, arguments: given } }
  })
  return {
    role: 'assistant',
    content: text,
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls })
  }
}

export function finishOf({ finishReason, toolCalls = [] }: ChatAnswer): string {
  return finishReason ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop')
}

/** Usage as the protocol writes it; by default counted from the text, so that it never varies. */
export function usageOf(answer: ChatAnswer, prompt: string): Json {
  const { text = '', reasoning = '', usage } = answer
  const input = usage?.inputTokens ?? Math.ceil(prompt.length / 4)
  const output = usage?.outputTokens ?? Math.ceil((text.length + reasoning.length) / 4)
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
}

function pieces(text: string, length = text.length): readonly string[] {
  if (text === '') return []
  const size = Math.max(1, length)
  const count = Math.ceil(text.length / size)
  return Array.from({ length: count }, (_, at) => text.slice(at * size, (at + 1) * size))
}
