import {
  type EffectCall,
  EffectFailure,
  type EffectRequest,
  LazySignal,
  type SignalSource
} from '../../code/index.js'
import {
  bytesOver,
  canonicalize,
  canonicalizeLedgerValue,
  copyJson,
  type Hash,
  isTallyError,
  isThrown,
  type Json,
  limits,
  plainDetails,
  plainText,
  type Redactor,
  type RunId,
  thrownMember
} from '../../core/index.js'
import type { Performed } from '../run/decide.js'
import type { SealedFailure } from '../run/entries.js'
import type { Provider } from '../run/provider.js'
import type { Performer } from './host.js'

/**
 * Performs an effect once and says what became of it, never throwing (architecture.md L7).
 * After an error that leaves the outcome of a write open, `locate` is asked before giving up. A
 * known secret in what was answered or thrown is replaced by its reference, before anything is cut.
 */
export async function perform(
  call: EffectRequest,
  provider: Provider | undefined,
  options: {
    readonly key: Hash
    readonly signals: SignalSource
    readonly repeated: boolean
    readonly principal: Json
    readonly runId: RunId
    readonly redactor: Redactor
    /** Asked instead of the code and of the provider. */
    readonly outside?: Performer | undefined
    /** What it does outside continues this trace: a W3C `traceparent`. */
    readonly traceparent?: string | undefined
    /** What it had done was found. */
    readonly located?: () => void
    /** It has thrown this. */
    readonly threw?: (thrown: unknown) => void
  }
): Promise<Performed> {
  const { redactor, outside } = options
  const run = outside?.perform ?? call.perform ?? provider?.perform.bind(provider)
  if (run === undefined) return failed('no_provider', { effect: call.effect }, true)
  const { key, signals, principal, runId, traceparent } = options
  // Copies: a provider that changes a request changes neither the journal nor the next try.
  const input = (): EffectCall =>
    Object.assign(new LazySignal(signals), {
      key,
      request: copyJson(call.request),
      principal: copyJson(principal),
      runId,
      ...(traceparent === undefined ? {} : { traceparent })
    })
  const isWrite = call.sideEffects !== 'none'
  const locate =
    outside === undefined ? (call.locate ?? provider?.locate?.bind(provider)) : outside.locate
  if (options.repeated) {
    const earlier = await located(locate, input(), options)
    if (earlier !== 'cannot_tell' && earlier !== 'absent') return earlier
    if (earlier === 'cannot_tell' && call.sideEffects === 'non_idempotent') {
      return unknown('unknown_outcome', { effect: call.effect })
    }
  }
  try {
    return done(await run(input()), redactor)
  } catch (error) {
    options.threw?.(error)
    const failure = await failureOf(error, redactor)
    if (failure.definite || !isWrite)
      return { kind: 'failed', failure: { ...failure, definite: true } }
    const after = await located(locate, input(), options)
    if (after === 'absent') return { kind: 'failed', failure: { ...failure, definite: true } }
    if (after !== 'cannot_tell') return after
    // The same provider may be sent the same key again, so an idempotent effect only failed.
    return call.sideEffects === 'idempotent'
      ? { kind: 'failed', failure }
      : { kind: 'unknown', failure: { ...failure, reason: 'unknown_outcome' } }
  }
}

async function located(
  locate: Provider['locate'],
  input: EffectCall,
  options: { readonly redactor: Redactor; readonly located?: () => void }
): Promise<Performed | 'absent' | 'cannot_tell'> {
  if (locate === undefined) return 'cannot_tell'
  try {
    const answer = await locate(input)
    if (answer.found) {
      options.located?.()
      return done(answer.result, options.redactor)
    }
    return answer.definite ? 'absent' : 'cannot_tell'
  } catch {
    return 'cannot_tell'
  }
}

function done(value: unknown, redactor: Redactor): Performed | Promise<Performed> {
  try {
    const text = canonicalizeLedgerValue(value === undefined ? null : value)
    const bytes = bytesOver(text, limits.VALUE_BYTES_MAX)
    if (bytes !== undefined) return failed('response_too_large', { bytes }, false)
    if (text.length > RESPONSE_AT_ONCE_LENGTH) return cleaned(text, redactor)
    return { kind: 'done', text: redactor.canonical(text) }
  } catch (error) {
    const message = isTallyError(error) ? error.message : 'it cannot be read'
    const problem = plainText(redactor.text(message))
    return failed('invalid_response', { problem }, false)
  }
}

/** Length of a response that is searched for secrets without a turn of the event loop. */
const RESPONSE_AT_ONCE_LENGTH = 64 * 1024

async function cleaned(text: string, redactor: Redactor): Promise<Performed> {
  return { kind: 'done', text: await redactor.inTurns('canonical', text) }
}

/** The texts of an error may be as long as a response; they are cut when no secret is in them. */
async function failureOf(error: unknown, redactor: Redactor): Promise<SealedFailure> {
  const textOf = async (value: unknown) =>
    plainText(typeof value === 'string' ? await redactor.inTurns('text', value) : value)
  if (isThrown(error, EffectFailure)) {
    return {
      reason: await textOf(thrownMember(error, 'reason')),
      definite: thrownMember(error, 'definite') === true,
      details: await cleanDetails(thrownMember(error, 'details'), redactor)
    }
  }
  const isError = isThrown(error, Error)
  const message = isError ? thrownMember(error, 'message') : error
  const name = isError ? thrownMember(error, 'name') : typeof error
  return {
    reason: 'effect_failed',
    definite: false,
    details: { error: await textOf(name), message: await textOf(message) }
  }
}

async function cleanDetails(details: unknown, redactor: Redactor): Promise<Json> {
  const plain = plainDetails(details)
  if (redactor.isEmpty) return plain
  // Canonical text is JSON by definition.
  return JSON.parse(await redactor.inTurns('canonical', canonicalize(plain))) as Json
}

function failed(reason: string, details: Json, definite: boolean): Performed {
  return { kind: 'failed', failure: { reason, definite, details } }
}

function unknown(reason: string, details: Json): Performed {
  return { kind: 'unknown', failure: { reason, definite: false, details } }
}
