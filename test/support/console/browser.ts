import { once } from 'node:events'
import { type IncomingMessage, request as send } from 'node:http'
import { connect } from 'node:net'
import type { Json } from '../../../src/core/index.js'

/** One answer, read to its end. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
}

export interface Asked {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly body?: string
}

/** One server-sent event as a page gets it. */
export interface Received {
  readonly id: string | undefined
  readonly type: string
  readonly data: Json
}

/** What a browser sends to a console that it has open, header by header; a test changes some. */
export class Browser {
  readonly host: string
  readonly #token: string
  #cookie: string | undefined

  /** Of the link that the console prints. */
  constructor(link: string) {
    const { host, hash } = new URL(link)
    this.host = host
    this.#token = hash.slice('#token='.length)
  }

  static async open(link: string): Promise<Browser> {
    const browser = new Browser(link)
    const { status, text } = await browser.enter()
    if (status !== 200) throw new Error(`no session: ${status} ${text}`)
    return browser
  }

  get cookie(): string | undefined {
    return this.#cookie
  }

  /** Gives the token of the link for a session. */
  async enter(token = this.#token): Promise<Answer> {
    const answer = await this.post('/session', JSON.stringify({ token }))
    const [cookie] = answer.headers['set-cookie'] ?? []
    if (cookie !== undefined) this.#cookie = cookie.split(';')[0]
    return answer
  }

  get(path: string, headers: Asked['headers'] = {}): Promise<Answer> {
    return this.ask({ path, headers })
  }

  post(path: string, body: string, headers: Asked['headers'] = {}): Promise<Answer> {
    return this.ask({ method: 'POST', path, body, headers })
  }

  /** The result of a method of the service; throws its error as it came. */
  async call(method: string, params: object = {}): Promise<Json> {
    const { text } = await this.post(`/api/${method}`, JSON.stringify(params))
    const { result, error } = JSON.parse(text)
    if (error !== undefined) throw new Error(`${error.code}: ${error.message}`)
    return result
  }

  async ask(asked: Asked): Promise<Answer> {
    const response = await this.#send(asked)
    const chunks: Uint8Array[] = []
    for await (const chunk of response) chunks.push(chunk as Uint8Array)
    const { statusCode: status = 0, headers } = response
    return { status, headers, text: Buffer.concat(chunks).toString('utf8') }
  }

  /** Server-sent events as they come; leaving the loop closes the connection. */
  async *events(asked: Asked): AsyncGenerator<Received | 'comment'> {
    const response = await this.#send(asked)
    if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`)
    let text = ''
    try {
      for await (const chunk of response) {
        text += String(chunk)
        const blocks = text.split('\n\n')
        text = blocks.pop() ?? ''
        for (const block of blocks) yield receivedIn(block)
      }
    } finally {
      response.destroy()
    }
  }

  feed(since?: string, headers: Asked['headers'] = {}) {
    const path = since === undefined ? '/api/feed' : `/api/feed?since=${since}`
    return this.events({ path, headers })
  }

  async #send({ method = 'GET', path = '/', headers = {}, body }: Asked): Promise<IncomingMessage> {
    const own = {
      host: this.host,
      'sec-fetch-site': 'same-origin',
      ...(this.#cookie === undefined ? {} : { cookie: this.#cookie }),
      ...(method === 'POST'
        ? { origin: `http://${this.host}`, 'x-tally': '1', 'content-type': 'application/json' }
        : {}),
      ...headers
    }
    const given = Object.entries(own).filter(([, value]) => value !== undefined)
    const { hostname, port } = new URL(`http://${this.host}`)
    const request = send({
      host: hostname.replace(/^\[|\]$/g, ''),
      port,
      method,
      path,
      headers: Object.fromEntries(given) as Record<string, string>,
      agent: false
    })
    if (headers['content-length'] === undefined) request.end(body)
    else request.flushHeaders()
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    return response
  }
}

function receivedIn(block: string): Received | 'comment' {
  const fields = new Map(
    block.split('\n').map((line) => {
      const at = line.indexOf(':')
      return [line.slice(0, at), line.slice(at + 2)] as const
    })
  )
  const data = fields.get('data')
  if (data === undefined) return 'comment'
  return { id: fields.get('id'), type: fields.get('event') ?? 'message', data: JSON.parse(data) }
}

/** What a server answers to bytes that no client of HTTP would send. */
export async function rawAnswer(host: string, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(`http://${host}`)
  const socket = connect(Number(port), hostname.replace(/^\[|\]$/g, ''))
  socket.end(bytes)
  let answer = ''
  try {
    for await (const chunk of socket) answer += String(chunk)
  } catch {
    // It was cut off.
  }
  return answer
}
