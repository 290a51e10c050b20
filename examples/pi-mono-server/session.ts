import { Agent, type AgentMessage, type AgentTool } from '@mariozechner/pi-agent-core'
import { type AssistantMessage, type Model, streamSimple } from '@mariozechner/pi-ai'

/** What `POST /turns` carries; more is allowed and not read. */
export interface TurnBody {
  readonly sessionId: string
  readonly invocationId: string
  readonly prompt: string
  readonly systemPrompt?: string
  readonly messages: readonly (
    | { readonly role: 'system' | 'user' | 'assistant'; readonly text: string }
    | { readonly role: 'tool'; readonly toolCallId: string; readonly result: unknown }
  )[]
  readonly tools?: readonly {
    readonly name: string
    readonly description: string
    readonly parameters: object
  }[]
  readonly expectedOutput?: { readonly schema: object }
}

/** What it answers. */
export interface Answer {
  readonly invocationId: string
  readonly status: 'completed' | 'failed' | 'aborted'
  readonly finalText: string
  readonly reasoningText: string
  readonly toolCalls: readonly { readonly id: string; readonly name: string }[]
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number }
  readonly model: string
  readonly error?: { readonly code: string; readonly category: string; readonly retryable: boolean }
}

/** One pi agent with its transcript. */
export class PiSession {
  /** Answers by invocation id: a turn is done once. */
  readonly answers = new Map<string, Promise<Answer>>()
  readonly #agent: Agent
  #current = ''

  constructor(options: {
    readonly model: Model<'openai-completions'>
    readonly modelKey: string
  }) {
    const { model, modelKey: apiKey } = options
    this.#agent = new Agent({
      initialState: { model },
      // Whether to try again is for the caller to decide.
      streamFn: (target, context, given) =>
        streamSimple(target, context, { ...given, apiKey, maxRetries: 0 })
    })
  }

  turn(body: TurnBody): Promise<Answer> {
    const known = this.answers.get(body.invocationId)
    if (known !== undefined) return known
    const answer = this.#do(body)
    this.answers.set(body.invocationId, answer)
    return answer
  }

  /** Calls off the turn of this id, or whichever there is. */
  abort(invocationId = this.#current): void {
    if (invocationId === this.#current) this.#agent.abort()
  }

  async #do(body: TurnBody): Promise<Answer> {
    const { state } = this.#agent
    this.#current = body.invocationId
    state.systemPrompt = body.systemPrompt ?? ''
    state.tools = (body.tools ?? []).map(handedBack)
    const before = state.messages.length
    if (this.#takeResults(body)) await this.#agent.continue()
    else await this.#agent.prompt(promptOf(body))
    return answerOf(body.invocationId, state.messages.slice(before))
  }

  /** Puts the results of tools that the caller did where the handed-back calls left gaps. */
  #takeResults({ messages }: TurnBody): boolean {
    const { state } = this.#agent
    const results = new Map(
      messages.flatMap((one) => (one.role === 'tool' ? [[one.toolCallId, one.result]] : []))
    )
    if (results.size === 0) return false
    state.messages = state.messages.map((message) => {
      if (message.role !== 'toolResult' || !results.has(message.toolCallId)) return message
      const text = JSON.stringify(results.get(message.toolCallId))
      return { ...message, content: [{ type: 'text', text }] }
    })
    return state.messages.at(-1)?.role === 'toolResult'
  }
}

/** A tool that pi may call and that the caller does: the agent stops after the call. */
function handedBack(tool: NonNullable<TurnBody['tools']>[number]): AgentTool {
  const { name, description } = tool
  // pi's schema type is TypeBox's; what is sent to the model is the same JSON Schema.
  const parameters = tool.parameters as AgentTool['parameters']
  const execute: AgentTool['execute'] = async () => {
    return { content: [], details: {}, terminate: true }
  }
  return { name, label: name, description, parameters, execute }
}

function promptOf({ prompt, expectedOutput }: TurnBody): string {
  if (expectedOutput === undefined) return prompt
  return `${prompt}\n\nAnswer with JSON of this schema: ${JSON.stringify(expectedOutput.schema)}`
}

function answerOf(invocationId: string, messages: readonly AgentMessage[]): Answer {
  const replies = messages.filter((one): one is AssistantMessage => one.role === 'assistant')
  const last = replies.at(-1)
  const content = last?.content ?? []
  const common = {
    invocationId,
    finalText: content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    reasoningText: content.map((part) => (part.type === 'thinking' ? part.thinking : '')).join(''),
    toolCalls: content.filter((part) => part.type === 'toolCall'),
    usage: {
      inputTokens: replies.reduce((sum, { usage }) => sum + usage.input, 0),
      outputTokens: replies.reduce((sum, { usage }) => sum + usage.output, 0)
    },
    model: last?.model ?? ''
  }
  if (last?.stopReason === 'aborted') return { ...common, status: 'aborted' }
  if (last === undefined || last.stopReason === 'error') {
    const error = { code: 'model_failed', category: 'model', retryable: false }
    return { ...common, status: 'failed', error }
  }
  return { ...common, status: 'completed' }
}
