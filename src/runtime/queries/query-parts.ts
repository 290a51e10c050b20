import type { VerificationReport } from '../../audit/index.js'
import type { GivenNote, Ledger } from '../../ledger/index.js'
import type { Registry } from '../code/registry.js'
import type { OpeningCause } from '../opening/opening-remedies.js'
import type { ThrownLine } from '../run/exception-log.js'
import type { Runs } from '../run/runs.js'

/** What queries are answered from. */
export interface QueryParts {
  readonly ledger: Ledger
  /** Real path of the ledger, or `memory:`. */
  readonly location: string
  /** Imported and not taken over: nothing of it runs. */
  readonly isFollower?: boolean
  /** Absent where the ledger was opened for reading only. */
  readonly running?: { readonly runs: Runs; readonly registry: Registry }
  /** What could not be checked when the ledger was opened, in words. */
  warnings?(): readonly string[] | Promise<readonly string[]>
  /** Causes of safe mode that opening found. */
  causes?(): readonly OpeningCause[]
  /** What was thrown in runs of a ledger in memory; undefined where a file has it. */
  thrown?: (() => readonly ThrownLine[] | undefined) | undefined
  /** Why the last run of a schedule could not begin. */
  problemOf?: ((schedule: string) => string | null) | undefined
  verify(options: {
    readonly notes: readonly GivenNote[]
    readonly replay: boolean
    readonly executions: number
    /** Paths of all archives of the ledger. */
    readonly archives?: readonly string[]
    /** Called with each commit record that is read. */
    readonly onRecord?: () => void
  }): Promise<VerificationReport>
}
