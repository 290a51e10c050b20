import type { IncomingMessage, ServerResponse } from 'node:http'
import { isJsonObject, type Json, type JsonObject, parse, shownText } from '../../core/index.js'
import { loadViem } from '../../executor/index.js'
import type { FakeChain } from '../fake-chain.js'
import { LoopbackServer, textOf } from '../loopback-server.js'
import { EvmState } from './evm-state.js'
import type { EvmToken } from './evm-token.js'
import { NodeMethods } from './methods.js'
import { NodeError } from './node-error.js'

/** A call as the node read it. */
export interface EvmNodeCall {
  readonly method: string
  readonly params: readonly Json[]
  /** How many calls of this method came before. */
  readonly nth: number
}

/** What becomes of a request instead of an answer. */
export type EvmNodeFault =
  /** An answer of HTTP alone, and nothing is done: 429 with `retry-after`, 503. */
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  /** The node refuses this call. */
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: Json } }
  /**
   * `before`: the connection breaks, and nothing is done; `after`: it is done, and the answer is
   * lost; `hang`: nothing is done, and no answer ever comes; `malformed`: no JSON.
   */
  | { readonly breaks: 'before' | 'after' | 'hang' | 'malformed' }

export interface EvmNodeOptions {
  /** Default: 31337. */
  readonly chainId?: number
  /** Wei by address. */
  readonly balances?: Readonly<Record<string, bigint>>
  readonly tokens?: readonly EvmToken[]
  /**
   * What goes wrong with a call; undefined: it is answered. Of several calls in one request, the
   * first that breaks or has a status decides for all. It may be replaced while the node runs.
   */
  readonly script?: (call: EvmNodeCall) => EvmNodeFault | undefined
}

/**
 * An EVM node on loopback, with accounts and ERC-20 tokens in memory: executors and clients speak
 * JSON-RPC with it over HTTP, unchanged. Signed transactions are decoded and checked by viem; their
 * gas and fees are made up, and contracts cannot be deployed. Deterministic: the same calls give
 * the same hashes, blocks and times.
 *
 * @example
 * await using node = await startEvmNode({ balances: { [account.address]: 10n ** 18n } })
 * const evm = evmExecutor({ chains: { [node.id]: { rpc: [node.url], signer: 'env:KEY' } }, … })
 */
export interface EvmNode extends AsyncDisposable {
  readonly url: string
  /** CAIP-2. */
  readonly id: string
  /** Pool and blocks: `mining`, `mine`, `reorg`, `holds` for what is stuck, `forgetPool`. */
  readonly chain: FakeChain
  /** All that it was asked, in order. */
  readonly calls: readonly EvmNodeCall[]
  script: NonNullable<EvmNodeOptions['script']>
  close(): Promise<void>
}

/** Rejects with `executor.missing_library` where viem, an optional peer, is not installed. */
export async function startEvmNode(options: EvmNodeOptions = {}): Promise<EvmNode> {
  const { chainId = 31_337, balances = {}, tokens = [], script = () => undefined } = options
  const viem = await loadViem()
  const state = new EvmState(viem, { chainId, balances, tokens })
  const node = new FakeEvmNode(new NodeMethods(viem, state, chainId), state.chain, script)
  await node.listen()
  return node
}

class FakeEvmNode implements EvmNode {
  readonly chain: FakeChain
  readonly calls: EvmNodeCall[] = []
  script: EvmNode['script']
  /** Calls by method. */
  readonly #counts = new Map<string, number>()
  readonly #methods: NodeMethods
  readonly #server = new LoopbackServer((request, response) => this.#handle(request, response))

  constructor(methods: NodeMethods, chain: FakeChain, script: EvmNode['script']) {
    this.#methods = methods
    this.chain = chain
    this.script = script
  }

  get url(): string {
    return this.#server.url
  }

  get id(): string {
    return this.chain.id
  }

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
      const error = { code: -32_600, message: 'invalid request' }
      return answer(response, { jsonrpc: '2.0', id: null, error })
    }
    const known = calls.filter((one) => one !== undefined)
    const faults = known.map((call) => this.script(call))
    const broken = faults.find((fault) => fault !== undefined && !('error' in fault))
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
    const replies: Json[] = []
    for (const [place, call] of known.entries()) {
      const id = asked[place]?.['id'] ?? null
      replies.push({ jsonrpc: '2.0', id, ...(await this.#reply(call, faults[place])) })
    }
    if (broken !== undefined) response.destroy()
    else answer(response, Array.isArray(given) ? replies : (replies[0] ?? null))
  }

  #note({ method, params = [] }: JsonObject): EvmNodeCall | undefined {
    if (typeof method !== 'string' || !Array.isArray(params)) return undefined
    const nth = this.#counts.get(method) ?? 0
    this.#counts.set(method, nth + 1)
    const call = { method, params, nth }
    this.calls.push(call)
    return call
  }

  async #reply(
    { method, params }: EvmNodeCall,
    fault: EvmNodeFault | undefined
  ): Promise<JsonObject> {
    if (fault !== undefined && 'error' in fault) return { error: { ...fault.error } }
    try {
      return { result: await this.#methods.answer(method, params) }
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      const { code, message, data } = error
      return {
        error: { code, message: shownText(message), ...(data === undefined ? {} : { data }) }
      }
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

function answer(response: ServerResponse, body: Json): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
