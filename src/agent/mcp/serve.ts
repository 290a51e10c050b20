import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Readable, Writable } from 'node:stream'
import { bytesWithin, type Json, limits, sha256Hex, strictJsonInTurns } from '../../core/index.js'
import { checkValues } from './exact-messages.js'
import type { McpHost } from './host.js'
import { loadMcpServer, type McpServerLibrary } from './library.js'
import { createMcpServer } from './server.js'
import { StreamTransport } from './stream-transport.js'

/** A server that is listening. */
export interface McpService {
  /** Settles when the other side has gone, or after `close`. */
  readonly ended: Promise<void>
  close(): Promise<void>
}

/** Serves one client over a pair of streams: stdin and stdout of a process. */
export async function serveMcpOverStdio(
  host: McpHost,
  streams: { readonly input: Readable; readonly output: Writable }
): Promise<McpService> {
  const library = await loadMcpServer()
  const transport = new StreamTransport(library, streams)
  const server = createMcpServer(library, host)
  const closed = new Promise<void>((resolve) => {
    server.server.onclose = resolve
  })
  // The SDK's own types do not agree under exact optional properties.
  await server.connect(transport as never)
  return { ended: closed, close: () => server.close() }
}

/**
 * Serves clients over HTTP on loopback at `/mcp`. A client needs the token, because every process
 * of this machine can reach a port; requests of web pages are refused.
 */
export async function serveMcpOverHttp(
  host: McpHost,
  options: { readonly port: number; readonly token: string }
): Promise<McpService & { readonly url: string }> {
  const library = await loadMcpServer()
  const { port, token } = options
  const server = createServer((request, response) => {
    answer({ library, host, token, request, response }).catch(() => response.destroy())
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const ended = once(server, 'close').then(() => undefined)
  const address = server.address()
  const actual = typeof address === 'object' ? address?.port : port
  return {
    url: `http://127.0.0.1:${actual}/mcp`,
    ended,
    close: async () => {
      if (!server.listening) return
      server.close()
      server.closeAllConnections()
      await ended
    }
  }
}

async function answer(call: {
  readonly library: McpServerLibrary
  readonly host: McpHost
  readonly token: string
  readonly request: IncomingMessage
  readonly response: ServerResponse
}): Promise<void> {
  const { library, host, token, request, response } = call
  const refusal = refusalOf(request, token)
  if (refusal !== undefined) {
    response.writeHead(refusal).end()
    return
  }
  const body = await bodyOf(request)
  if (body === undefined) {
    response.writeHead(413).end()
    return
  }
  // Without sessions, a request has a server of its own: nothing is kept between two of them.
  const transport = new library.StreamableHTTPServerTransport({ enableJsonResponse: true })
  const server = createMcpServer(library, host)
  response.once('close', () => void server.close())
  // The SDK's own types do not agree under exact optional properties.
  await server.connect(transport as never)
  await transport.handleRequest(request, response, body.value)
}

/** The status with which a request is refused before its body is read, or undefined. */
function refusalOf(request: IncomingMessage, token: string): number | undefined {
  const { host = '', origin, authorization = '' } = request.headers
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host) || origin !== undefined) return 403
  // Hashes are compared so that the time it takes says nothing of the token.
  if (sha256Hex(authorization) !== sha256Hex(`Bearer ${token}`)) return 401
  if (request.url !== '/mcp') return 404
  return request.method === 'POST' ? undefined : 405
}

/** Undefined for a body over a limit; what is not JSON is left for the protocol to refuse. */
async function bodyOf(request: IncomingMessage): Promise<{ readonly value: unknown } | undefined> {
  const bytes = await bytesWithin(request, limits.OWNER_REQUEST_BYTES_MAX)
  if (bytes === undefined) return undefined
  let value: Json
  try {
    value = await strictJsonInTurns(bytes.toString('utf8'))
  } catch {
    return { value: null }
  }
  const isWithin = await checkValues(value).then(
    () => true,
    () => false
  )
  return isWithin ? { value } : undefined
}
