/**
 * Why a node of a workflow fails, as far as the engine itself finds it; what executors find are the
 * codes of `chainFailureCodes`, and effects of hosts have their own. Stable: they stand in
 * diagnostics, and so in ledgers.
 */
export const nodeFailureCodes = [
  /** Of values: something that they read is not there, or they cannot be made. */
  'missing_reference',
  'invalid_value',
  'invalid_argument',
  'constraint_broken',
  'not_boolean',
  'precondition_failed',
  'expression_failed',
  'invalid_input',
  'invalid_patch',
  'still_missing',
  'cannot_solve',
  /** Of permission. */
  'policy_blocked',
  'denied',
  /** Of what was done. */
  'reverted',
  'returns_mismatch',
  'until_exhausted',
  'assert_failed',
  'timed_out',
  'unknown_outcome',
  /** Of what stands before and behind all nodes. */
  'not_ready',
  'output_failed'
] as const

export type NodeFailureCode = (typeof nodeFailureCodes)[number]
