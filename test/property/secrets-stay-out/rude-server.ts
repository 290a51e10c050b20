import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isJsonObject, type Json, type JsonObject } from '../../../src/core/index.js'
import { encodings } from '../../support/secrets.js'

/** What the server does with a request. */
export const manners = [
  'unauthorised',
  'rate limited',
  'failing',
  'garbage',
  'redirect',
  'reset',
  'silent',
  'echo'
] as const

export type Manner = (typeof manners)[number]

/**
 * A server on loopback that tells everything it was sent, in every form and every place: status,
 * headers, body, errors, pieces of a stream.
 */
export class RudeServer {
  manner: Manner = 'echo'
  /** Secrets that it was sent. */
  readonly heard = new Set<string>()
  /** Called before a request is answered. */
  onRequest: () => Promise<void> = async () => undefined
  /** Called before each piece of a stream. */
  onPiece: (at: number) => Promise<void> = async () => undefined
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
  }

  static async start(): Promise<RudeServer> {
    const server = createServer((request, response) => void rude.#handle(request, response))
    const rude = new RudeServer(server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return rude
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await textOf(request)
    const secret = secretOf(request)
    this.heard.add(secret)
    await this.onRequest()
    const { onPiece } = this
    const asked = { request, response, body, secret, onPiece }
    switch (this.manner) {
      case 'unauthorised':
        return refuse(asked, 401)
      case 'rate limited':
        return refuse(asked, 429)
      case 'failing':
        return refuse(asked, 500)
      case 'garbage':
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(`{"broken ${echoOf(secret)}`)
        return
      case 'redirect':
        return redirect(asked)
      case 'reset':
        response.writeHead(200, { ...headersOf(secret), 'content-type': 'application/json' })
        response.write(`{"begun": "${secret}`, () => response.destroy())
        return
      case 'silent':
        return
      case 'echo':
        return answer(asked)
    }
  }
}

interface Asked {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly body: string
  readonly secret: string
  readonly onPiece: (at: number) => Promise<void>
}

export function echoOf(secret: string): string {
  const basic = ['', 'u', 'us', 'user'].map((user) => `Basic ${base64(`${user}:${secret}`)}`)
  return [...Object.values(encodings).map((encode) => encode(secret)), ...basic].join(' | ')
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

/** The bearer of the request, or the last part of its path. */
function secretOf({ headers, url = '' }: IncomingMessage): string {
  const { authorization } = headers
  if (authorization !== undefined) return authorization.replace(/^Bearer /, '')
  return decodeURIComponent(new URL(url, 'http://here').pathname.split('/').at(-1) ?? '')
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}

function headersOf(secret: string): Record<string, string> {
  const encoded = encodeURIComponent(secret)
  return {
    etag: `"${secret}"`,
    link: `</${encoded}>; rel="next"`,
    'www-authenticate': `Basic realm="${secret}"`,
    'x-request-id': base64(`id:${secret}`)
  }
}

function refuse({ response, secret }: Asked, status: number): void {
  const error = { message: echoOf(secret), code: secret, type: base64(secret) }
  const headers = { ...headersOf(secret), 'content-type': 'application/json' }
  response.writeHead(status, status === 429 ? { ...headers, 'retry-after': '0' } : headers)
  response.end(JSON.stringify({ error, id: null, jsonrpc: '2.0' }))
}

function redirect(asked: Asked): Promise<void> | void {
  const { request, response, secret } = asked
  if (request.url?.startsWith('/next') === true) return answer(asked)
  const location = `/next/${encodeURIComponent(secret)}?key=${base64(secret)}`
  response.writeHead(302, { ...headersOf(secret), location }).end(echoOf(secret))
}

function answer(asked: Asked): Promise<void> | void {
  const { request, response, body, secret } = asked
  const sent = JSON.parse(body === '' ? 'null' : body) as Json
  if (Array.isArray(sent)) return answerCalls(asked, sent)
  if (isJsonObject(sent) && 'jsonrpc' in sent) return answerCalls(asked, [sent])
  if (isJsonObject(sent) && sent['stream'] === true) return stream(asked)
  response.writeHead(200, { ...headersOf(secret), 'content-type': 'text/plain' })
  response.end(`${request.url} ${JSON.stringify(request.headers)} ${body} ${echoOf(secret)}`)
}

/** Serves the chain that the path names, and fails every other call. */
function answerCalls({ request, response, secret }: Asked, calls: readonly Json[]): void {
  const chain = Number(/^\/chain\/(\d+)\//.exec(request.url ?? '')?.[1])
  const answers = calls.map((call) => {
    const { id, method } = call as JsonObject
    const head = { jsonrpc: '2.0', id }
    if (method === 'eth_chainId') return { ...head, result: `0x${chain.toString(16)}` }
    if (method === 'getGenesisHash') return { ...head, result: solanaGenesis(chain) }
    if (method === 'eth_getBalance' || method === 'getTransaction')
      return { ...head, result: echoOf(secret) }
    return { ...head, error: { code: -32000, message: echoOf(secret), data: [echoOf(secret)] } }
  })
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(answers.length === 1 ? answers[0] : answers))
}

/** Of the chain of Solana with this number, which has the same path as the other one. */
function solanaGenesis(chain: number): string {
  return `${String(chain).replaceAll('0', 'A').padStart(32, 'S')}${'1'.repeat(12)}`
}

const PIECE_LENGTH = 7

async function stream({ response, secret, onPiece }: Asked): Promise<void> {
  const text = echoOf(secret)
  response.writeHead(200, { ...headersOf(secret), 'content-type': 'text/event-stream' })
  const line = (choice: object, rest: object = {}) => {
    const chunk = { id: secret, created: 0, model: secret, object: 'chat.completion.chunk' }
    const choices = [{ index: 0, finish_reason: null, ...choice }]
    response.write(`data: ${JSON.stringify({ ...chunk, choices, ...rest })}\n\n`)
  }
  for (let at = 0; at < text.length; at += PIECE_LENGTH) {
    await onPiece(at / PIECE_LENGTH)
    line({ delta: { content: text.slice(at, at + PIECE_LENGTH) } })
    line({ delta: { reasoning_content: text.slice(at, at + PIECE_LENGTH) } })
  }
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
  line({ delta: {}, finish_reason: 'stop' }, { usage })
  response.end('data: [DONE]\n\n')
}
