import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { WebSocket } from 'ws'
import { inspectError, limits, sha256Hex } from '../../core/index.js'
import type { InspectionMessage } from './message.js'

export interface InspectionSocket {
  /** `ws://127.0.0.1:PORT/TOKEN`: what `createWebSocketReceiver({ server })` takes. */
  readonly url: string
  /** Resolves when it was closed. */
  readonly ended: Promise<void>
  close(): Promise<void>
}

export interface InspectionSocketOptions {
  /** 0: any that is free. */
  readonly port: number
  /** Stands in the address: every process and page of this machine can reach a port. */
  readonly token: string
  /** What a viewer gets: all that was, then what comes until the signal aborts. */
  messages(signal: AbortSignal): AsyncIterable<InspectionMessage>
  /** Hears why a viewer got no more. */
  failed(error: unknown): void
}

/**
 * Serves viewers, such as Stately's inspector, over a WebSocket on loopback; each gets everything
 * from the beginning, as fast as it reads. Nothing is taken from them. Throws
 * `inspect.missing_library` without `ws`, an optional peer.
 */
export async function serveInspection(options: InspectionSocketOptions): Promise<InspectionSocket> {
  const { WebSocketServer } = await loadSockets()
  const { port, token } = options
  const stop = new AbortController()
  const server = new WebSocketServer({
    host: '127.0.0.1',
    port,
    maxPayload: limits.INSPECTION_REQUEST_BYTES_MAX,
    verifyClient: ({ req }: { readonly req: IncomingMessage }) => isInvited(req, token)
  })
  await once(server, 'listening')
  const ended = once(server, 'close').then(() => undefined)
  server.on('connection', (socket) => {
    if (server.clients.size > limits.INSPECTION_VIEWERS_MAX) return socket.close(TRY_LATER)
    void show(socket, options, stop.signal)
  })
  // It listens, so it has an address.
  const { port: actual } = server.address() as AddressInfo
  return {
    url: `ws://127.0.0.1:${actual}/${token}`,
    ended,
    close: async () => {
      stop.abort()
      for (const client of server.clients) client.terminate()
      server.close()
      await ended
    }
  }
}

/** Status of a WebSocket that is closed since there are too many. */
const TRY_LATER = 1013

async function show(
  socket: WebSocket,
  { messages, failed }: InspectionSocketOptions,
  stopped: AbortSignal
): Promise<void> {
  const left = new AbortController()
  socket.on('close', () => left.abort())
  // What a viewer sends is not read, and a broken connection ends as a closed one does.
  socket.on('error', () => left.abort())
  try {
    for await (const message of messages(AbortSignal.any([stopped, left.signal]))) {
      if (left.signal.aborted) return
      await sent(socket, JSON.stringify(message))
    }
    socket.close()
  } catch (error) {
    if (!left.signal.aborted && !stopped.aborted) failed(error)
    socket.terminate()
  }
}

/** Resolves when the text has left: a slow viewer is waited for, and nothing piles up. */
function sent(socket: WebSocket, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.send(text, (error) => (error == null ? resolve() : reject(error)))
  })
}

function isInvited({ headers: { host = '' }, url = '' }: IncomingMessage, token: string): boolean {
  if (!/^(127\.0\.0\.1|localhost):\d+$/.test(host)) return false
  // Hashes are compared so that the time it takes says nothing of the token.
  return sha256Hex(url) === sha256Hex(`/${token}`)
}

async function loadSockets(): Promise<typeof import('ws')> {
  try {
    return await import('ws')
  } catch (cause) {
    throw inspectError('inspect.missing_library', { library: 'ws' }, { cause })
  }
}
