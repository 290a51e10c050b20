import type { IncomingMessage } from 'node:http'
import { limits } from '../core/index.js'

/** Why a request is not answered, and the status that says so. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 404 | 405 | 413 | 414 | 415 | 503
  readonly problem: string
  /** Methods that are allowed, of status 405. */
  readonly allow?: string
}

/**
 * Why a request does not come from this console's own page, or from a person who typed its address;
 * undefined where it does. Asked of every request before anything else.
 *
 * `Host` is compared with the two addresses themselves: a name that a stranger's DNS lets lead to
 * this machine is none of them. Browsers say with `Origin` and `Sec-Fetch-Site` which page asks,
 * and no page can change what they say.
 */
export function refusalOf(request: IncomingMessage, hosts: readonly string[]): Refusal | undefined {
  const { method = '', url = '', headers, headersDistinct } = request
  const { host = '', origin } = headers
  const isOne = (name: string) => (headersDistinct[name] ?? []).length <= 1
  if (!isOne('host') || !hosts.includes(host)) {
    return { status: 403, problem: 'its Host is not the address of this console' }
  }
  const isOurs = origin === `http://${host}`
  if (!isOne('origin') || !(isOurs || (origin === undefined && isReading(method)))) {
    return { status: 403, problem: 'its Origin is not this console' }
  }
  const site = headers['sec-fetch-site']
  if (site !== 'same-origin' && site !== 'none') {
    return { status: 403, problem: 'its Sec-Fetch-Site is neither same-origin nor none' }
  }
  if (url.length > limits.CONSOLE_ADDRESS_LENGTH_MAX) {
    return { status: 414, problem: 'its address is too long' }
  }
  if (!url.startsWith('/')) return { status: 400, problem: 'its address is no path' }
  if (isReading(method)) return undefined
  if (method !== 'POST') {
    return { status: 405, problem: `${method} is not allowed`, allow: 'GET, HEAD, POST' }
  }
  return refusalOfPost(request)
}

/** A page of another origin can send neither without asking first, which is not answered. */
function refusalOfPost({ headers }: IncomingMessage): Refusal | undefined {
  if (headers['x-tally'] !== '1') return { status: 403, problem: 'it has no header X-Tally: 1' }
  const type = headers['content-type'] ?? ''
  if (!/^application\/json(; *charset=utf-8)?$/i.test(type) || 'content-encoding' in headers) {
    return { status: 415, problem: 'its body is not application/json' }
  }
  return undefined
}

function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Values of a cookie: as many as the browser has under this name. */
export function cookiesOf({ headers }: IncomingMessage, name: string): readonly string[] {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim())
  return pairs
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
}
