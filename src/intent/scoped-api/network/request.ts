import type { SideEffectClass } from '../../../code/index.js'
import { lazySchema, limits } from '../../../core/index.js'

/** Headers that belong to the transport or to us. */
const ownHeaders: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'cookie',
  'expect',
  'host',
  'idempotency-key',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade'
])

const headerName = lazySchema((z) =>
  z
    .string()
    .max(128)
    .regex(/^[a-z0-9][a-z0-9!#$%&'*+.^_`|~-]*$/, 'a header name is lower case')
    .refine((name) => !ownHeaders.has(name), 'this header is not for packages')
)

const headerValue = lazySchema((z) =>
  z
    .string()
    .max(limits.NETWORK_HEADER_LENGTH_MAX)
    .regex(/^[\t\u0020-\u007e]*$/, 'a header value is printable ASCII')
)

/** A place that a secret fills when the request is sent; in receipts stands the reference. */
const secretReference = lazySchema((z) =>
  z.strictObject({
    secret: z
      .string()
      .max(1_024)
      .regex(/^(?:env|file):[^\p{Cc}]+$/u, 'env:NAME or file:PATH'),
    /** Written before the value, such as `Bearer `. */
    prefix: headerValue().optional()
  })
)

/** What a package asks of `network.request`. */
export const networkRequest = lazySchema((z) =>
  z
    .strictObject({
      url: z
        .string()
        .max(limits.NETWORK_URL_LENGTH_MAX)
        .refine((text) => urlProblem(text) === undefined, 'not a plain http or https URL'),
      method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']).default('GET'),
      headers: z
        .record(headerName(), z.union([headerValue(), secretReference()]))
        .refine(
          (headers) => Object.keys(headers).length <= limits.NETWORK_HEADERS_MAX,
          'too many headers'
        )
        .default({}),
      body: z
        .string()
        .refine((body) => Buffer.byteLength(body) <= limits.NETWORK_REQUEST_BYTES_MAX, 'too large')
        .optional(),
      /** A status outside 200 to 299 fails the call as `bad_status`, so that it can be retried. */
      okOnly: z.boolean().default(false),
      timeoutMs: z.int().min(1).max(limits.NETWORK_TIMEOUT_MS).optional()
    })
    .refine(
      ({ method, body }) => body === undefined || (method !== 'GET' && method !== 'HEAD'),
      'this method has no body'
    )
)

export type NetworkRequest = ReturnType<ReturnType<typeof networkRequest>['parse']>

/** GET and HEAD may be asked again freely; all others carry the effect's idempotency key. */
export function sideEffectsOf({ method }: NetworkRequest): SideEffectClass {
  return method === 'GET' || method === 'HEAD' ? 'none' : 'idempotent'
}

/** Why a text is no URL that packages may ask, or undefined. Names and passwords are refused. */
export function urlProblem(text: string): string | undefined {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    return 'malformed'
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'scheme'
  if (url.username !== '' || url.password !== '') return 'userinfo'
  // One spelling of a host: what is checked here is what will be asked.
  return text.toLowerCase().startsWith(`${url.protocol}//${url.host}`) ? undefined : 'spelling'
}
