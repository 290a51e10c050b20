import { isTallyError, type Json } from '../../core/index.js'
import { BlockFailure, DeterminismViolation, EffectFailure } from '../context.js'
import type { SealedFailure } from './entries.js'
import { plainDetails, plainText } from './plain.js'

/** How an execution ended, as data. */
export type Outcome =
  | { readonly ok: true; readonly text: string }
  | {
      readonly ok: false
      readonly reason: string
      readonly errorType: string
      readonly details: Json
    }

// What a block throws is its own; what a journal keeps must be plain, or the run could never end.
export function failure(reason: string, errorType: string, details: unknown): Outcome {
  return {
    ok: false,
    reason: plainText(reason),
    errorType: plainText(errorType),
    details: plainDetails(details)
  }
}

export function effectFailure(body: Json): EffectFailure {
  const { reason, definite, details } = body as unknown as SealedFailure
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

export function outcomeOf(error: unknown): Outcome {
  if (error instanceof DeterminismViolation) {
    return failure('determinism_violation', error.name, error.details)
  }
  if (error instanceof BlockFailure) return failure(error.reason, error.name, error.details)
  if (error instanceof EffectFailure) return failure(error.reason, error.name, error.details)
  if (isTallyError(error)) return failure('invalid_operation', error.name, { code: error.code })
  if (error instanceof Error) {
    const details = engineErrors.has(error.name) ? null : { message: plainText(error.message) }
    return failure('block_threw', error.name, details)
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
