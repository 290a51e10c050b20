import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { bytesWithin } from '../../../core/index.js'
import type { HostAddress } from './addresses.js'
import { pinned } from './addresses.js'
import { refuseUpgrade } from './protocol-error.js'

export interface ExchangeOptions {
  readonly url: URL
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** The only addresses that are connected to, whatever the name gives by then. */
  readonly addresses: readonly HostAddress[]
  readonly signal: AbortSignal
  readonly responseBytesMax: number
}

/** What came of one request. `isSent` false: nothing can have reached the server. */
export type Exchanged =
  | {
      readonly kind: 'response'
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly bytes: Buffer
    }
  | { readonly kind: 'failed'; readonly problem: string; readonly isSent: boolean }

/** Sends one request over a connection of its own and reads the whole answer. Never rejects. */
export function exchange(options: ExchangeOptions): Promise<Exchanged> {
  const { url, method, headers, body, addresses, signal, responseBytesMax } = options
  const isTls = url.protocol === 'https:'
  return new Promise((resolve) => {
    let isSent = false
    const fail = (error: unknown) => resolve({ kind: 'failed', problem: problemOf(error), isSent })
    const send = isTls ? httpsRequest : httpRequest
    try {
      const outgoing = send(url, {
        method,
        headers: { ...headers, 'accept-encoding': 'identity', connection: 'close' },
        agent: false,
        lookup: pinned(addresses),
        signal
      })
      outgoing.once('socket', (socket) => {
        socket.once(isTls ? 'secureConnect' : 'connect', () => {
          isSent = true
        })
      })
      outgoing.once('error', fail)
      refuseUpgrade(outgoing, fail)
      outgoing.once('response', (incoming) => {
        collect(incoming, responseBytesMax).then(resolve, fail)
      })
      outgoing.end(body)
    } catch (error) {
      fail(error)
    }
  })
}

async function collect(incoming: IncomingMessage, bytesMax: number): Promise<Exchanged> {
  const bytes = await bytesWithin(incoming, bytesMax)
  if (bytes === undefined) return { kind: 'failed', problem: 'response_too_large', isSent: true }
  const headers = Object.entries(incoming.headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as const] : []
  )
  return {
    kind: 'response',
    status: incoming.statusCode ?? 0,
    headers: Object.fromEntries(headers),
    bytes
  }
}

// Codes only: messages name addresses of this machine and vary between versions.
function problemOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}
