import {
  bytesOver,
  canonicalizeLedgerValue,
  canonicalizeOwnLedgerValue,
  isJsonObject,
  isTallyError,
  isThrown,
  type Json,
  type JsonObject,
  limits,
  plainDetails,
  plainText,
  thrownMember
} from '../core/index.js'
import type { Attribution, BlockCode } from './block.js'
import { BlockFailure, DeterminismViolation, EffectFailure } from './context.js'
import type { Response } from './request.js'

/** How an execution ended, as data. */
export type Outcome =
  | { readonly ok: true; readonly text: string }
  | {
      readonly ok: false
      readonly reason: string
      readonly errorType: string
      readonly details: Json
      /** What the code has thrown, for people: it reaches no record. */
      readonly thrown?: unknown
    }

// What a block throws is its own; what a journal keeps must be plain, or the run could never end.
export function failure(
  reason: string,
  errorType: string,
  details: unknown
): Outcome & { readonly ok: false } {
  return {
    ok: false,
    reason: plainText(reason),
    errorType: plainText(errorType),
    details: plainDetails(details)
  }
}

/** What records keep of how an execution ended: what was thrown differs between processes. */
export function withoutThrown(outcome: Outcome): Outcome {
  if (outcome.ok) return outcome
  const { thrown: _thrown, ...recorded } = outcome
  return recorded
}

/** What a schema refuses, with what it says of it for people. */
export function refusal(
  reason: string,
  errorType: string,
  { problem, explanation }: { readonly problem: string; readonly explanation?: string }
): Outcome {
  const refused = failure(reason, errorType, { problem })
  if (explanation === undefined) return refused
  return { ...refused, thrown: { name: errorType, message: explanation } }
}

/** An input that no receipt may hold; code is not given it. Undefined where it is none. */
export function inputTooLarge(payloadText: string): (Outcome & { readonly ok: false }) | undefined {
  const bytes = bytesOver(payloadText, limits.VALUE_BYTES_MAX)
  if (bytes === undefined) return undefined
  const failed = { reason: 'input_too_large', errorType: 'InvalidInput' } as const
  return { ok: false, ...failed, details: { bytes } }
}

export function effectFailure(body: Json): EffectFailure {
  const { reason, definite, details } = body as unknown as Omit<EffectFailure, keyof Error>
  return new EffectFailure(reason, { definite, details })
}

// Messages of engine errors differ between versions of V8 and must not reach a hash (D4).
const engineErrors = new Set([
  'TypeError',
  'RangeError',
  'ReferenceError',
  'SyntaxError',
  'EvalError'
])

/** The failure that anything thrown stands for. Never throws, whatever its members do. */
export function outcomeOf(error: unknown): Outcome & { readonly ok: false } {
  const failed = failureOf(error)
  return saysAll(error) ? failed : { ...failed, thrown: error }
}

/** Whether a failure is on purpose and says all by its reason: nothing else had been thrown. */
export function saysAll(error: unknown): boolean {
  if (isThrown(error, DeterminismViolation)) return false
  const isOnPurpose = isThrown(error, BlockFailure) || isThrown(error, EffectFailure)
  return isOnPurpose && thrownMember(error, 'cause') === undefined
}

function failureOf(error: unknown): Outcome & { readonly ok: false } {
  const read = (key: string) => thrownMember(error, key)
  const name = plainText(read('name'))
  if (isThrown(error, DeterminismViolation)) {
    return failure('determinism_violation', name, read('details'))
  }
  if (isThrown(error, BlockFailure) || isThrown(error, EffectFailure)) {
    return failure(plainText(read('reason')), name, read('details'))
  }
  if (isTallyError(error)) {
    return failure('invalid_operation', name, { code: plainText(read('code')) })
  }
  if (isThrown(error, Error)) {
    const details = engineErrors.has(name) ? null : { message: plainText(read('message')) }
    return failure('block_threw', name, details)
  }
  return failure('block_threw', typeof error, null)
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'then' in value &&
    typeof value.then === 'function'
  )
}

/** The response of an attempt that failed. */
export function failureResponse(outcome: Outcome & { readonly ok: false }): Response {
  const { details } = outcome
  const asObject: JsonObject = isJsonObject(details) ? details : { value: details }
  return {
    success: false,
    data: null,
    reason: outcome.reason,
    errorType: outcome.errorType,
    details: details === null ? {} : asObject,
    metadata: {}
  }
}

/** The outcome of a value that code has returned, by the schema of the block and by who acted. */
export function resultOutcome(
  value: unknown,
  block: BlockCode,
  attribution: Attribution | undefined
): Outcome {
  try {
    const parsed = block.parseOutput(value === undefined ? null : value)
    if (!parsed.ok) return refusal('invalid_output', 'InvalidOutput', parsed)
    const refused = attribution?.refusal?.(parsed.value)
    if (refused !== undefined) return failure(refused.reason, 'InvalidOutput', refused.details)
    const text = ledgerTextBy(block, parsed.value)
    const bytes = bytesOver(text, limits.VALUE_BYTES_MAX)
    if (bytes !== undefined) return failure('output_too_large', 'InvalidOutput', { bytes })
    return { ok: true, text }
  } catch (error) {
    // A schema may run the caller's code, and a result may be a proxy.
    if (!isTallyError(error)) return outcomeOf(error)
    return failure('invalid_output', 'InvalidOutput', { problem: error.message })
  }
}

/** Canonical JSON of what a block's code asks for or gives. Throws `core.not_ledger_value`. */
export function ledgerTextBy({ makesPlainData }: BlockCode, value: unknown): string {
  return makesPlainData === true
    ? canonicalizeOwnLedgerValue(value)
    : canonicalizeLedgerValue(value)
}
