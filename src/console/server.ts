/**
 * The local console's server: the page, the service's methods and the feed, over HTTP on loopback.
 *
 * Owns its two listening sockets, its sessions and what is under way. Does not own the ledger: what
 * a method means, and that its principal is the owner, is the handler's matter.
 *
 * - It listens on 127.0.0.1 and [::1], and nothing opens more.
 * - Every request, reads and the feed too, passes {@link refusalOf}; all but the files of the page
 *   need a session, which a link opens once and within a minute.
 * - Every size, number and time is bounded; what is over a bound is refused, and others continue.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type Clock,
  inspectError,
  isError,
  isJsonObject,
  type Json,
  limits,
  type Random,
  systemClock,
  systemRandom
} from '../core/index.js'
import type { OwnerHandler } from '../ledger/index.js'
import { toRemote } from '../owner/index.js'
import { answerCall, bodyOf, sendJson, statusOf } from './api.js'
import { EventStream } from './event-stream.js'
import { sendFeed } from './feed.js'
import { cookiesOf, type Refusal, refusalOf } from './guard.js'
import { securityHeaders } from './headers.js'
import { fileAt, type PageFiles } from './page-files.js'
import type { SessionReply } from './protocol.js'
import { Sessions } from './sessions.js'

export interface ConsoleOptions {
  /** 0: any that is free. */
  readonly port: number
  /** The methods of the service; `feed` is one of them. */
  readonly handle: OwnerHandler
  readonly page: PageFiles
  /** Takes no method that changes something. */
  readonly isReadOnly?: boolean
  /** The run that is shown first. */
  readonly run?: string | undefined
  readonly clock?: Clock
  readonly random?: Random
}

/** A console that is listening. */
export class ConsoleServer {
  /** Resolves when it was closed. */
  readonly ended: Promise<void>
  readonly #options: ConsoleOptions
  readonly #clock: Clock
  readonly #sessions: Sessions
  readonly #servers: readonly Server[]
  readonly #port: number
  readonly #stop = new AbortController()
  #underWay = 0

  private constructor(options: ConsoleOptions, servers: readonly Server[], port: number) {
    const { clock = systemClock, random = systemRandom } = options
    this.#options = options
    this.#clock = clock
    this.#sessions = new Sessions({ clock, random })
    this.#servers = servers
    this.#port = port
    const closed = servers.map((server) => once(server, 'close'))
    this.ended = Promise.all(closed).then(() => undefined)
    for (const server of servers) {
      server.on('request', (request, response) => void this.#receive(request, response))
    }
  }

  /** Listens on the same port of both addresses of loopback. Throws `console.port_taken`. */
  static async open(options: ConsoleOptions): Promise<ConsoleServer> {
    const first = await listening('127.0.0.1', options.port)
    // It listens, so it has an address.
    const { port } = first.address() as AddressInfo
    // A machine without IPv6 has only the other, and one where the port is taken there, too.
    const second = await listening('::1', port).catch(() => undefined)
    return new ConsoleServer(options, second === undefined ? [first] : [first, second], port)
  }

  /** Addresses that it listens on, as `Host` names them. */
  get hosts(): readonly string[] {
    const suffix = this.#port === HTTP_PORT ? '' : `:${this.#port}`
    return ['127.0.0.1', '[::1]'].slice(0, this.#servers.length).map((one) => `${one}${suffix}`)
  }

  /** A new link, which opens a session once and within a minute. */
  link(): string {
    // A fragment is sent to no server, and stands in no log.
    return `http://${this.hosts[0]}/#token=${this.#sessions.invite()}`
  }

  async close(): Promise<void> {
    this.#stop.abort()
    for (const server of this.#servers) {
      server.close()
      server.closeAllConnections()
    }
    await this.ended
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value)
    if (this.#underWay >= limits.CONSOLE_REQUESTS_MAX) {
      fail(response, inspectError('console.busy', { limit: limits.CONSOLE_REQUESTS_MAX }))
      return
    }
    this.#underWay += 1
    response.once('close', () => {
      this.#underWay -= 1
    })
    // A broken connection ends as a closed one does.
    response.on('error', () => undefined)
    try {
      await this.#answer(request, response)
    } catch (error) {
      if (response.headersSent) response.destroy()
      else fail(response, error)
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = refusalOf(request, this.hosts)
    if (refusal !== undefined) {
      refuse(response, refusal)
      return
    }
    const [path = '', query = ''] = splitOnce(request.url ?? '', '?')
    if (path === '/session') await this.#openSession(request, response)
    else if (path.startsWith('/api/')) {
      await this.#call(path.slice('/api/'.length), query, { request, response })
    } else this.#sendFile(path, request, response)
  }

  async #openSession(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') return refuse(response, notAllowed('POST'))
    const body = await bodyOf(request)
    if (body === undefined) return refuse(response, tooLarge)
    const { value } = body
    const token = isJsonObject(value) ? value['token'] : undefined
    const session = typeof token === 'string' ? this.#sessions.open(token) : undefined
    if (session === undefined && !(token === undefined && this.#hasSession(request))) {
      return refuse(response, noSession)
    }
    if (session !== undefined) {
      const cookie = `${this.#cookie}=${session}; HttpOnly; SameSite=Strict; Path=/`
      response.setHeader('set-cookie', cookie)
    }
    const { isReadOnly = false, run = null } = this.#options
    const reply: SessionReply = { result: { readOnly: isReadOnly, run } }
    sendJson(response, 200, reply)
  }

  async #call(method: string, query: string, { request, response }: Exchange): Promise<void> {
    if (!this.#hasSession(request)) return refuse(response, noSession)
    const isFeed = method === 'feed'
    if (request.method !== (isFeed ? 'GET' : 'POST')) {
      return refuse(response, notAllowed(isFeed ? 'GET' : 'POST'))
    }
    const left = new AbortController()
    response.once('close', () => left.abort())
    const signal = AbortSignal.any([left.signal, this.#stop.signal])
    const { handle, isReadOnly = false } = this.#options
    const clock = this.#clock
    if (isFeed) {
      const asked = new URLSearchParams(query)
      const since = request.headers['last-event-id'] ?? asked.get('since')
      const place = since === null || since === '' ? undefined : String(since)
      if (place !== undefined && !PLACE.test(place)) return refuse(response, notAPlace)
      const pace = asked.get('paceMs') ?? undefined
      if (pace !== undefined && !PACE.test(pace)) return refuse(response, notAPace)
      const paceMs = pace === undefined ? undefined : Number(pace)
      const stream = new EventStream(response, clock)
      await sendFeed({ handle, since: place, paceMs, stream, signal, clock })
      return
    }
    const body = await bodyOf(request)
    if (body === undefined) return refuse(response, tooLarge)
    const params: Json = body.value
    await answerCall(method, { handle, response, params, signal, isReadOnly, clock })
  }

  #sendFile(path: string, request: IncomingMessage, response: ServerResponse): void {
    const file = fileAt(this.#options.page, path)
    if (file === undefined) throw inspectError('console.not_found', { path })
    if (request.method === 'POST') return refuse(response, notAllowed('GET, HEAD'))
    const { type, bytes } = file
    response.writeHead(200, { 'content-type': type, 'content-length': bytes.byteLength })
    response.end(bytes)
  }

  #hasSession(request: IncomingMessage): boolean {
    return cookiesOf(request, this.#cookie).some((one) => this.#sessions.has(one))
  }

  /** Browsers send the cookies of one port to all: the name keeps two consoles apart. */
  get #cookie(): string {
    return `tally_${this.#port}`
  }
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** The port that browsers leave out of `Host`. */
const HTTP_PORT = 80
const PLACE = /^\d{1,16}\.\d{1,16}$/
const PACE = /^[1-9]\d{0,4}$/

const noSession: Refusal = { status: 401, problem: 'it has no session of this console' }
const tooLarge: Refusal = { status: 413, problem: 'its body is too large' }
const notAPace: Refusal = { status: 400, problem: 'paceMs is no number from 1 to 99999' }
const notAPlace: Refusal = { status: 400, problem: 'since is no place of the feed' }

function notAllowed(allow: string): Refusal {
  return { status: 405, problem: 'its method is not allowed here', allow }
}

async function listening(host: string, port: number): Promise<Server> {
  const server = createServer({
    maxHeaderSize: limits.CONSOLE_HEADER_BYTES_MAX,
    headersTimeout: limits.CONSOLE_HEADERS_MS,
    requestTimeout: limits.CONSOLE_REQUEST_MS,
    keepAliveTimeout: limits.CONSOLE_IDLE_MS
  })
  server.maxConnections = limits.CONSOLE_CONNECTIONS_MAX
  server.listen({ host, port, ipv6Only: true })
  try {
    await once(server, 'listening')
  } catch (cause) {
    const problem = isError(cause) ? cause.message : String(cause)
    throw inspectError('console.port_taken', { port, problem }, { cause })
  }
  return server
}

function refuse(response: ServerResponse, { status, problem, allow }: Refusal): void {
  if (allow !== undefined) response.setHeader('allow', allow)
  // What is left of its body is not read.
  response.setHeader('connection', 'close')
  sendJson(response, status, { error: toRemote(inspectError('console.refused', { problem })) })
}

function fail(response: ServerResponse, error: unknown): void {
  response.setHeader('connection', 'close')
  sendJson(response, statusOf(error), { error: toRemote(error) })
}

function splitOnce(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)]
}
