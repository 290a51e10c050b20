import {
  type NodeOptions,
  type Request,
  type Response,
  type RetryPolicyStep,
  reasons,
  type SideEffectClass
} from '../../code/index.js'
import {
  canonicalizeLedgerValue,
  copyJson,
  ignoreRejection,
  type Json,
  type JsonObject,
  limits
} from '../../core/index.js'

/**
 * What follows a failure (B8, B9, C3, W5). Pure: the charts' guards and actions, the pure fold and
 * the pump's view of a run all get the same answer from here.
 */

/**
 * A registered pure function; null: it cannot repair this request. Only payload and context count.
 */
export type Repair = (
  request: Request,
  failure: Response
) => Pick<Request, 'payload' | 'context'> | null

/** How far a block is through its recovery list; part of its context, so it survives a restart. */
export interface RetryCursor {
  readonly index: number
  /** Providers of the fallback entry at `index` already tried. */
  readonly fallback: number
  /** Chooses the entries: the type of the first failure of this execution (B8). */
  readonly firstErrorType: string | null
}

export const initialCursor: RetryCursor = { index: 0, fallback: 0, firstErrorType: null }

export type RetryDecision =
  | {
      readonly kind: 'retry'
      readonly delayMs: number
      readonly due: number
      readonly cursor: RetryCursor
    }
  | { readonly kind: 'repair'; readonly request: Request; readonly cursor: RetryCursor }
  | { readonly kind: 'fallback'; readonly provider: string; readonly cursor: RetryCursor }
  | { readonly kind: 'ask'; readonly response: Response; readonly cursor: RetryCursor }
  | { readonly kind: 'fail'; readonly response: Response }

export interface FailedAttempt {
  readonly request: Request
  readonly response: Response
  readonly options: NodeOptions
  readonly attempt: number
  /** The block that failed is executed no more often. */
  readonly attemptsMax?: number | undefined
  readonly cursor: RetryCursor
  readonly sideEffects: SideEffectClass
  /** Logical time of the failure. */
  readonly at: number
  /** False: nothing happened outside (C3). Undefined: unknown. */
  readonly sent: boolean | undefined
  /** Composites have no providers of their own. */
  readonly canFallBack: boolean
  readonly repair: (name: string) => Repair | undefined
}

// A person decided these; running the block again would undo the decision.
const final: ReadonlySet<string> = new Set([reasons.cancelled, reasons.denied])

/** The options of an execution that begins, with its deadline (W5). */
export function withDeadline(options: NodeOptions, at: number): NodeOptions {
  const { timeoutMs, deadline: outer, parks } = options
  if (timeoutMs === undefined) return options
  const own = at + timeoutMs
  const deadline = Math.min(own, outer ?? own)
  const isBounded = parks !== undefined && outer !== undefined
  return isBounded ? { ...options, deadline, parks: { until: outer } } : { ...options, deadline }
}

/** The options of the next attempt: after a decision a node that parks has all its time again. */
export function optionsAfter(
  options: NodeOptions,
  { type, at }: { readonly type: string; readonly at: number }
): NodeOptions {
  const { deadline: _, ...rest } = options
  if (type !== 'decision.made' || options.parks === undefined) return options
  if (options.timeoutMs === undefined) return options
  const { until } = options.parks
  return withDeadline(until === undefined ? rest : { ...rest, deadline: until }, at)
}

/** When the time for a decision is over: of a node that parks, when that of its parents is. */
export function lastDueOf(options: NodeOptions): number | undefined {
  const { parks, timeoutMs, deadline } = options
  return parks !== undefined && timeoutMs !== undefined ? parks.until : deadline
}

/** Walks the recovery list from the cursor on and says what to do about a failed attempt. */
export function decideRetry(failed: FailedAttempt): RetryDecision {
  const { response, options, attempt, at } = failed
  const isSpent = attempt >= (failed.attemptsMax ?? Number.POSITIVE_INFINITY)
  if (response.reason !== undefined && final.has(response.reason)) return { kind: 'fail', response }
  const { deadline } = options
  if (deadline !== undefined && at >= deadline) {
    const last = lastDueOf(options)
    const isOver = last !== undefined && at >= last
    return isOver ? { kind: 'fail', response } : giveUp(failed, failed.cursor, response)
  }
  const firstErrorType =
    failed.cursor.firstErrorType ?? response.errorType ?? response.reason ?? 'failure'
  const list = options.recovery ?? []
  let isUnsafe = false
  for (let index = failed.cursor.index; index < list.length; index += 1) {
    const entry = list[index]
    if (entry === undefined || entry.kind === 'bubble') {
      if (entry !== undefined && !applies(entry, firstErrorType)) continue
      break
    }
    if (!applies(entry, firstErrorType)) continue
    const tried = index === failed.cursor.index ? failed.cursor.fallback : 0
    const here: RetryCursor = { index, fallback: tried, firstErrorType }
    switch (entry.kind) {
      case 'retry': {
        if (isSpent || attempt >= entry.maxAttempts) continue
        if (!mayRunAgain(failed)) {
          if (!passesUnsafe(failed)) return giveUp(failed, here, unsafe(failed))
          isUnsafe = true
          continue
        }
        const delayMs = retryDelayMs(entry, attempt)
        const due = at + delayMs
        if (deadline !== undefined && due >= deadline) {
          const end = options.parks !== undefined ? response : timedOut(options, response)
          return giveUp(failed, here, end)
        }
        return { kind: 'retry', delayMs, due, cursor: here }
      }
      case 'repair': {
        if (isSpent) continue
        const request = repaired(failed, entry.repair)
        if (request === null) continue
        if (!mayRunAgain(failed)) {
          if (!passesUnsafe(failed)) return giveUp(failed, here, unsafe(failed))
          isUnsafe = true
          continue
        }
        return { kind: 'repair', request, cursor: { ...here, index: index + 1, fallback: 0 } }
      }
      case 'fallback': {
        const provider = failed.canFallBack ? entry.providers[tried] : undefined
        if (provider === undefined) continue
        if (!mayMoveOn(failed)) return giveUp(failed, here, unsafe(failed))
        return { kind: 'fallback', provider, cursor: { ...here, fallback: tried + 1 } }
      }
    }
  }
  const end: RetryCursor = { index: list.length, fallback: 0, firstErrorType }
  return giveUp(failed, end, isUnsafe ? unsafe(failed) : response)
}

/** Delay after attempt k (W5): fixed i, linear i*k, exp i*2^(k-1), capped. Milliseconds. */
export function retryDelayMs(
  entry: Extract<RetryPolicyStep, { kind: 'retry' }>,
  attempt: number
): number {
  const { intervalMs, backoff } = entry
  const cap = Math.min(entry.maxIntervalMs ?? Number.POSITIVE_INFINITY, limits.RETRY_DELAY_MS_MAX)
  if (intervalMs === 0) return 0
  switch (backoff) {
    case 'fixed':
      return Math.min(intervalMs, cap)
    case 'linear':
      return Math.min(intervalMs * attempt, cap)
    case 'exp':
      return Math.min(intervalMs * 2 ** (attempt - 1), cap)
  }
}

/** The failure of a node whose time is over (W5). */
export function timedOut(options: NodeOptions, failure: Response | null): Response {
  const details: JsonObject = {
    ...(options.timeoutMs === undefined ? {} : { timeout_ms: options.timeoutMs }),
    ...(failure?.reason === undefined ? {} : { failure_reason: failure.reason })
  }
  return {
    success: false,
    data: null,
    reason: reasons.timedOut,
    details,
    errorType: reasons.timedOut,
    metadata: {}
  }
}

function applies(entry: RetryPolicyStep, errorType: string): boolean {
  return entry.errors?.includes(errorType) ?? true
}

// B9: only these classes are repeated by themselves. A composite whose overlay was rolled back and
// left nothing behind may run again whatever its class; a leaf may not, even when nothing was sent.
function mayRunAgain(failed: FailedAttempt): boolean {
  if (failed.sideEffects !== 'non_idempotent') return true
  return failed.sent === false && !failed.canFallBack
}

function passesUnsafe({ options, sent }: FailedAttempt): boolean {
  return options.passesUnsafe === true && sent === false
}

// C3: idempotency holds per provider, so another one may be tried only when nothing happened.
function mayMoveOn(failed: FailedAttempt): boolean {
  return failed.sideEffects === 'none' || failed.sent === false
}

function repaired(failed: FailedAttempt, name: string): Request | null {
  const repair = failed.repair(name)
  if (repair === undefined) return null
  try {
    const result = repair(givenRequest(failed.request), givenResponse(failed.response))
    return repairedRequest(failed.request, result)
  } catch {
    // Guards must not throw; a repair that does is one that cannot repair.
    return null
  }
}

function giveUp(failed: FailedAttempt, cursor: RetryCursor, response: Response): RetryDecision {
  return failed.options.onError === 'ask'
    ? { kind: 'ask', response, cursor }
    : { kind: 'fail', response }
}

function unsafe(failed: FailedAttempt): Response {
  return {
    success: false,
    data: null,
    reason: reasons.unsafeToRetry,
    details: {
      side_effect_class: failed.sideEffects,
      failure_reason: failed.response.reason ?? null,
      ...(failed.response.details === undefined ? {} : { failure_details: failed.response.details })
    },
    errorType: failed.response.errorType ?? reasons.unsafeToRetry,
    metadata: failed.response.metadata
  }
}

/**
 * What registered functions get to see of a run (B11): copies, so that whatever they do to them
 * changes nothing, live or in replay. A member is copied when it is read: most are not.
 */

export function givenRequest(request: Request): Request {
  return lazyCopy(request)
}

export function givenResponse(response: Response): Response {
  return lazyCopy(response)
}

/** What a repair makes of a request; null when that is no JSON. Throws what the result throws. */
function repairedRequest(
  request: Request,
  result: Pick<Request, 'payload' | 'context'> | null
): Request | null {
  if (result === null || result === undefined) return null
  ignoreRejection(result)
  const { payload, context = request.context } = result
  const copy = JSON.parse(canonicalizeLedgerValue({ payload, context })) as {
    readonly payload: Json
    readonly context: JsonObject
  }
  return { ...request, ...copy }
}

function lazyCopy<Value extends Request | Response>(value: Value): Value {
  const copy = {}
  for (const [key, member] of Object.entries(value) as [string, Json | undefined][]) {
    if (typeof member !== 'object' || member === null) {
      Object.defineProperty(copy, key, { ...own, writable: true, value: member })
      continue
    }
    let made: unknown
    Object.defineProperty(copy, key, {
      ...own,
      get: () => {
        made ??= copyJson(member)
        return made
      },
      set: (changed: unknown) => {
        made = changed
      }
    })
  }
  return copy as Value
}

const own = { enumerable: true, configurable: true }
