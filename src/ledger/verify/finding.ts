import { isTallyError } from '../../core/index.js'
import type { HookVerdict, VerificationFailure } from './report.js'

/** Ends a verification at the first thing that is wrong. */
export class Stop extends Error {
  constructor(readonly failure: VerificationFailure) {
    super(failure.field)
  }
}

/** What was thrown, as a finding at the place `here`; rethrown where it is none. */
export function findingOf(
  error: unknown,
  here: (problem: HookVerdict) => VerificationFailure
): VerificationFailure {
  if (error instanceof Stop) return error.failure
  if (isTallyError(error, 'ledger.corrupt')) {
    const { key, problem } = error.context
    const found = { field: 'store', signed: 'an undamaged value', computed: `${problem}` }
    return { ...here(found), key: String(key) }
  }
  if (isTallyError(error, 'run.not_executed')) throw error
  if (isTallyError(error) || error instanceof SyntaxError) {
    return here({ field: 'store', signed: 'a readable value', computed: error.message })
  }
  throw error
}
