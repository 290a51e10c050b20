import type { Json } from '../core/index.js'

/**
 * Why an evaluation gave no value. Stable: these codes may enter ledgers and routing choices,
 * engine error texts never do (D4).
 */
export type FailureCode =
  | 'missing_reference'
  | 'type_error'
  | 'overflow'
  | 'divide_by_zero'
  | 'invalid_argument'
  | 'budget_exceeded'
  | 'unrepresentable'
  | 'evaluation_failed'

/** An evaluation that failed, as data. For `missing_reference`, `detail` is the missing path. */
export interface EvaluationFailure {
  readonly ok: false
  readonly code: FailureCode
  readonly detail: string
}

/** What an evaluation gives: a value, or a failure as data. */
export type EvaluationResult<Value extends Json = Json> =
  | {
      readonly ok: true
      readonly value: Value
      /** Where below the value text is an amount; absent where it is nowhere one. */
      readonly amounts?: AmountPaths
    }
  | EvaluationFailure

/** Ways from a value to text that is an amount, `*` for any one key or index; `[]` is the value. */
export type AmountPaths = readonly (readonly string[])[]

/** Carries a failure through code that can only throw; never leaves this room. */
export class FailureSignal extends Error {
  readonly failure: EvaluationFailure

  constructor(code: FailureCode, detail: string) {
    super(`${marker}${code}: ${detail}`)
    this.failure = failed(code, detail)
  }
}

// An engine may keep only the message of an error it absorbs, so the message names the failure.
const marker = 'tally/'
const message = new RegExp(`^${marker}([a-z_]+): (.*)$`, 's')

const codes = new Set<string>([
  'missing_reference',
  'type_error',
  'overflow',
  'divide_by_zero',
  'invalid_argument',
  'budget_exceeded',
  'unrepresentable',
  'evaluation_failed'
] satisfies readonly FailureCode[])

/** Builds a failure. */
export function failed(code: FailureCode, detail: string): EvaluationFailure {
  return { ok: false, code, detail }
}

/** Reads a failure back from the message of a {@link FailureSignal}. */
export function failureOfMessage(text: string): EvaluationFailure | undefined {
  const match = message.exec(text)
  const code = match?.[1] ?? ''
  return isFailureCode(code) ? failed(code, match?.[2] ?? '') : undefined
}

function isFailureCode(code: string): code is FailureCode {
  return codes.has(code)
}
