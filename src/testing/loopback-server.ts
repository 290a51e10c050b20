import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * An HTTP server on a free port of loopback, for fakes of services.
 *
 * Owns: its port and its connections. Does not own: what requests mean.
 */
export class LoopbackServer {
  /** Without a slash at its end; stays when the server has gone. */
  url = ''
  readonly #server: Server
  /** Its port is kept for the next time. */
  #port = 0

  constructor(handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>) {
    this.#server = createServer((request, response) => {
      // A connection that the client broke needs no answer.
      handle(request, response).catch(() => response.destroy())
    })
  }

  /** Listens on a free port; once more after {@link close}: on the same one. */
  async listen(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
    this.url = `http://127.0.0.1:${this.#port}`
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }
}

export async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of request) chunks.push(chunk as Uint8Array)
  return Buffer.concat(chunks).toString('utf8')
}
