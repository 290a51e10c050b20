import type { TextStreamPart, ToolSet } from 'ai'
import { exactJsonInTurns } from '../../core/index.js'
import type {
  TurnDelta,
  TurnError,
  TurnOptions,
  TurnRequest,
  TurnResult
} from '../adapters/adapter.js'
import { turnFailure } from './failures.js'
import { type RawReply, replyOf } from './reply.js'
import { truncated } from './truncated.js'

type Part = TextStreamPart<ToolSet>

/** What of a turn its result depends on, beside the request. */
export interface AnsweredTurn {
  readonly endpoint: string
  readonly systemPrompt?: string
}

/** A tool call of a model, with its arguments as text. */
export interface ModelCall {
  readonly toolCallId: string
  readonly toolName: string
  readonly input: string
}

/**
 * What has come of one answer.
 *
 * Owns: the text so far. Its result is a function of the whole answer, never of how the chunks
 * fell.
 */
export class ChatReply {
  readonly #onDelta: ((delta: TurnDelta) => void) | undefined
  readonly #text: string[] = []
  readonly #reasoning: string[] = []
  readonly #calls: { readonly id: string; readonly name: string; readonly arguments: unknown }[] =
    []
  readonly #warnings: string[] = []
  #model = ''
  #usage: RawReply['usage'] = {}
  #finish: string | undefined
  #length = 0

  constructor({ onDelta }: TurnOptions) {
    this.#onDelta = onDelta
  }

  /** UTF-16 units of text, reasoning and tool arguments so far. */
  get length(): number {
    return this.#length
  }

  warn(warning: string): void {
    this.#warnings.push(warning)
  }

  /** A tool call as the model wrote it: the AI SDK's own part has lost digits (A7). */
  async takeCall(call: ModelCall): Promise<void> {
    const { toolCallId: id, toolName: name, input } = call
    this.#calls.push({ id, name, arguments: await argumentsIn(input) })
  }

  take(part: Part): void {
    switch (part.type) {
      case 'text-delta':
        this.#text.push(part.text)
        return this.#delta('text', part.text)
      case 'reasoning-delta':
        this.#reasoning.push(part.text)
        return this.#delta('reasoning', part.text)
      case 'tool-input-start':
        return this.#delta('tool', part.toolName)
      case 'tool-input-delta':
        this.#length += part.delta.length
        return
      case 'finish-step':
        this.#model = part.response.modelId
        this.#finish = part.rawFinishReason === undefined ? undefined : part.finishReason
        return
      case 'finish': {
        const { inputTokens, outputTokens, totalTokens } = part.totalUsage
        this.#usage = { inputTokens, outputTokens, totalTokens }
        return
      }
    }
  }

  /** The turn's result. Rejects with `incomplete_response` for an answer that just stopped. */
  async result(request: TurnRequest, turn: AnsweredTurn): Promise<TurnResult> {
    const { endpoint, systemPrompt = '' } = turn
    if (this.#finish === undefined) throw turnFailure('incomplete_response', { endpoint })
    const error = errorOf(this.#finish)
    return replyOf(request, {
      status: error === undefined ? 'completed' : 'failed',
      finalText: this.#text.join(''),
      reasoningText: this.#reasoning.join(''),
      toolCalls: this.#calls,
      usage: this.#usage,
      earlierBytes: Buffer.byteLength(systemPrompt),
      model: this.#model,
      warnings: this.#warnings,
      ...(error === undefined ? {} : { error })
    })
  }

  #delta(kind: TurnDelta['kind'], text: string): void {
    this.#length += text.length
    this.#onDelta?.({ kind, text })
  }
}

/** Undefined for a finish reason that is an end of the answer; all others are none. */
function errorOf(finish: string): TurnError | undefined {
  if (finish === 'stop' || finish === 'tool-calls') return undefined
  return finish === 'content-filter' ? filtered : truncated(finish === 'length')
}

/** What is no JSON stays text, for the tool's schema to refuse. */
async function argumentsIn(text: string): Promise<unknown> {
  if (text.trim() === '') return {}
  try {
    return await exactJsonInTurns(text)
  } catch {
    return text
  }
}

const filtered = {
  code: 'content_filtered',
  message: 'The provider withheld the answer.',
  category: 'model',
  retryable: false
} as const
