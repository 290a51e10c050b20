import { EffectFailure } from '../../code/index.js'
import { type JsonObject, limits, systemClock } from '../../core/index.js'

/**
 * Why a turn has no answer, and whether it is certain that nothing was begun (semantics.md A5).
 * Where it is not, a turn that may act outside is `unknown_outcome`.
 */
const isDefinite = {
  /** 401 or 403. */
  unauthorized: true,
  /** 429; `retryAfterMs` where the other side says. */
  rate_limited: true,
  /** Any other 4xx, or a redirect. */
  refused: true,
  /** No connection was made. */
  unreachable: true,
  /** The other side does not know the session. */
  session_lost: true,
  invalid_settings: true,
  /** A library or a program that the adapter needs is not there. */
  adapter_unavailable: true,
  /** Called off before anything was sent. */
  not_sent: true,
  /** 5xx. */
  server_failed: false,
  /** The adapter threw something of its own. */
  adapter_failed: false,
  /** The connection broke after the request was on its way. */
  connection_lost: false,
  /** The answer ended before it was complete. */
  incomplete_response: false,
  malformed_response: false,
  response_too_large: false,
  /** Called off after the request was sent. */
  aborted: false,
  /** It took longer than its agent allows. */
  timed_out: false
} as const satisfies Readonly<Record<string, boolean>>

/** How a turn can fail; some reasons say for certain that nothing was done. */
export type TurnFailureReason = keyof typeof isDefinite

/**
 * The failure of a turn. `details` is written field by field, never taken from an error: no key, no
 * query of a URL, no prompt and nothing that the other side wrote freely gets into it.
 */
export function turnFailure(reason: TurnFailureReason, details: JsonObject = {}): EffectFailure {
  return new EffectFailure(reason, { definite: isDefinite[reason], details })
}

/** What may be shown of an answer that refuses. */
export interface Refusal {
  readonly status: number
  /** Scheme, host and port. */
  readonly endpoint: string
  readonly headers?: Readonly<Record<string, string | undefined>>
  /** `error.code` or `error.type` of the answer, as it came. */
  readonly code?: unknown
}

/** The failure that an HTTP status stands for. */
export function refusalFailure(refusal: Refusal): EffectFailure {
  const { status, endpoint, headers = {}, code } = refusal
  const retryAfterMs = retryAfter(headers)
  return turnFailure(reasonOf(status), {
    status,
    endpoint,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(isLabel(code) ? { code } : {})
  })
}

function reasonOf(status: number): TurnFailureReason {
  if (status === 401 || status === 403) return 'unauthorized'
  if (status === 429) return 'rate_limited'
  // A server that gave up waiting may have begun.
  if (status >= 500 || status === 408) return 'server_failed'
  if (status < 300) return 'malformed_response'
  return 'refused'
}

// Labels of providers look like this; keys have digits, capitals or dashes.
function isLabel(code: unknown): code is string {
  return typeof code === 'string' && /^[a-z]+(_[a-z]+){0,7}$/.test(code) && code.length <= 64
}

/** Milliseconds of `retry-after-ms` or `retry-after`, bounded by what is waited for at most. */
function retryAfter(headers: Readonly<Record<string, string | undefined>>): number | undefined {
  const ms = retryAfterMs(headers)
  return ms === undefined ? undefined : Math.min(ms, limits.RETRY_AFTER_MS_MAX)
}

// `retry-after` is seconds or a date.
function retryAfterMs(headers: Readonly<Record<string, string | undefined>>): number | undefined {
  const ms = Number(headers['retry-after-ms'])
  if (Number.isFinite(ms) && ms > 0) return Math.ceil(ms)
  const after = headers['retry-after']?.trim()
  if (after === undefined || after === '') return undefined
  const seconds = Number(after)
  if (!Number.isNaN(seconds)) return seconds < 0 ? undefined : Math.ceil(seconds * 1000)
  // The answer's own date stands for the clock of the other side.
  const sent = Date.parse(headers['date'] ?? '')
  const wait = Date.parse(after) - (Number.isNaN(sent) ? systemClock.now() : sent)
  return Number.isNaN(wait) ? undefined : Math.max(0, wait)
}

const neverConnected: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'ERR_INVALID_URL',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID'
])

const broken: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/** Whether a connection that was made has broken. */
export function isBroken(error: unknown): boolean {
  return codesOf(error).some((code) => broken.has(code))
}

/** What an error of `fetch`, or of reading what it gave, stands for. */
export function connectionFailure(error: unknown, endpoint: string): EffectFailure {
  const codes = codesOf(error)
  const code = codes.find((one) => neverConnected.has(one))
  if (code !== undefined) return turnFailure('unreachable', { endpoint, code })
  return turnFailure('connection_lost', { endpoint })
}

// Node wraps the system's error, and for a name with several addresses an aggregate of them.
function codesOf(error: unknown, depth = 0): readonly string[] {
  if (!(error instanceof Error) || depth > 8) return []
  const { code, cause, errors } = error as {
    readonly code?: unknown
    readonly cause?: unknown
    readonly errors?: unknown
  }
  const below = Array.isArray(errors) ? errors.flatMap((one) => codesOf(one, depth + 1)) : []
  return [...(typeof code === 'string' ? [code] : []), ...below, ...codesOf(cause, depth + 1)]
}
