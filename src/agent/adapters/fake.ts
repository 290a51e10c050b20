import { type Clock, type Json, systemClock } from '../../core/index.js'
import { type TurnFailureReason, turnFailure } from '../transports/failures.js'
import { replyOf } from '../transports/reply.js'
import type {
  AgentAdapter,
  AgentSession,
  ToolCall,
  TurnOptions,
  TurnRequest,
  TurnResult
} from './adapter.js'

/** What the scripted agent does in one turn. */
export type FakeTurn =
  | {
      readonly text?: string
      readonly reasoning?: string
      readonly structured?: Json
      readonly toolCalls?: readonly ToolCall[]
      /** Length of the pieces in which the text is streamed. Default: one piece. */
      readonly chunkLength?: number
      /** Time between the pieces, in milliseconds. Default 0. */
      readonly chunkMs?: number
      readonly usage?: { readonly inputTokens: number; readonly outputTokens: number }
    }
  | { readonly fails: TurnFailureReason }
  /** Says nothing until it is called off. */
  | { readonly hangs: true }

/** The script: what to answer to a request. A function of the request alone replays best. */
export type FakeScript = (request: TurnRequest) => FakeTurn

/** Options of the adapter that answers by a script, without a model. */
export interface FakeAdapterOptions {
  /** Default: repeats the prompt. */
  readonly script?: FakeScript
  readonly clock?: Clock
}

/** An agent that does what its script says: for tests and demonstrations, without any network. */
export function fakeAdapter(options: FakeAdapterOptions = {}): AgentAdapter {
  const { script = echo, clock = systemClock } = options
  return {
    kind: 'fake',
    open: async (): Promise<AgentSession> => ({
      turn: (request, turnOptions) => fakeTurn(script(request), { request, turnOptions, clock }),
      dispose: async () => undefined
    })
  }
}

/** Lists of answers by node: a node's nth turn in a run gets its nth answer, the last one again. */
export function fakeAnswers(answers: Readonly<Record<string, readonly FakeTurn[]>>): FakeScript {
  const counts = new Map<string, number>()
  return (request) => {
    const key = JSON.stringify([request.runId, request.nodeId])
    const count = counts.get(key) ?? 0
    counts.set(key, count + 1)
    const list = Object.hasOwn(answers, request.nodeId) ? answers[request.nodeId] : undefined
    return list?.[count] ?? list?.at(-1) ?? { fails: 'refused' }
  }
}

function echo({ prompt }: TurnRequest): FakeTurn {
  return { text: prompt }
}

interface Scene {
  readonly request: TurnRequest
  readonly turnOptions: TurnOptions
  readonly clock: Clock
}

async function fakeTurn(turn: FakeTurn, scene: Scene): Promise<TurnResult> {
  const { request, turnOptions, clock } = scene
  const { signal, onDelta } = turnOptions
  if (signal.aborted) throw turnFailure('not_sent')
  if ('fails' in turn) throw turnFailure(turn.fails)
  if ('hangs' in turn) {
    await aborted(signal)
    throw turnFailure('aborted')
  }
  const { text = '', reasoning = '', structured, toolCalls = [] } = turn
  if (reasoning !== '') onDelta?.({ kind: 'reasoning', text: reasoning })
  for (const piece of piecesOf(text, turn.chunkLength ?? text.length)) {
    if (turn.chunkMs !== undefined) await pause(clock, turn.chunkMs)
    if (signal.aborted) throw turnFailure('aborted')
    onDelta?.({ kind: 'text', text: piece })
  }
  return replyOf(request, {
    status: 'completed',
    finalText: text,
    reasoningText: reasoning,
    structuredOutput: structured,
    toolCalls,
    usage: turn.usage ?? { inputTokens: 0, outputTokens: 0 },
    model: request.model ?? 'fake',
    warnings: []
  })
}

function piecesOf(text: string, length: number): readonly string[] {
  if (text === '') return []
  const size = Math.max(1, length)
  const count = Math.ceil(text.length / size)
  return Array.from({ length: count }, (_, at) => text.slice(at * size, (at + 1) * size))
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.schedule(clock.now() + ms, resolve)
  })
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
