import type { Client, ClientOptions } from '@modelcontextprotocol/sdk/client/index.js'
import { EffectFailure } from '../../code/index.js'
import { type Json, type JsonObject, limits } from '../../core/index.js'
import { sealable } from '../transports/sealable.js'
import { ChildTransport } from './child-transport.js'
import { exactFetch } from './exact-messages.js'
import type { McpClientLibrary } from './library.js'
import type { McpServerPlace } from './place.js'
import { type McpTool, toolOf } from './tool.js'

/**
 * One MCP server, connected when it is needed.
 *
 * Owns: the connection, and the tools as they were last listed. A connection that broke is made
 * again by the next call; the call that was under way is not repeated here.
 */
export class McpLink {
  readonly #library: McpClientLibrary
  readonly #place: McpServerPlace
  /** Of calls under way, by their keys: what lets go of their connections. */
  readonly #calls = new Map<string, AbortSignal>()
  /** Aborts when the server has sent a message that is too long: nothing more is read of it. */
  #tooLong = new AbortController()
  #client: Promise<Client> | undefined
  #tools: Promise<readonly McpTool[]> | undefined

  constructor(library: McpClientLibrary, place: McpServerPlace) {
    this.#library = library
    this.#place = place
  }

  /** The server's tools; listed again after it said that they changed, or went away. */
  async tools(): Promise<readonly McpTool[]> {
    const client = await this.#connected()
    this.#tools ??= this.#listed(client)
    try {
      return await this.#tools
    } catch (error) {
      this.#tools = undefined
      throw error
    }
  }

  /** Calls a tool. Throws `EffectFailure` that quotes nothing of arguments or answer. */
  async call(
    tool: { readonly name: string; readonly arguments: JsonObject; readonly key: string },
    signal: AbortSignal
  ): Promise<Json> {
    if (signal.aborted) throw new EffectFailure('not_sent', { definite: true })
    const client = await this.#connected()
    const { name, arguments: given, key } = tool
    // Not `client.callTool`: it checks the answer and then throws what looks like a refusal.
    const params = { name, arguments: given, _meta: { [KEY]: key } }
    const method = 'tools/call' as const
    const { signal: tooLong } = this.#tooLong
    const either = AbortSignal.any([signal, tooLong])
    const options = { signal: either, timeout: limits.MCP_CALL_MS, resetTimeoutOnProgress: true }
    let result: Awaited<ReturnType<Client['callTool']>>
    const calling = new AbortController()
    this.#calls.set(key, calling.signal)
    try {
      const schema = this.#library.CallToolResultSchema
      result = await client.request({ method, params }, schema, options)
    } catch (error) {
      // The SDK tells the server that a call is over, and waits for its answer all the same.
      calling.abort()
      throw this.#failureOf(error, { signal, tooLong })
    } finally {
      this.#calls.delete(key)
    }
    return answerOf(result)
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined)
    await client?.close()
  }

  #connected(): Promise<Client> {
    this.#client ??= this.#connect().catch((error: unknown) => {
      this.#forget()
      if (error instanceof EffectFailure) throw error
      throw new EffectFailure('unreachable', { definite: true })
    })
    return this.#client
  }

  async #connect(): Promise<Client> {
    const { Client, ToolListChangedNotificationSchema } = this.#library
    this.#tooLong = new AbortController()
    const client = new Client(NAMED, { jsonSchemaValidator: unchecked })
    client.onclose = () => this.#forget()
    // Told by what the calls come to; the default would print it.
    client.onerror = () => undefined
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      this.#tools = undefined
    })
    await client.connect(this.#transport(), { timeout: limits.AGENT_OPEN_MS })
    return client
  }

  /** Lets go of a connection whose end is no news to the next. */
  async #left(): Promise<void> {
    const connected = this.#client
    this.#forget()
    const client = await connected
    if (client === undefined) return
    client.onclose = () => undefined
    await client.close()
  }

  #forget(): void {
    this.#client = undefined
    this.#tools = undefined
  }

  #transport() {
    const place = this.#place
    const refused = this.#tooLong
    const refuse = () => {
      refused.abort()
      void this.#left().catch(() => undefined)
    }
    if ('url' in place) {
      const { StreamableHTTPClientTransport } = this.#library
      const { url, headers = {} } = place
      const requestInit = { headers: { ...headers }, redirect: 'error' as const }
      // The SDK's own types do not agree under exact optional properties.
      return new StreamableHTTPClientTransport(new URL(url), {
        requestInit,
        fetch: exactFetch((input, init) => globalThis.fetch(input, this.#calledOff(init)), refuse)
      }) as never
    }
    return new ChildTransport(this.#library, place, refuse) as never
  }

  /** A request that is a call ends with it. */
  #calledOff(init: RequestInit = {}): RequestInit {
    const { body, signal } = init
    const calling = this.#calls.size === 0 ? undefined : this.#calls.get(keyIn(body) ?? '')
    if (calling === undefined) return init
    return { ...init, signal: signal ? AbortSignal.any([signal, calling]) : calling }
  }

  async #listed(client: Client): Promise<readonly McpTool[]> {
    const found: McpTool[] = []
    const { signal } = this.#tooLong
    let cursor: string | undefined
    for (let page = 0; page < limits.MCP_PAGES_MAX; page += 1) {
      const list = await client.listTools(cursor === undefined ? {} : { cursor }, { signal })
      found.push(...list.tools.flatMap((listed) => toolOf(listed) ?? []))
      cursor = list.nextCursor
      if (cursor === undefined) return found
    }
    throw new EffectFailure('response_too_large', { definite: true })
  }

  #failureOf(
    error: unknown,
    { signal, tooLong }: { readonly signal: AbortSignal; readonly tooLong: AbortSignal }
  ): EffectFailure {
    if (signal.aborted) return new EffectFailure('aborted')
    if (tooLong.aborted) return new EffectFailure('response_too_large')
    if (error instanceof EffectFailure) return error
    const { McpError, ErrorCode } = this.#library
    if (!(error instanceof McpError)) return new EffectFailure('connection_lost')
    const details = { code: error.code }
    switch (error.code) {
      case ErrorCode.MethodNotFound:
      case ErrorCode.InvalidParams:
      case ErrorCode.InvalidRequest:
        return new EffectFailure('refused', { definite: true, details })
      case ErrorCode.RequestTimeout:
        return new EffectFailure('timed_out', { details })
      case ErrorCode.ConnectionClosed:
        return new EffectFailure('connection_lost', { details })
      default:
        return new EffectFailure('server_failed', { details })
    }
  }
}

const NAMED = { name: 'tallystick', version: '1' }

/**
 * The SDK would make code of each schema on a server's list, and run it on what that server sends.
 * Nothing here asks it to check answers.
 */
const unchecked: NonNullable<ClientOptions['jsonSchemaValidator']> = {
  getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined })
}

const KEY = 'tallystick/idempotencyKey'

/** The key of the call that a message is. */
function keyIn(body: unknown): string | undefined {
  if (typeof body !== 'string') return undefined
  const { params } = JSON.parse(body) as {
    readonly params?: { readonly _meta?: { readonly [KEY]?: string } }
  }
  return params?._meta?.[KEY]
}

/** What a tool answered, as the ledger can keep it. A tool's own error may have acted before. */
async function answerOf(result: Awaited<ReturnType<Client['callTool']>>): Promise<Json> {
  const { content, structuredContent, isError } = result
  const kept = await sealable({
    content: content ?? [],
    ...(structuredContent === undefined ? {} : { structuredContent })
  })
  if (isError === true)
    throw new EffectFailure('tool_failed', { details: { answer: kept ?? null } })
  if (kept === undefined) throw new EffectFailure('malformed_response')
  return kept
}
