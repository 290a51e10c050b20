import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Model } from '@mariozechner/pi-ai'
import { type Answer, PiSession, type TurnBody } from './session.js'

export interface PiMonoServerOptions {
  /** The model that pi talks to, and its key. */
  readonly model: Model<'openai-completions'>
  readonly modelKey: string
  /** What callers must send as Bearer key. */
  readonly apiKey: string
  /** 0, the default, takes a free port. */
  readonly port?: number
}

/**
 * pi-mono behind HTTP, on loopback only: `POST /sessions`, `POST /turns`, `GET /turns/<id>`,
 * `POST /turns/<id>/abort` and `DELETE /sessions/<id>`.
 *
 * A turn is done once for each `invocationId`: the same one asked again gets the same answer, and
 * `GET` tells what became of it. Both are kept until the session is deleted.
 */
export class PiMonoServer {
  readonly #options: PiMonoServerOptions
  readonly #server: Server
  readonly #sessions = new Map<string, PiSession>()
  #opened = 0

  private constructor(options: PiMonoServerOptions) {
    this.#options = options
    this.#server = createServer((request, response) => {
      this.#answer(request)
        .catch((): Reply => ({ status: 500, body: { error: { code: 'internal' } } }))
        .then(({ status, body }) => send(response, status, body))
    })
  }

  static async start(options: PiMonoServerOptions): Promise<PiMonoServer> {
    const server = new PiMonoServer(options)
    server.#server.listen(options.port ?? 0, '127.0.0.1')
    await once(server.#server, 'listening')
    return server
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Sessions that are open now. */
  get sessions(): number {
    return this.#sessions.size
  }

  /** Forgets every session, as a restart would. */
  forget(): void {
    this.#sessions.clear()
  }

  async close(): Promise<void> {
    for (const session of this.#sessions.values()) session.abort()
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  async #answer(request: IncomingMessage): Promise<Reply> {
    if (request.headers.authorization !== `Bearer ${this.#options.apiKey}`) {
      return { status: 401, body: { error: { code: 'unauthorized' } } }
    }
    const [, resource, id = '', action] = (request.url ?? '').split('/').map(decodeURIComponent)
    switch (`${request.method} /${resource}${action === undefined ? '' : `/${action}`}`) {
      case 'POST /sessions':
        return this.#open((await bodyOf(request)) as OpenBody)
      case 'DELETE /sessions':
        return this.#sessions.delete(id) ? { status: 200, body: {} } : unknown
      case 'POST /turns':
        return this.#turn((await bodyOf(request)) as TurnBody)
      case 'GET /turns':
        return this.#known(id)
      case 'POST /turns/abort':
        for (const session of this.#sessions.values()) session.abort(id)
        return { status: 200, body: {} }
      default:
        return unknown
    }
  }

  // A client that proposes an id can close a session without ever having had an answer.
  #open({ sessionId = this.#nextId() }: OpenBody): Reply {
    if (!this.#sessions.has(sessionId)) this.#sessions.set(sessionId, new PiSession(this.#options))
    return { status: 201, body: { sessionId } }
  }

  #nextId(): string {
    this.#opened += 1
    return `session-${this.#opened}`
  }

  async #turn(body: TurnBody): Promise<Reply> {
    const session = this.#sessions.get(body.sessionId)
    if (session === undefined) return unknown
    return { status: 200, body: await session.turn(body) }
  }

  async #known(invocationId: string): Promise<Reply> {
    for (const session of this.#sessions.values()) {
      const answer = session.answers.get(invocationId)
      if (answer !== undefined) return { status: 200, body: await answer }
    }
    return unknown
  }
}

interface OpenBody {
  readonly sessionId?: string
}

interface Reply {
  readonly status: number
  readonly body: Answer | object
}

const unknown: Reply = { status: 404, body: { error: { code: 'not_found' } } }

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Uint8Array[] = []
  for await (const chunk of request) chunks.push(chunk as Uint8Array)
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}
