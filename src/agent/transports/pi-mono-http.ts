import { EffectFailure } from '../../code/index.js'
import { isJsonObject, type Json, limits, parse, strictJsonInTurns } from '../../core/index.js'
import type {
  AdapterSettings,
  AgentSession,
  SessionOptions,
  TurnOptions,
  TurnRequest,
  TurnResult
} from '../adapters/adapter.js'
import { type Fetch, type Wire, wireOf } from './bounded-fetch.js'
import { within } from './deadline.js'
import { baseUrlOf, endpointOf } from './endpoint.js'
import { connectionFailure, refusalFailure, turnFailure } from './failures.js'
import { piMonoResult } from './pi-mono-reply.js'
import { requestBytes } from './reply.js'

/**
 * The HTTP contract of pi-mono backends: `POST /sessions`, `POST /turns`, `POST /turns/<id>/abort`,
 * `GET /turns/<id>` and `DELETE /sessions/<id>`, with a Bearer key.
 *
 * Owns: one session of the other side. Does not own: retrying; the same `invocationId` may be sent
 * again only when the caller knows that the turn may be repeated.
 */
export async function openPiMonoSession(
  session: SessionOptions,
  { fetch, runsTools }: { readonly fetch: Fetch; readonly runsTools: boolean }
): Promise<AgentSession> {
  const http = new PiMonoHttp(session.settings, fetch)
  const { runId, agentId, flowName, systemPrompt, earlier, proposed } = session
  if (earlier !== undefined) {
    return new PiMonoSession(http, { sessionId: earlier, session, runsTools })
  }
  const { model, temperature } = session.settings
  const body = { sessionId: proposed, runId, agentId, flowName, systemPrompt, model, temperature }
  const opened = await within(limits.AGENT_OPEN_MS, (signal) =>
    http.call('POST', '/sessions', { body, signal })
  )
  const sessionId = isJsonObject(opened) ? opened['sessionId'] : undefined
  if (typeof sessionId !== 'string' || sessionId === '') {
    throw turnFailure('malformed_response', { endpoint: http.endpoint })
  }
  return new PiMonoSession(http, { sessionId, session, runsTools })
}

class PiMonoSession implements AgentSession {
  readonly #http: PiMonoHttp
  readonly #sessionId: string
  readonly #session: SessionOptions
  readonly #runsTools: boolean
  /** What the backend remembers of this process: the model reads it again in every turn. */
  #saidBytes: number

  constructor(
    http: PiMonoHttp,
    options: {
      readonly sessionId: string
      readonly session: SessionOptions
      readonly runsTools: boolean
    }
  ) {
    this.#http = http
    this.#sessionId = options.sessionId
    this.#session = options.session
    this.#runsTools = options.runsTools
    this.#saidBytes = Buffer.byteLength(options.session.systemPrompt ?? '')
  }

  async turn(request: TurnRequest, options: TurnOptions): Promise<TurnResult> {
    const { signal, traceparent } = options
    const { flowName, systemPrompt, settings } = this.#session
    const model = request.model ?? settings.model
    const temperature = request.temperature ?? settings.temperature
    const maxTokens = request.maxTokens ?? settings.maxTokens
    const asked = { ...request, flowName, systemPrompt, model, temperature, maxTokens }
    const body = { ...asked, sessionId: this.#sessionId }
    const abort = () => this.#abort(request.invocationId)
    signal.addEventListener('abort', abort, { once: true })
    try {
      const answer = await this.#http.call('POST', '/turns', {
        body,
        signal,
        isTurn: true,
        traceparent
      })
      const result = await this.#resultOf(request, answer)
      if (result.reasoningText !== undefined) tell(options, 'reasoning', result.reasoningText)
      tell(options, 'text', result.finalText)
      return result
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  async locate(request: TurnRequest): Promise<TurnResult | undefined> {
    const { invocationId } = request
    const path = `/turns/${encodeURIComponent(invocationId)}`
    try {
      const answer = await within(limits.AGENT_OPEN_MS, (signal) =>
        this.#http.call('GET', path, { signal })
      )
      const isIt = isJsonObject(answer) && answer['invocationId'] === invocationId
      return isIt ? await this.#resultOf(request, answer) : undefined
    } catch {
      return undefined
    }
  }

  get id(): string {
    return this.#sessionId
  }

  async dispose(): Promise<void> {
    const path = `/sessions/${encodeURIComponent(this.#sessionId)}`
    try {
      await within(limits.AGENT_STOP_MS, (signal) => this.#http.call('DELETE', path, { signal }))
    } catch (error) {
      if (!isGone(error)) throw error
    }
  }

  async #resultOf(request: TurnRequest, answer: Json): Promise<TurnResult> {
    const session = this.#sessionId
    const { endpoint } = this.#http
    const runsTools = this.#runsTools
    const earlierBytes = this.#saidBytes
    const how = { endpoint, runsTools, earlierBytes }
    const result = await piMonoResult(request, answer, how)
    this.#saidBytes += requestBytes(request) + Buffer.byteLength(result.finalText)
    return { ...result, session }
  }

  #abort(invocationId: string): void {
    const path = `/turns/${encodeURIComponent(invocationId)}/abort`
    void within(limits.AGENT_OPEN_MS, (signal) =>
      this.#http.call('POST', path, { body: {}, signal })
    ).catch(() => undefined)
  }
}

function isGone(error: unknown): boolean {
  if (!(error instanceof EffectFailure) || !isJsonObject(error.details)) return false
  return error.details['status'] === 404 || error.details['status'] === 410
}

function tell({ onDelta }: TurnOptions, kind: 'text' | 'reasoning', text: string): void {
  if (text !== '') onDelta?.({ kind, text })
}

interface Call {
  /** Of the span that the request belongs to. */
  readonly traceparent?: string | undefined
  readonly body?: object
  readonly signal: AbortSignal
  /** A 404 then means that the session is gone. */
  readonly isTurn?: boolean
}

/** Requests and answers as JSON; every failure is an `EffectFailure` that quotes nothing. */
class PiMonoHttp {
  readonly endpoint: string
  readonly #baseUrl: string
  readonly #apiKey: string | undefined
  readonly #fetch: Fetch

  constructor(settings: AdapterSettings, fetch: Fetch) {
    this.#baseUrl = baseUrlOf(settings.baseUrl)
    this.endpoint = endpointOf(this.#baseUrl)
    this.#apiKey = settings.apiKey === '' ? undefined : settings.apiKey
    this.#fetch = fetch
  }

  async call(method: string, path: string, call: Call): Promise<Json> {
    const wire = wireOf(this.#fetch, { bytesMax: limits.TURN_RESPONSE_BYTES_MAX })
    const { endpoint } = this
    let response: Response
    let text: string
    try {
      response = await wire.fetch(`${this.#baseUrl}${path}`, this.#requestOf(method, call))
      text = await response.text()
    } catch (error) {
      throw this.#failureOf(error, wire, call)
    }
    if (!response.ok) throw this.#refusal(response, text, call)
    if (text === '' && method === 'DELETE') return null
    try {
      return await strictJsonInTurns(text)
    } catch {
      throw turnFailure('malformed_response', { endpoint })
    }
  }

  #requestOf(method: string, { body, signal, traceparent }: Call): RequestInit {
    const key = this.#apiKey
    return {
      method,
      signal,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(traceparent === undefined ? {} : { traceparent }),
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    }
  }

  #failureOf(error: unknown, wire: Wire, { signal }: Call): Error {
    const { endpoint } = this
    if (error instanceof EffectFailure) return error
    if (wire.isTooLarge) return turnFailure('response_too_large', { endpoint })
    if (signal.aborted) return turnFailure(wire.isSent ? 'aborted' : 'not_sent', { endpoint })
    return connectionFailure(error, endpoint)
  }

  #refusal(response: Response, text: string, { isTurn = false }: Call): Error {
    const { status } = response
    const { endpoint } = this
    if (status === 404 && isTurn) return turnFailure('session_lost', { endpoint })
    const headers = Object.fromEntries(response.headers)
    return refusalFailure({ status, endpoint, headers, code: codeIn(text) })
  }
}

function codeIn(text: string): unknown {
  try {
    const body = parse(text)
    const error = isJsonObject(body) ? body['error'] : undefined
    return isJsonObject(error) ? error['code'] : undefined
  } catch {
    return undefined
  }
}
