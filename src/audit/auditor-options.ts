import type { VerifiedReceipt } from '../ledger/index.js'
import type { CodeSource } from './code-source.js'

export interface AuditorOptions {
  readonly code: CodeSource
  readonly identity: VerifiedReceipt['receipt']['identity']
  /** How often each unit is executed; more than once compares the executions (P2). */
  readonly executions: number
  /** Limits execution to some receipts; all others are only folded. */
  readonly isWanted?: (receipt: VerifiedReceipt) => boolean
}
