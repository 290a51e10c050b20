import { type ErrorCode, isTallyError } from '../../core/index.js'

/** How a command ends, as its exit code tells. */
export const exitCodes = {
  done: 0,
  /** A run failed or was cancelled, or something unexpected happened. */
  failed: 1,
  /** Wrong usage, a document that is not valid, something that does not exist. */
  usage: 2,
  unverified: 3,
  /**
   * The run waits for a message, or a question had to be answered first and there was no terminal.
   */
  waiting: 4,
  /** The ledger is locked, poisoned or in safe mode, or its owner went away. */
  unavailable: 5,
  interrupted: 130,
  /** The reader of the output has closed it, as in `tally log | head`. */
  unread: 141,
  terminated: 143
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

const unavailable: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'ledger.locked',
  'ledger.poisoned',
  'ledger.safe_mode',
  'ledger.restoring',
  'ledger.closed',
  'ledger.fenced',
  'ledger.follower',
  'run.interrupted',
  'run.not_executed',
  'run.quarantined',
  'run.version_quarantined',
  'runtime.closed',
  'runtime.too_many_runs',
  'sandbox.engine_failed',
  'sandbox.wall_clock'
])

const unverified: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'ledger.corrupt',
  'ledger.malformed_marker',
  'ledger.marker_missing',
  'ledger.not_recoverable',
  'archive.malformed',
  'archive.not_verified',
  'archive.other_ledger',
  'snapshot.diverges',
  'snapshot.malformed',
  'snapshot.not_verified'
])

const failed: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['core.internal', 'run.diverged'])

/** The exit code of a command that ended with this error. */
export function exitCodeOf(error: unknown): ExitCode {
  if (!isTallyError(error)) return exitCodes.failed
  const { code } = error
  if (unavailable.has(code) || /^(store|owner)\./.test(code)) return exitCodes.unavailable
  if (unverified.has(code)) return exitCodes.unverified
  if (failed.has(code)) return exitCodes.failed
  return exitCodes.usage
}
