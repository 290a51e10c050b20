import { type EffectCall, EffectFailure } from '../../../code/index.js'
import { type Clock, type Json, limits, type Redactor, systemClock } from '../../../core/index.js'
import type { EffectCaller, EffectCapability } from '../host-capability.js'
import type { HostAddress, ResolveHost } from './addresses.js'
import { allowedAddresses, hostOf } from './allowed-addresses.js'
import { type Exchanged, exchange } from './exchange.js'
import { unlessLate } from './late.js'
import { mayAsk, maySend, type NetworkPolicy } from './policy.js'
import { type NetworkRequest, networkRequest, sideEffectsOf, urlProblem } from './request.js'
import { type ResolveSecret, secretFailure } from './secrets.js'

/** Where packages and documents may reach, and which secrets are sent there. */
export interface NetworkOptions {
  readonly policy?: NetworkPolicy
  /** Absent: no secret is ever sent. */
  readonly secrets?: ResolveSecret
  readonly clock?: Clock
  readonly resolve?: ResolveHost
}

/** Headers of a response that a package sees; cookies and the like are not sealed. */
const sealedHeaders = [
  'cache-control',
  'content-encoding',
  'content-language',
  'content-type',
  'etag',
  'last-modified',
  'link',
  'location',
  'retry-after'
] as const

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/**
 * `network.request { url, method?, headers?, body?, timeoutMs? }` gives `{ status, url, headers,
 * body, encoding }`, where `encoding` is `utf8` or `base64` (semantics.md K6, reliability: T15,
 * T16). A status of any kind is an answer. Failures: `host_not_allowed`, `address_not_allowed`,
 * `tls_required`, `not_resolved`, `not_connected`, `too_many_redirects`, `secret_not_allowed`,
 * `secret_missing` (all definite: nothing was sent), `timed_out`, `response_too_large`,
 * `broken_off`.
 *
 * Owns: nothing between calls. Does not own: what is retried, and what becomes of a lost answer.
 *
 * Invariants:
 * - H5 A host is asked only when the manifest names it and the policy does not leave it out.
 * - H6 Every address of the host was looked at, and the connection goes to one of those: a name
 *   that changes its answer afterwards changes nothing. A redirect is looked at like a request.
 * - H7 The value of a secret goes into the request and nowhere else: the redactor of the runtime
 *   learns it before it is sent, and takes it out of what is sealed.
 * - H8 Whatever is not GET or HEAD carries the effect's key as `idempotency-key`, and is never sent
 *   on to where a redirect points.
 */
export function networkCapability(
  options: NetworkOptions & { readonly redactor: Redactor }
): EffectCapability {
  return {
    kind: 'effect',
    name: 'network.request',
    get schema() {
      return networkRequest()
    },
    sideEffects: (request) => sideEffectsOf(request as NetworkRequest),
    perform: (call, caller) =>
      new NetworkCall(networkRequest().parse(call.request), { options, call, caller }).perform()
  }
}

class NetworkCall {
  readonly #request: NetworkRequest
  readonly #options: NetworkOptions & { readonly redactor: Redactor }
  readonly #call: EffectCall
  readonly #caller: EffectCaller

  constructor(
    request: NetworkRequest,
    context: {
      readonly options: NetworkOptions & { readonly redactor: Redactor }
      readonly call: EffectCall
      readonly caller: EffectCaller
    }
  ) {
    this.#request = request
    this.#options = context.options
    this.#call = context.call
    this.#caller = context.caller
  }

  async perform(): Promise<Json> {
    const { clock = systemClock } = this.#options
    const late = new AbortController()
    const wanted = this.#request.timeoutMs ?? limits.NETWORK_TIMEOUT_MS
    const allowed = this.#policy.timeoutMs ?? limits.NETWORK_TIMEOUT_MS
    const due = clock.now() + Math.min(wanted, allowed, limits.NETWORK_TIMEOUT_MS)
    const callOff = clock.schedule(due, () => late.abort())
    try {
      return await this.#follow(late.signal)
    } finally {
      callOff()
    }
  }

  get #policy(): NetworkPolicy {
    return this.#options.policy ?? {}
  }

  async #follow(late: AbortSignal): Promise<Json> {
    const isWrite = sideEffectsOf(this.#request) !== 'none'
    let url = new URL(this.#request.url)
    for (let hops = 0; hops <= limits.NETWORK_REDIRECTS_MAX; hops += 1) {
      const answer = await this.#ask(url, late, hops > 0)
      if (answer.kind === 'failed') throw this.#failure(answer, late, url)
      const { location } = answer.headers
      if (isWrite || location === undefined || !redirects.has(answer.status)) {
        this.#check(answer, url)
        return sealed(answer, url)
      }
      const next = URL.canParse(location, url.href) ? new URL(location, url.href) : undefined
      if (next === undefined || urlProblem(next.href) !== undefined) {
        throw refused('host_not_allowed', { host: next?.host ?? null })
      }
      url = next
    }
    throw refused('too_many_redirects', { limit: limits.NETWORK_REDIRECTS_MAX })
  }

  async #ask(url: URL, late: AbortSignal, isRedirected: boolean): Promise<Exchanged> {
    const { entry } = this.#caller
    const host = hostOf(url)
    if (!mayAsk(host, entry, this.#policy)) throw refused('host_not_allowed', { host })
    const headers = await unlessLate(late, this.#headers(url, isRedirected))
    const addresses = await unlessLate(late, this.#addresses(url))
    const { method, body } = this.#request
    return exchange({
      url,
      method,
      headers,
      body,
      addresses,
      signal: AbortSignal.any([late, this.#call.signal]),
      responseBytesMax: limits.NETWORK_RESPONSE_BYTES_MAX
    })
  }

  async #addresses(url: URL): Promise<readonly HostAddress[]> {
    const allowed = await allowedAddresses(url, this.#options)
    if (allowed.ok) return allowed.addresses
    throw refused(allowed.reason, { host: hostOf(url) })
  }

  /** A redirect takes no secret along to where it was not granted. */
  async #headers(url: URL, isRedirected: boolean): Promise<Readonly<Record<string, string>>> {
    const isElsewhere = isRedirected && url.origin !== new URL(this.#request.url).origin
    const headers: Record<string, string> = {}
    for (const [name, value] of Object.entries(this.#request.headers)) {
      if (typeof value !== 'string') {
        const filled = await this.#secret(value, { host: hostOf(url), isElsewhere })
        if (filled !== undefined) headers[name] = filled
      } else if (!(isElsewhere && name === 'authorization')) headers[name] = value
    }
    if (sideEffectsOf(this.#request) !== 'none') headers['idempotency-key'] = this.#call.key
    const { traceparent } = this.#call
    if (traceparent !== undefined) headers['traceparent'] ??= traceparent
    return headers
  }

  async #secret(
    value: { readonly secret: string; readonly prefix?: string | undefined },
    where: { readonly host: string; readonly isElsewhere: boolean }
  ): Promise<string | undefined> {
    const { secret: reference, prefix = '' } = value
    const { secrets, redactor } = this.#options
    const { packageId } = this.#caller
    const { host, isElsewhere } = where
    if (!maySend(reference, { host, packageId, policy: this.#policy })) {
      if (isElsewhere) return undefined
      throw secretFailure('secret_not_allowed', reference)
    }
    if (secrets === undefined) throw secretFailure('secret_missing', reference)
    const text = await secrets(reference).catch((error: unknown) => {
      // What else went wrong may say more about the secret than a receipt should.
      throw error instanceof EffectFailure ? error : secretFailure('secret_missing', reference)
    })
    if (!/^[\u0020-\u007e]+$/.test(text)) throw secretFailure('secret_missing', reference)
    redactor.know(reference, text)
    return prefix + text
  }

  /** Whatever the server says of a write, it may have done it. */
  #check({ status }: Extract<Exchanged, { kind: 'response' }>, url: URL): void {
    if (!this.#request.okOnly || (status >= 200 && status < 300)) return
    throw new EffectFailure('bad_status', { details: { host: hostOf(url), status } })
  }

  #failure(
    { problem, isSent }: Extract<Exchanged, { kind: 'failed' }>,
    late: AbortSignal,
    url: URL
  ): EffectFailure {
    const reason = late.aborted
      ? 'timed_out'
      : problem === 'response_too_large'
        ? problem
        : isSent
          ? 'broken_off'
          : 'not_connected'
    const details = { host: hostOf(url), problem }
    return new EffectFailure(reason, { definite: !isSent, details })
  }
}

function sealed({ status, bytes, ...answer }: Answer, url: URL): Json {
  const text = utf8Of(bytes)
  const headers = sealedHeaders.flatMap((name) => {
    const value = answer.headers[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    status,
    url: url.href,
    headers: Object.fromEntries(headers),
    body: text ?? bytes.toString('base64'),
    encoding: text === undefined ? 'base64' : 'utf8'
  }
}

type Answer = Extract<Exchanged, { readonly kind: 'response' }>

function utf8Of(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function refused(reason: string, details: Json): EffectFailure {
  return new EffectFailure(reason, { definite: true, details })
}
