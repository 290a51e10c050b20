import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Json } from '../../src/core/index.js'

/** One JSON-RPC call on its way to the node. */
export interface ProxiedCall {
  readonly method: string
  readonly params: readonly Json[]
}

/** What the proxy does with a request, whichever calls are in it. */
export type Fault =
  | 'pass'
  /** The connection breaks before the node hears of it. */
  | 'drop_before'
  /** The node does it, and the answer is lost. */
  | 'drop_after'
  /** No answer ever comes. */
  | 'hang'
  | 'malformed'
  | 'rate_limit'
  | 'server_error'
  | 'huge'
  /** Another answer than the node's. */
  | { readonly result: Json }
  | { readonly error: Json }
  /** The node does it, and then an error is answered. */
  | { readonly done: true; readonly error: Json }
  /** What the node says, changed; of several calls in one request, this one's result alone. */
  | { readonly rewrite: (result: Json) => Json }

/** Stands in front of a node and lies, breaks and stalls as the test says. */
export class FaultyProxy implements AsyncDisposable {
  /** Asked for each call; of several in one request, the first that is not passed counts. */
  fault: (call: ProxiedCall) => Fault = () => 'pass'
  readonly calls: ProxiedCall[] = []
  readonly #target: string
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      this.#serve(Buffer.concat(chunks).toString(), response).catch(() => response.destroy())
    })
  })

  private constructor(target: string) {
    this.#target = target
  }

  static async start(target: string): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(target)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  count(method: string): number {
    return this.calls.filter((call) => call.method === method).length
  }

  async #serve(body: string, response: ServerResponse): Promise<void> {
    const parsed = JSON.parse(body) as ({ readonly id: number } & ProxiedCall) | ProxiedCall[]
    const calls = Array.isArray(parsed) ? parsed : [parsed]
    this.calls.push(...calls)
    const faults = calls.map((call) => this.fault(call))
    const rewrites = faults.map((one) =>
      typeof one === 'object' && 'rewrite' in one ? one.rewrite : undefined
    )
    const isPassed = (one: Fault, index: number) => one === 'pass' || rewrites[index] !== undefined
    const fault = faults.find((one, index) => !isPassed(one, index)) ?? 'pass'
    const id = Array.isArray(parsed) ? null : (parsed as { readonly id: number }).id
    if (typeof fault === 'object') {
      const { done, ...said } = { done: false, ...fault }
      if (done) await this.#ask(body)
      return answer(response, 200, { jsonrpc: '2.0', id, ...said })
    }
    switch (fault) {
      case 'drop_before':
        response.destroy()
        return
      case 'hang':
        return
      case 'malformed':
        response.writeHead(200).end('<html>an error page</html>')
        return
      case 'rate_limit':
        return answer(response, 429, { error: 'slow down' })
      case 'server_error':
        response.writeHead(503).end('unavailable')
        return
      case 'huge':
        response.writeHead(200)
        for (let sent = 0; sent < 40; sent += 1) response.write(Buffer.alloc(1024 * 1024, 0x20))
        response.end()
        return
      default: {
        const reply = await this.#ask(body)
        const text = rewritten(await reply.text(), rewrites)
        if (fault === 'drop_after') response.destroy()
        else response.writeHead(reply.status, { 'content-type': 'application/json' }).end(text)
      }
    }
  }

  #ask(body: string): Promise<Response> {
    const headers = { 'content-type': 'application/json' }
    return fetch(this.#target, { method: 'POST', headers, body })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

function rewritten(
  text: string,
  rewrites: readonly (((result: Json) => Json) | undefined)[]
): string {
  if (rewrites.every((one) => one === undefined)) return text
  const parsed = JSON.parse(text) as { result?: Json } | { result?: Json }[]
  for (const [index, reply] of [parsed].flat().entries()) {
    const rewrite = rewrites[index]
    if (rewrite !== undefined && reply.result !== undefined) reply.result = rewrite(reply.result)
  }
  return JSON.stringify(parsed)
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
