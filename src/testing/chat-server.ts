import type { IncomingMessage, ServerResponse } from 'node:http'
import { isJsonObject, type Json, type JsonObject, parse } from '../core/index.js'
import {
  type ChatAnswer,
  type ChatBreak,
  type ChatRefusal,
  type ChatScene,
  deltasOf,
  finishOf,
  messageOf,
  usageOf
} from './chat-scene.js'
import { LoopbackServer, textOf } from './loopback-server.js'

/** A request as the server read it. */
export interface ChatRequest {
  /** `model`, `messages`, `tools`, `stream` and the rest. */
  readonly body: JsonObject
  readonly authorization: string
  /** From 0. */
  readonly index: number
}

/** What a chat server of a test answers. */
export interface ChatServerOptions {
  /** What to do with each request; depends on nothing else when it is to replay. */
  readonly script: (request: ChatRequest) => ChatScene
  /** Any other key is refused with 401. Default: every key will do. */
  readonly apiKey?: string
}

/**
 * A chat completions server on loopback that does what its script says, streaming or not, faults
 * included. It speaks as DeepSeek and OpenAI do; ids and times in its answers never vary.
 *
 * @example
 * await using server = await startChatServer({ script: () => ({ text: 'hello' }) })
 * const settings = { baseUrl: server.url, apiKey: 'env:KEY', model: 'fake' }
 */
export interface ChatServer extends AsyncDisposable {
  /** Base URL, without a slash at its end. */
  readonly url: string
  readonly requests: readonly ChatRequest[]
  /** Answers that the client let go of before they were finished. */
  readonly abandoned: number
  /** Resolves once `count` answers were abandoned. */
  untilAbandoned(count: number): Promise<void>
  close(): Promise<void>
}

/** Starts a chat completions server on loopback that answers by a script. */
export async function startChatServer(options: ChatServerOptions): Promise<ChatServer> {
  const server = new FakeChatServer(options)
  await server.listen()
  return server
}

class FakeChatServer implements ChatServer {
  readonly requests: ChatRequest[] = []
  readonly #options: ChatServerOptions
  readonly #server = new LoopbackServer((request, response) => this.#handle(request, response))
  #abandoned = 0
  #waiters: { readonly count: number; readonly resolve: () => void }[] = []

  constructor(options: ChatServerOptions) {
    this.#options = options
  }

  get url(): string {
    return this.#server.url
  }

  get abandoned(): number {
    return this.#abandoned
  }

  listen(): Promise<void> {
    return this.#server.listen()
  }

  untilAbandoned(count: number): Promise<void> {
    if (this.#abandoned >= count) return Promise.resolve()
    return new Promise((resolve) => this.#waiters.push({ count, resolve }))
  }

  close(): Promise<void> {
    return this.#server.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.once('close', () => {
      if (!response.writableFinished) this.#abandon()
    })
    const text = await textOf(request)
    if (request.method !== 'POST' || request.url?.endsWith('/chat/completions') !== true) {
      return refuse(response, { status: 404, code: 'not_found' }, '')
    }
    const body = bodyOf(text)
    const authorization = request.headers.authorization ?? ''
    if (body === undefined) return refuse(response, { status: 400, code: 'invalid_json' }, '')
    const { apiKey, script } = this.#options
    if (apiKey !== undefined && authorization !== `Bearer ${apiKey}`) {
      return refuse(response, { status: 401, code: 'invalid_api_key' }, authorization)
    }
    const asked = { body, authorization, index: this.requests.length }
    this.requests.push(asked)
    await play(script(asked), { asked, response })
  }

  #abandon(): void {
    this.#abandoned += 1
    for (const { count, resolve } of this.#waiters) if (this.#abandoned >= count) resolve()
    this.#waiters = this.#waiters.filter(({ count }) => this.#abandoned < count)
  }
}

interface Stage {
  readonly asked: ChatRequest
  readonly response: ServerResponse
}

async function play(scene: ChatScene, stage: Stage): Promise<void> {
  const { asked, response } = stage
  if ('status' in scene) {
    return refuse(
      response,
      scene,
      `${asked.authorization} ${JSON.stringify(asked.body['messages'])}`
    )
  }
  if ('breaks' in scene) return breakOff(scene, stage)
  if (asked.body['stream'] !== true) return answerWhole(scene, stage)
  begin(response)
  for (const [at, delta] of deltasOf(scene).entries()) {
    if (at > 1) await scene.beforeChunk?.(at - 1)
    response.write(line(stage, { delta, finish_reason: null }))
  }
  response.write(line(stage, { delta: {}, finish_reason: finishOf(scene) }))
  response.write(line(stage, undefined, usageOf(scene, promptOf(asked))))
  response.end('data: [DONE]\n\n')
}

function answerWhole(answer: ChatAnswer, { asked, response }: Stage): void {
  const choice = { index: 0, message: messageOf(answer), finish_reason: finishOf(answer) }
  const usage = usageOf(answer, promptOf(asked))
  const body = { ...headOf(asked), object: 'chat.completion', choices: [choice], usage }
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function refuse(response: ServerResponse, refusal: ChatRefusal, quoted: string): void {
  const { status, code = 'refused', headers = {} } = refusal
  const error = { message: `Refused: ${quoted}`, type: 'invalid_request_error', code }
  response
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify({ error }))
}

async function breakOff({ breaks, text }: ChatBreak, stage: Stage): Promise<void> {
  const { response } = stage
  begin(response)
  if (text !== undefined) response.write(line(stage, { delta: { content: text } }))
  switch (breaks) {
    case 'malformed':
      response.end('data: {"choices": [{"delta": \n\n')
      return
    case 'hang':
      response.flushHeaders()
      return
    case 'disconnect':
      // What was written is on its way before the connection breaks.
      response.write(': \n', () => response.destroy())
      return
    case 'truncated':
      response.end()
      return
    case 'endless':
      return flood(response, line(stage, { delta: { content: 'and on '.repeat(8_192) } }))
    case 'oversized':
      response.write('data: "')
      return flood(response, 'x'.repeat(65_536))
  }
}

/** Writes the same again and again until the reader is gone. */
async function flood(response: ServerResponse, text: string): Promise<void> {
  while (!response.destroyed) {
    if (!response.write(text)) await drained(response)
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
  })
}

function begin(response: ServerResponse): void {
  response.socket?.setNoDelay(true)
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
}

function line({ asked }: Stage, choice: object | undefined, usage?: Json): string {
  const choices = choice === undefined ? [] : [{ index: 0, ...choice }]
  const chunk = { ...headOf(asked), object: 'chat.completion.chunk', choices }
  return `data: ${JSON.stringify(usage === undefined ? chunk : { ...chunk, usage })}\n\n`
}

function headOf({ body, index }: ChatRequest) {
  return { id: `chatcmpl-${index}`, created: 0, model: body['model'] ?? 'fake' }
}

function promptOf({ body }: ChatRequest): string {
  return JSON.stringify(body['messages'] ?? [])
}

function bodyOf(text: string): JsonObject | undefined {
  try {
    const body = parse(text)
    return isJsonObject(body) ? body : undefined
  } catch {
    return undefined
  }
}
