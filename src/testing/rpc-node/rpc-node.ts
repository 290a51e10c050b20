import type { IncomingMessage, ServerResponse } from 'node:http'
import { isJsonObject, type Json, type JsonObject, parse, shownText } from '../../core/index.js'
import { LoopbackServer, textOf } from '../loopback-server.js'
import { NodeError, rpcErrors } from './node-error.js'
import { type RpcValue, rpcText } from './rpc-value.js'

/** A call as a node read it. */
export interface RpcCall {
  readonly method: string
  readonly params: readonly Json[]
  /** How many calls of this method came before. */
  readonly nth: number
}

/** What becomes of a request instead of an answer. */
export type RpcFault =
  /** An answer of HTTP alone, and nothing is done: 429 with `retry-after`, 503. */
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  /** The node refuses this call. */
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: Json } }
  /**
   * `before`: the connection breaks, and nothing is done; `after`: it is done, and the answer is
   * lost; `hang`: nothing is done, and no answer ever comes; `malformed`: no JSON.
   */
  | { readonly breaks: 'before' | 'after' | 'hang' | 'malformed' }
  /** Another answer, as of a node that is behind; nothing is done. */
  | { readonly result: Json }
  /** A proxy sends the call twice: it is done twice, and the second answer is given. */
  | { readonly repeats: true }

/** What goes wrong with a call; undefined: it is answered. */
export type RpcScript = (call: RpcCall) => RpcFault | undefined

/** Answers a call, or throws {@link NodeError}. */
export type RpcAnswer = (method: string, params: readonly Json[]) => Promise<RpcValue>

/**
 * A node that speaks JSON-RPC over HTTP on loopback, and fails as its script says. Of several calls
 * in one request, the first that breaks or has a status decides for all.
 *
 * Owns: what it was asked. Does not own: what calls mean.
 */
export class RpcNode {
  readonly calls: RpcCall[] = []
  script: RpcScript
  /** Calls by method. */
  readonly #counts = new Map<string, number>()
  readonly #answer: RpcAnswer
  readonly #server = new LoopbackServer((request, response) => this.#handle(request, response))

  constructor(answer: RpcAnswer, script: RpcScript = () => undefined) {
    this.#answer = answer
    this.script = script
  }

  get url(): string {
    return this.#server.url
  }

  /** Listens; once more after {@link close}: on the same port. */
  listen(): Promise<void> {
    return this.#server.listen()
  }

  close(): Promise<void> {
    return this.#server.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const given = requestIn(await textOf(request))
    const asked = given === undefined ? [] : [given].flat()
    const calls = asked.map((one) => this.#note(one))
    if (given === undefined || calls.includes(undefined)) {
      const error = { code: rpcErrors.invalidRequest, message: 'invalid request' }
      return respond(response, { jsonrpc: '2.0', id: null, error })
    }
    const known = calls.filter((one) => one !== undefined)
    const faults = known.map((call) => this.script(call))
    const broken = faults.find((one) => one !== undefined && ('status' in one || 'breaks' in one))
    if (broken !== undefined && 'status' in broken) {
      const { status, headers = {} } = broken
      response.writeHead(status, headers).end('')
      return
    }
    if (broken !== undefined && 'breaks' in broken && broken.breaks !== 'after') {
      if (broken.breaks === 'before') response.destroy()
      if (broken.breaks === 'malformed') response.writeHead(200).end('<html>an error page</html>')
      return
    }
    const replies: RpcValue[] = []
    for (const [place, call] of known.entries()) {
      const id = asked[place]?.['id'] ?? null
      replies.push({ jsonrpc: '2.0', id, ...(await this.#reply(call, faults[place])) })
    }
    if (broken !== undefined) response.destroy()
    else respond(response, Array.isArray(given) ? replies : (replies[0] ?? null))
  }

  #note({ method, params = [] }: JsonObject): RpcCall | undefined {
    if (typeof method !== 'string' || !Array.isArray(params)) return undefined
    const nth = this.#counts.get(method) ?? 0
    this.#counts.set(method, nth + 1)
    const call = { method, params, nth }
    this.calls.push(call)
    return call
  }

  async #reply(call: RpcCall, fault: RpcFault | undefined) {
    if (fault !== undefined && 'error' in fault) return { error: { ...fault.error } }
    if (fault !== undefined && 'result' in fault) return { result: fault.result }
    if (fault !== undefined && 'repeats' in fault) await this.#answered(call)
    return this.#answered(call)
  }

  async #answered({ method, params }: RpcCall) {
    try {
      return { result: await this.#answer(method, params) }
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      const { code, message, data } = error
      return { error: { code, message: shownText(message), data } }
    }
  }
}

function requestIn(text: string): JsonObject | readonly JsonObject[] | undefined {
  try {
    const given = parse(text)
    if (Array.isArray(given)) return given.every(isJsonObject) ? given : undefined
    return isJsonObject(given) ? given : undefined
  } catch {
    return undefined
  }
}

function respond(response: ServerResponse, body: RpcValue): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(rpcText(body))
}
