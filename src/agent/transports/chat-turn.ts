import type { LanguageModel, LanguageModelMiddleware, ToolSet } from 'ai'
import { isJsonObject, type JsonObject, limits } from '../../core/index.js'
import type { TurnOptions, TurnRequest, TurnResult } from '../adapters/adapter.js'
import type { AiLibrary } from './ai-library.js'
import { chatMessages } from './chat-messages.js'
import { ChatReply } from './chat-reply.js'
import { connectionFailure, isBroken, refusalFailure, turnFailure } from './failures.js'

export type ChatLanguageModel = LanguageModel

/** One turn over chat completions. */
export interface ChatTurn {
  readonly model: LanguageModel
  readonly request: TurnRequest
  readonly systemPrompt?: string
  readonly temperature?: number
  readonly maxTokens?: number
  /** What only this provider knows, under its name. */
  readonly providerOptions?: Readonly<Record<string, JsonObject>>
  /** Scheme, host and port, or the provider's name: what a failure says about where. */
  readonly endpoint: string
  /** Set by the transport when it cut an answer off. */
  readonly wire?: { readonly isTooLarge: boolean }
}

/**
 * Streams one turn through the AI SDK. Retries nothing: that is for the block's recovery to decide.
 * Tool calls are handed back; nothing is executed here. Throws `EffectFailure`, which quotes
 * nothing of the request or of the answer.
 */
export async function chatTurn(
  ai: AiLibrary,
  turn: ChatTurn,
  options: TurnOptions
): Promise<TurnResult> {
  if (options.signal.aborted) throw turnFailure('not_sent')
  const reply = new ChatReply(options)
  // Cuts the connection when an answer does not end by itself.
  const cut = new AbortController()
  try {
    const { fullStream } = ai.streamText({
      ...callOf(ai, turn, reply),
      abortSignal: AbortSignal.any([options.signal, cut.signal]),
      ...(options.traceparent === undefined
        ? {}
        : { headers: { traceparent: options.traceparent } }),
      maxRetries: 0,
      // Told by the stream's own error part; the default prints it, prompt and all.
      onError: () => undefined
    })
    for await (const part of fullStream) {
      if (part.type === 'error') throw part.error
      if (part.type === 'abort') break
      reply.take(part)
      if (reply.length > limits.TURN_TEXT_LENGTH_MAX) {
        const lengthMax = limits.TURN_TEXT_LENGTH_MAX
        throw turnFailure('response_too_large', { lengthMax })
      }
    }
  } catch (error) {
    cut.abort()
    throw failureOf(ai, error, { turn, options })
  }
  if (options.signal.aborted) throw turnFailure('aborted', { endpoint: turn.endpoint })
  return reply.result(turn.request, turn)
}

function callOf(ai: AiLibrary, turn: ChatTurn, reply: ChatReply) {
  const { request, systemPrompt, temperature, maxTokens, providerOptions } = turn
  const tools = toolsOf(ai, request)
  return {
    model: listening(ai, turn, reply),
    messages: chatMessages(request),
    allowSystemInMessages: true,
    ...(systemPrompt === undefined ? {} : { system: systemPrompt }),
    ...(tools === undefined ? {} : { tools }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
    ...(providerOptions === undefined ? {} : { providerOptions: providerOptions as never })
  }
}

/**
 * The model with its warnings given to the reply instead of the console, and with the shape of the
 * answer asked for: the SDK's own structured output reads the whole text again at every chunk.
 */
function listening(ai: AiLibrary, { model, request }: ChatTurn, reply: ChatReply): LanguageModel {
  if (typeof model === 'string') return model
  const { expectedOutput } = request
  const middleware: LanguageModelMiddleware = {
    specificationVersion: 'v3',
    transformParams: async ({ params }) => {
      if (expectedOutput === undefined) return params
      // The AI SDK's own schema type is not read-only.
      const schema = expectedOutput.schema as never
      return { ...params, responseFormat: { type: 'json', schema } }
    },
    wrapStream: async ({ doStream }) => {
      const result = await doStream()
      const stream = heard(result.stream, reply)
      return { ...result, stream }
    }
  }
  return ai.wrapLanguageModel({ model: model as never, middleware })
}

type Parts = Awaited<
  ReturnType<Parameters<NonNullable<LanguageModelMiddleware['wrapStream']>>[0]['doStream']>
>['stream']

/**
 * The model's parts, of which the reply takes tool calls and warnings before the SDK does: it would
 * parse all arguments of a call at once, and has no use for them.
 */
function heard(parts: Parts, reply: ChatReply): Parts {
  const reader = parts.getReader()
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value: part } = await reader.read()
        if (done) return controller.close()
        if (part.type === 'tool-call') {
          await reply.takeCall(part)
          return controller.enqueue({ ...part, input: '{}' })
        }
        if (part.type !== 'stream-start') return controller.enqueue(part)
        for (const warning of part.warnings) reply.warn(warningText(warning))
        controller.enqueue({ ...part, warnings: [] })
      },
      cancel: (reason) => reader.cancel(reason)
    },
    { highWaterMark: 0 }
  )
}

function warningText(warning: { readonly type: string; readonly feature?: string }): string {
  return warning.feature === undefined ? warning.type : `${warning.type}: ${warning.feature}`
}

function toolsOf(ai: AiLibrary, { tools = [] }: TurnRequest): ToolSet | undefined {
  if (tools.length === 0) return undefined
  const entries = tools.map(({ name, description, parameters }) => {
    const inputSchema = ai.jsonSchema(parameters as never)
    return [name, ai.tool({ description, inputSchema })] as const
  })
  return Object.fromEntries(entries) as ToolSet
}

function failureOf(
  ai: AiLibrary,
  error: unknown,
  { turn, options }: { readonly turn: ChatTurn; readonly options: TurnOptions }
): Error {
  const { endpoint, wire } = turn
  if (wire?.isTooLarge === true) return turnFailure('response_too_large', { endpoint })
  if (error instanceof Error && error.name === 'EffectFailure') return error
  if (options.signal.aborted) return turnFailure('aborted', { endpoint })
  if (ai.APICallError.isInstance(error)) {
    const { statusCode: status, responseHeaders: headers = {} } = error
    if (status !== undefined && !isBroken(error)) {
      return refusalFailure({ status, endpoint, headers, code: codeOf(error.data) })
    }
    return connectionFailure(error, endpoint)
  }
  return isMalformed(ai, error)
    ? turnFailure('malformed_response', { endpoint })
    : connectionFailure(error, endpoint)
}

/** Errors about the answer, and what a server wrote into its stream in place of one. */
function isMalformed(ai: AiLibrary, error: unknown): boolean {
  const kinds = [
    ai.JSONParseError,
    ai.TypeValidationError,
    ai.InvalidResponseDataError,
    ai.EmptyResponseBodyError,
    ai.NoContentGeneratedError
  ]
  return typeof error === 'string' || kinds.some((kind) => kind.isInstance(error))
}

function codeOf(data: unknown): unknown {
  const error = isJsonObject(data) ? data['error'] : undefined
  return isJsonObject(error) ? (error['code'] ?? error['type']) : undefined
}
