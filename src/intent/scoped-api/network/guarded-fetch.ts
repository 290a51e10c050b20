import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { Readable } from 'node:stream'
import { EffectFailure } from '../../../code/index.js'
import { type HostAddress, pinned } from './addresses.js'
import { type AllowedAddresses, allowedAddresses, hostOf } from './allowed-addresses.js'
import type { NetworkOptions } from './network.js'
import { protocolError, refuseUpgrade } from './protocol-error.js'

type Fetch = typeof globalThis.fetch
type Init = NonNullable<Parameters<Fetch>[1]>

/**
 * A `fetch` for servers that documents name (semantics.md K15). It asks hosts that the policy
 * allows and connects only to the addresses that were looked at, so that a name which answers
 * otherwise a moment later leads nowhere else. It follows no redirect: the answer is handed back as
 * it is. Throws a definite `EffectFailure` `server_not_allowed`, or what the connection failed
 * with.
 */
export function guardedFetch(options: NetworkOptions): Fetch {
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input)
    const allowed = await allowedAddresses(url, options)
    if (!allowed.ok) throw serverNotAllowed(url, allowed.reason)
    return sent(url, init, allowed.addresses)
  }
}

/** Says which host it was; a whole URL may hold a key. */
export function serverNotAllowed(
  url: URL,
  problem: Extract<AllowedAddresses, { readonly ok: false }>['reason']
): EffectFailure {
  const details = { host: hostOf(url), problem }
  return new EffectFailure('server_not_allowed', { definite: true, details })
}

function sent(url: URL, init: Init, addresses: readonly HostAddress[]): Promise<Response> {
  const { method = 'GET', headers, body = null, signal } = init
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    if (body !== null && typeof body !== 'string') throw new TypeError('only text can be sent')
    const outgoing = send(url, {
      method,
      headers: { ...Object.fromEntries(new Headers(headers)), 'accept-encoding': 'identity' },
      agent: false,
      lookup: pinned(addresses),
      ...(signal === undefined || signal === null ? {} : { signal })
    })
    outgoing.once('error', reject)
    refuseUpgrade(outgoing, reject)
    outgoing.once('response', (incoming) => {
      // What breaks from now on breaks the body.
      outgoing.on('error', () => undefined)
      const { statusCode = 0 } = incoming
      if (statusCode >= 200 && statusCode <= 599) return resolve(responseOf(incoming))
      incoming.destroy()
      reject(protocolError(`the server answers with the status ${statusCode}`))
    })
    outgoing.end(body ?? undefined)
  })
}

/** Statuses whose answers have no body. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304])

function responseOf(incoming: IncomingMessage): Response {
  const { statusCode: status = 502, statusMessage: statusText = '' } = incoming
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming.headers)) {
    for (const one of [value ?? []].flat()) headers.append(name, one)
  }
  if (bodiless.has(status)) {
    incoming.resume()
    return new Response(null, { status, statusText, headers })
  }
  const body = Readable.toWeb(incoming) as ReadableStream<Uint8Array>
  return new Response(body, { status, statusText, headers })
}
