import { isJsonObject, type Json, type JsonObject, limits } from '../../core/index.js'
import type {
  AgentSession,
  SessionOptions,
  TurnOptions,
  TurnRequest,
  TurnResult
} from '../adapters/adapter.js'
import { turnFailure } from './failures.js'
import { type PiCommand, PiProcess } from './pi-process.js'
import { piRpcResult } from './pi-rpc-reply.js'

/**
 * A session of a pi agent in a process of its own, over its RPC mode (JSON lines on stdin and
 * stdout). pi does its own tools: give it `--no-tools`, or declare the agent's side effects.
 *
 * Owns: the process. A turn that was called off or broke takes the process with it, because what it
 * would still say could not be separated from the next turn's answer.
 */
export async function openPiRpcSession(
  session: SessionOptions,
  command: PiCommand
): Promise<AgentSession> {
  const pi = await PiProcess.start(command)
  // Whether to try again is for the block's recovery to decide.
  pi.send({ type: 'set_auto_retry', enabled: false })
  return new PiRpcSession(pi, session.systemPrompt)
}

class PiRpcSession implements AgentSession {
  readonly #pi: PiProcess
  #systemPrompt: string | undefined

  constructor(pi: PiProcess, systemPrompt: string | undefined) {
    this.#pi = pi
    this.#systemPrompt = systemPrompt
  }

  async turn(request: TurnRequest, options: TurnOptions): Promise<TurnResult> {
    const { signal } = options
    if (signal.aborted) throw turnFailure('not_sent')
    if (this.#pi.isGone) throw turnFailure('session_lost', {})
    try {
      const messages = await this.#converse(request, options)
      return await piRpcResult(request, messages)
    } catch (error) {
      if (!isRefused(error)) this.#pi.kill()
      throw error
    } finally {
      this.#pi.listen(undefined)
    }
  }

  dispose(): Promise<void> {
    return this.#pi.close()
  }

  /** Sends the prompt; gives the messages of the agent's whole answer. */
  #converse(request: TurnRequest, options: TurnOptions): Promise<readonly JsonObject[]> {
    const { signal } = options
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#pi.send({ type: 'abort' })
        reject(turnFailure('aborted', {}))
      }
      signal.addEventListener('abort', abort, { once: true })
      let length = 0
      this.#pi.listen((line) => {
        const heard = this.#hear(line, request, options)
        if (heard.kind === 'failed') reject(heard.failure)
        if (heard.kind === 'ended') resolve(heard.messages)
        if (heard.kind === 'delta') length += heard.length
        if (length > limits.TURN_TEXT_LENGTH_MAX) reject(turnFailure('response_too_large', {}))
        if (heard.kind !== 'delta') signal.removeEventListener('abort', abort)
      })
      this.#pi.send({ id: request.invocationId, type: 'prompt', message: this.#message(request) })
    })
  }

  #hear(line: Json | undefined, request: TurnRequest, { onDelta }: TurnOptions): Heard {
    if (!isJsonObject(line)) {
      return { kind: 'failed', failure: turnFailure(this.#pi.problem, {}) }
    }
    if (line['type'] === 'response' && line['id'] === request.invocationId) {
      if (line['success'] === true) return { kind: 'delta', length: 0 }
      return { kind: 'failed', failure: turnFailure('refused', {}) }
    }
    if (line['type'] === 'agent_end') {
      const messages = line['messages']
      return {
        kind: 'ended',
        messages: Array.isArray(messages) ? messages.filter(isJsonObject) : []
      }
    }
    const event = line['type'] === 'message_update' ? line['assistantMessageEvent'] : undefined
    if (!isJsonObject(event)) return { kind: 'delta', length: 0 }
    const { type, delta } = event
    if (typeof delta !== 'string') return { kind: 'delta', length: 0 }
    if (type === 'text_delta') onDelta?.({ kind: 'text', text: delta })
    if (type === 'thinking_delta') onDelta?.({ kind: 'reasoning', text: delta })
    return { kind: 'delta', length: delta.length }
  }

  #message(request: TurnRequest): string {
    const said = request.messages.map((message) =>
      message.role === 'tool' ? `${message.name}: ${JSON.stringify(message.result)}` : message.text
    )
    const parts = [this.#systemPrompt, request.prompt, ...said]
    this.#systemPrompt = undefined
    const text = parts.filter((part) => part !== undefined && part !== '').join('\n\n')
    // A prompt that begins with a slash would be one of pi's own commands.
    return text.startsWith('/') ? `\n${text}` : text
  }
}

type Heard =
  | { readonly kind: 'delta'; readonly length: number }
  | { readonly kind: 'ended'; readonly messages: readonly JsonObject[] }
  | { readonly kind: 'failed'; readonly failure: Error }

function isRefused(error: unknown): boolean {
  return error instanceof Error && error.message === 'refused'
}
