import type { Json, JsonObject, Redactor } from '../../core/index.js'

/**
 * The port between agents and whatever answers for them (A1, A4). An adapter opens
 * sessions, a session does turns. Nothing here may reach a hash but what stands in
 * {@link TurnEffectRequest} and in the sealed {@link TurnResult}.
 */
export interface AgentAdapter {
  readonly kind: string
  /** What its constructor was given; a flow's or an agent's `adapterConfig` wins over it (A3). */
  readonly defaults?: AdapterSettings
  /**
   * Tool calls are done on the other side, so that a turn of an agent with tools may act outside,
   * and no person can be asked here. Its results hand no calls back.
   */
  runsTools?(settings: AdapterSettings): boolean
  /** Knows the secrets that it was given otherwise than by settings. */
  readonly redactor?: Redactor
  /** The other side keeps sessions beyond this process: they are noted before they are opened. */
  keepsSessions?(settings: AdapterSettings): boolean
  /** What is wrong with these settings, for people; empty when they will do. */
  validate?(settings: AdapterSettings): readonly string[]
  /** Throws `EffectFailure`; loads its libraries here and no earlier. */
  open(session: SessionOptions): Promise<AgentSession>
}

/** One agent's side of one run. Turns of a session come one after the other. */
export interface AgentSession {
  /** What the other side calls it, where it keeps it beyond this process. */
  readonly id?: string
  /**
   * Does one turn. Resolves for every answer, `failed` and `aborted` included; throws
   * `EffectFailure` when there is no answer (`definite` only when certainly nothing was begun).
   */
  turn(request: TurnRequest, options: TurnOptions): Promise<TurnResult>
  /**
   * What an earlier try of this turn gave, where the other side can tell by `invocationId`;
   * undefined when it cannot, or knows nothing of it.
   */
  locate?(request: TurnRequest): Promise<TurnResult | undefined>
  /**
   * Lets go of the session on the other side too; never throws for one that is gone already. One
   * that throws because the other side cannot be reached is asked again at another time.
   */
  dispose(): Promise<void>
}

/**
 * How to reach a model: `apiKey` and other secrets are references (`env:`, `file:`) in documents.
 */
export interface AdapterSettings {
  readonly transport?: string
  readonly baseUrl?: string
  readonly apiKey?: string
  readonly model?: string
  readonly temperature?: number
  readonly maxTokens?: number
  /** Whatever else an adapter knows. */
  readonly options?: JsonObject
}

/** What a session of an agent is opened with. */
export interface SessionOptions {
  readonly runId: string
  readonly agentId: string
  readonly flowName: string
  /**
   * To be used for every request, unless the host gave a `fetch` of its own: a document has named
   * the server, and this one asks only what the network policy allows (K15).
   */
  readonly fetch?: typeof globalThis.fetch
  /** Merged by precedence (A3), secrets resolved: never to be logged, sealed or put in an error. */
  readonly settings: AdapterSettings
  readonly systemPrompt?: string
  /**
   * `session` of an earlier turn of this run and agent: a process that has crashed left it open. To
   * be used on and disposed of at the end; when it is gone, the turn fails as `session_lost`.
   */
  readonly earlier?: string
  /**
   * The id to open the session under, where the other side lets callers choose: asked twice, it
   * then opens one. One that does not gives an id of its own.
   */
  readonly proposed?: string
}

/** What a turn is for: work, a plan, an evaluation, or a summary. */
export type TurnMode = 'normal' | 'plan' | 'evaluate' | 'summarize'

/** What one turn asks; plain JSON. */
export interface TurnRequest extends TurnBody {
  /** Idempotency key: the same for every try of the same turn (L7). */
  readonly invocationId: string
}

/** A turn as the block asks for it; the key is added by the provider. */
export interface TurnBody {
  readonly runId: string
  readonly nodeId: string
  readonly agentId: string
  readonly turnMode: TurnMode
  /** Assembled from the prompt assets, node and input. */
  readonly prompt: string
  readonly input: JsonObject
  /** What was said before in this turn: tool calls and their results. */
  readonly messages: readonly TurnMessage[]
  readonly expectedOutput?: ExpectedOutput
  readonly tools?: readonly ToolDefinition[]
  /** As flow or agent say; absent: the adapter's settings decide, and the result says. */
  readonly model?: string
  readonly temperature?: number
  readonly maxTokens?: number
}

/** A message of the conversation that a turn continues. */
export type TurnMessage =
  | { readonly role: 'system' | 'user'; readonly text: string }
  | {
      readonly role: 'assistant'
      readonly text: string
      readonly toolCalls?: readonly ToolCall[]
      /** Some models want their own reasoning back beside tool results. */
      readonly reasoningText?: string
    }
  | {
      readonly role: 'tool'
      readonly toolCallId: string
      readonly name: string
      readonly result: Json
    }

/** The shape that the answer is checked against, as JSON Schema. */
export interface ExpectedOutput {
  readonly schemaRef: string
  readonly schema: JsonObject
}

/** A tool as a model is told of it. */
export interface ToolDefinition {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject
}

/** A tool that a model asked for, with its arguments. */
export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: Json
}

/** What an adapter is handed beside the request of a turn. */
export interface TurnOptions {
  readonly signal: AbortSignal
  readonly invocationId: string
  /** Called as text arrives; events, never history (A5). */
  readonly onDelta?: (delta: TurnDelta) => void
  /** Of the span of its effect, where telemetry is on: a header of what is sent, and no more. */
  readonly traceparent?: string
}

/** A part of a turn that is streamed, before the turn is sealed. */
export interface TurnDelta {
  readonly kind: 'text' | 'reasoning' | 'tool'
  readonly text: string
}

/**
 * What a turn gave: sealed as it is, so plain JSON without secrets. In `structuredOutput` and tool
 * arguments, numbers that a JSON number does not hold exactly are decimal text (A7).
 */
export interface TurnResult {
  readonly status: 'completed' | 'failed' | 'aborted'
  readonly finalText: string
  readonly reasoningText?: string
  readonly structuredOutput?: Json
  readonly toolCalls: readonly ToolCall[]
  readonly usage: TurnUsage
  readonly model: string
  readonly warnings: readonly string[]
  readonly error?: TurnError
  /** What the other side calls the session, where it keeps one beyond this process. */
  readonly session?: string
}

/** Tokens of a turn, and what they cost where that is known. */
export interface TurnUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly totalTokens: number
  /** Decimal text in US dollars, where the provider says. */
  readonly costUsd?: string
  /** Not told by the provider: there were no more tokens than this. */
  readonly isUpperBound?: boolean
}

/** Why a turn failed, in a form that is the same for every adapter. */
export interface TurnError {
  readonly code: string
  readonly message: string
  readonly category: 'adapter' | 'model' | 'tool' | 'budget' | 'platform' | 'unknown'
  readonly retryable: boolean
}

/** Name of the effect that does a turn, and of the provider that answers it. */
export const TURN_EFFECT = 'agent.turn'

/** The request of {@link TURN_EFFECT}: what is hashed into the receipt. Secrets by reference. */
export interface TurnEffectRequest {
  readonly adapterKind: string
  /** Of flow and agent, merged; the adapter's defaults and the environment come in later (A3). */
  readonly adapterConfig: AdapterSettings
  readonly flowName: string
  readonly systemPrompt?: string
  /** The provider gives the turn up after this long; what was sent by then is not known (L7). */
  readonly timeoutMs: number
  /** As the agent's last turn in this run told it. */
  readonly session?: string
  /** A time budget bounds the agent or the flow, so the result says how long it worked. */
  readonly countsWork?: true
  readonly turn: TurnBody
}
