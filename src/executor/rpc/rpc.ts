import {
  type Clock,
  isJsonObject,
  type Json,
  limits,
  type Redactor,
  shownText
} from '../../core/index.js'
import { cleanJson } from '../failure.js'
import { Limiter } from '../limiter.js'
import { RpcError, type RpcProblem } from './rpc-error.js'
import { OversizedReply, type RpcTransport } from './transport.js'

/** One JSON-RPC call. */
export interface RpcCall {
  readonly method: string
  readonly params: readonly Json[]
}

/** A result, or what the node said instead. */
export type Settled = Json | RpcError

/** What JSON-RPC means to chains of one kind. */
export interface RpcDialect {
  /** Asks an endpoint which chain it serves. */
  readonly identity: RpcCall
  /** Whether an answer names the right chain. */
  isOwn(identity: Json): boolean
  /** What is said of an endpoint that serves another one. */
  readonly mismatch: string
  /** Methods whose parameters are signed bytes, or as long: no diagnostic has them. */
  readonly hidden: ReadonlySet<string>
  /** What an error of a node says of the node, not of the call: then the next one is asked. */
  unfit(code: Json | undefined): { readonly code: RpcProblem; readonly message: string } | undefined
  /** Reads an answer; throws `SyntaxError`, or gives a promise that rejects with one. */
  parse(text: string): unknown
}

export interface RpcOptions {
  readonly dialect: RpcDialect
  /** Addresses, looked up when they are needed: they may be secrets. */
  readonly endpoints: readonly (() => Promise<string | undefined>)[]
  readonly transport: RpcTransport
  readonly clock: Clock
  readonly timeoutMs: number
  /** Takes keys out of what nodes say, before it is cut to the length of a diagnostic. */
  readonly redactor: Redactor
}

/**
 * JSON-RPC over the endpoints of one chain.
 *
 * Owns: which endpoints were found to serve the right chain, and how many calls are under way.
 * Does not own: what calls mean, or whether to do them again; a call is tried once per endpoint,
 * and again after the pause that a busy one asks for.
 *
 * 1. No endpoint is asked anything before it has named the right chain; after a failure, again.
 *    Every request of several calls asks for the chain, too: before each write, and at looks.
 * 2. An answer of a node, also a refusal, is final; the next endpoint is for calls without one.
 * 3. No address leaves it, in no error.
 */
export class Rpc {
  readonly #options: RpcOptions
  readonly #limiter = new Limiter(limits.CHAIN_CALLS_AT_ONCE)
  readonly #checked = new Set<number>()
  #ids = 0

  constructor(options: RpcOptions) {
    this.#options = options
  }

  /** The call that names the chain; among several calls it is checked with their answers. */
  get identity(): RpcCall {
    return this.#options.dialect.identity
  }

  async call(method: string, params: readonly Json[], signal: AbortSignal): Promise<Json> {
    const [result = null] = allOf(await this.#overEndpoints([{ method, params }], signal))
    return result
  }

  /**
   * A call that changes something: to one endpoint only, the first that serves the right chain. An
   * error without an answer leaves open whether it arrived, unless it says `neverSent`.
   */
  async send(method: string, params: readonly Json[], signal: AbortSignal): Promise<Json> {
    const endpoint = await this.#usable(signal)
    const calls = [{ method, params }]
    try {
      const [result = null] = allOf(
        await this.#limiter.run(() => this.#exchange(endpoint, calls, signal))
      )
      return result
    } catch (error) {
      if (error instanceof RpcError && !error.answered) this.#checked.delete(endpoint)
      throw error
    }
  }

  async #usable(signal: AbortSignal): Promise<number> {
    const [known] = this.#checked
    if (known !== undefined) return known
    try {
      const { method, params } = this.#options.dialect.identity
      await this.call(method, params, signal)
    } catch (error) {
      if (error instanceof RpcError) error.neverSent = true
      throw error
    }
    const [endpoint = 0] = this.#checked
    return endpoint
  }

  /** Several calls in one request. The first refusal among them fails all. */
  async batch(calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly Json[]> {
    return allOf(await this.settle(calls, signal))
  }

  /** Several calls in one request, each with its result or the node's refusal. */
  async settle(calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly Settled[]> {
    const settled = await this.#overEndpoints(calls, signal)
    if (calls.length === 1 || settled.some((one) => !(one instanceof RpcError))) return settled
    // A node that takes no batches refuses all of it.
    const alone = calls.map((one) => this.#overEndpoints([one], signal))
    return (await Promise.all(alone)).flat()
  }

  /**
   * The calls to every endpoint, at once: what each settles them with, or why it gave nothing. For
   * what only all of them can say, and for bytes that may be sent many times.
   */
  async settleEach(
    calls: readonly RpcCall[],
    signal: AbortSignal
  ): Promise<readonly (readonly Settled[] | RpcError)[]> {
    const asked = this.#options.endpoints.map(async (_, endpoint) => {
      try {
        return await this.#limiter.run(() => this.#atOneByOne(endpoint, calls, signal))
      } catch (error) {
        if (!(error instanceof RpcError)) throw error
        this.#checked.delete(endpoint)
        return error
      }
    })
    return Promise.all(asked)
  }

  /** Asks call by call where a node takes no batches. */
  async #atOneByOne(endpoint: number, calls: readonly RpcCall[], signal: AbortSignal) {
    const settled = await this.#at(endpoint, calls, signal)
    if (calls.length === 1 || settled.some((one) => !(one instanceof RpcError))) return settled
    const alone: Settled[] = []
    for (const one of calls) alone.push(...(await this.#at(endpoint, [one], signal)))
    return alone
  }

  async #overEndpoints(
    calls: readonly RpcCall[],
    signal: AbortSignal
  ): Promise<readonly Settled[]> {
    for (let pauses = 0; ; pauses += 1) {
      try {
        return await this.#round(calls, signal)
      } catch (error) {
        const pauseMs = error instanceof RpcError ? error.pauseMs : undefined
        if (pauseMs === undefined || pauses >= limits.RPC_PAUSES_MAX) throw error
        await this.#pause(pauseMs, signal)
        if (signal.aborted) throw error
      }
    }
  }

  #pause(pauseMs: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options
    return new Promise((resolve) => {
      const end = () => {
        callOff()
        signal.removeEventListener('abort', end)
        resolve()
      }
      const callOff = clock.schedule(clock.now() + pauseMs, end)
      signal.addEventListener('abort', end, { once: true })
      if (signal.aborted) end()
    })
  }

  /** Each endpoint once, until one answers. */
  async #round(calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly Settled[]> {
    const { endpoints } = this.#options
    let failure: RpcError | undefined
    for (let endpoint = 0; endpoint < endpoints.length; endpoint += 1) {
      try {
        return await this.#limiter.run(() => this.#at(endpoint, calls, signal))
      } catch (error) {
        if (!(error instanceof RpcError)) throw error
        this.#checked.delete(endpoint)
        failure ??= error
        if (signal.aborted) break
      }
    }
    throw failure ?? this.#error('rpc_down', 'no endpoint is configured', 0, calls, null)
  }

  async #at(endpoint: number, calls: readonly RpcCall[], signal: AbortSignal) {
    if (!this.#checked.has(endpoint)) {
      await this.#checkChain(endpoint, signal)
      this.#checked.add(endpoint)
    }
    const { identity } = this.#options.dialect
    const isAlone = calls.length === 1 || calls.includes(identity)
    const asked = isAlone ? calls : [...calls, identity]
    const settled = await this.#exchange(endpoint, asked, signal)
    for (const [index, one] of asked.entries()) {
      const named = settled[index]
      // A node that takes no batches refuses this one with the others, which are then asked alone.
      if (one === identity && !(named instanceof RpcError)) this.#holdToChain(endpoint, named)
    }
    return settled.slice(0, calls.length)
  }

  async #checkChain(endpoint: number, signal: AbortSignal): Promise<void> {
    const { identity } = this.#options.dialect
    const [answer] = allOf(await this.#exchange(endpoint, [identity], signal))
    this.#holdToChain(endpoint, answer)
  }

  #holdToChain(endpoint: number, answer: Json | undefined): void {
    const { dialect } = this.#options
    if (dialect.isOwn(answer ?? null)) return
    const { identity, mismatch } = dialect
    throw this.#error('chain_mismatch', mismatch, endpoint, [identity], answer ?? null)
  }

  async #exchange(endpoint: number, calls: readonly RpcCall[], signal: AbortSignal) {
    const url = await this.#options.endpoints[endpoint]?.()
    const fail = (code: RpcProblem, message: string, response: Json = null) =>
      this.#error(code, message, endpoint, calls, response)
    if (url === undefined) throw fail('missing_secret', 'the address of the endpoint is not there')
    const first = this.#ids
    this.#ids += calls.length
    const bodies = calls.map(({ method, params }, index) => ({
      jsonrpc: '2.0',
      id: first + index,
      method,
      params
    }))
    const body = JSON.stringify(bodies.length === 1 ? bodies[0] : bodies)
    const reply = await this.#carry({ url, body, signal }, fail)
    if (reply.status === 429) {
      const refusal = fail('rpc_rate_limited', 'the endpoint asks for fewer calls')
      refusal.pauseMs = pauseMsIn(reply.retryAfter, this.#options.clock.now())
      throw refusal
    }
    const replies = await this.#repliesIn(reply.text)
    if (replies === undefined) {
      if (reply.status >= 400) throw fail('rpc_down', `the endpoint answers HTTP ${reply.status}`)
      throw fail('rpc_malformed', 'the answer is not JSON')
    }
    return calls.map((_, index) => this.#resultOf(replies, first + index, endpoint, calls))
  }

  async #repliesIn(text: string): Promise<readonly Json[] | undefined> {
    const { redactor, dialect } = this.#options
    const replies = await repliesIn(text, dialect)
    if (replies === undefined) return undefined
    if ((await redactor.inTurns('text', text)) === text) return replies
    return (await redactor.inTurns('json', replies)) as readonly Json[]
  }

  /** Sends a body within the time given, and names what went wrong without the address. */
  async #carry(
    request: { readonly url: string; readonly body: string; readonly signal: AbortSignal },
    fail: (code: RpcProblem, message: string) => RpcError
  ) {
    const { clock, timeoutMs, transport } = this.#options
    const limit = new AbortController()
    const callOff = clock.schedule(clock.now() + timeoutMs, () => limit.abort())
    try {
      const signal = AbortSignal.any([request.signal, limit.signal])
      return await transport({ ...request, signal })
    } catch (error) {
      if (limit.signal.aborted) throw fail('rpc_timeout', 'the endpoint does not answer in time')
      if (request.signal.aborted) throw fail('rpc_timeout', 'the call was given up')
      if (error instanceof OversizedReply) throw fail('rpc_malformed', 'the answer is too large')
      throw fail('rpc_down', 'the endpoint cannot be reached')
    } finally {
      callOff()
    }
  }

  #resultOf(
    replies: readonly Json[],
    id: number,
    endpoint: number,
    calls: readonly RpcCall[]
  ): Settled {
    const fail = (code: RpcProblem, message: string, response: Json, answered = false) =>
      this.#error(code, message, endpoint, calls, response, answered)
    const reply =
      replies.find((one) => isJsonObject(one) && one['id'] === id) ??
      // An error about the whole request has no id.
      replies.find(
        (one) => isJsonObject(one) && one['id'] === null && isJsonObject(one['error'] ?? null)
      )
    if (!isJsonObject(reply ?? null)) {
      throw fail('rpc_malformed', 'the answer is not the one to the call', reply ?? null)
    }
    const { error, result } = reply as { readonly error?: Json; readonly result?: Json }
    if (error !== undefined && error !== null) {
      const { code } = isJsonObject(error) ? error : { code: null }
      const unfit = this.#options.dialect.unfit(code)
      if (unfit !== undefined) throw fail(unfit.code, unfit.message, error)
      const said = isJsonObject(error) ? shownText(error['message'] ?? '') : ''
      return fail('rpc_error', `the node refuses: ${said}`, error, true)
    }
    if (result === undefined) throw fail('rpc_malformed', 'the answer has no result', reply ?? null)
    return result
  }

  #error(
    code: RpcProblem,
    message: string,
    endpoint: number,
    calls: readonly RpcCall[],
    response: Json,
    answered = false
  ): RpcError {
    const methods = [...new Set(calls.map(({ method }) => method))].join(', ')
    const request = calls.map((call) => this.#shown(call))
    const first = request[0] ?? null
    return new RpcError(code, message, {
      answered,
      exchange: {
        endpoint,
        method: methods,
        request: calls.length === 1 ? first : cleanJson(request),
        response
      }
    })
  }

  /** Parameters fit for a diagnostic: signed bytes stay out of it. */
  #shown({ method, params }: RpcCall): Json {
    return this.#options.dialect.hidden.has(method) ? ['[signed bytes]'] : cleanJson([...params])
  }
}

/** The delay of a header `retry-after`, seconds or a date; undefined: none, or too long to wait. */
function pauseMsIn(header: string | null | undefined, now: number): number | undefined {
  if (header === null || header === undefined) return undefined
  const seconds = /^[0-9]{1,9}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now
  return seconds >= 0 && seconds <= limits.RPC_PAUSE_MS_MAX ? seconds : undefined
}

function allOf(settled: readonly Settled[]): readonly Json[] {
  return settled.map((one) => {
    if (one instanceof RpcError) throw one
    return one
  })
}

async function repliesIn(text: string, dialect: RpcDialect): Promise<readonly Json[] | undefined> {
  try {
    const parsed = (await dialect.parse(text)) as Json
    if (Array.isArray(parsed)) return parsed
    return isJsonObject(parsed) ? [parsed] : undefined
  } catch {
    return undefined
  }
}
