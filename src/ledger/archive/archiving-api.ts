import type { Hash, IdentityId, RunId, TallyError } from '../../core/index.js'
import type { Boundary } from './boundary.js'
import type { ArchivedHistory, PendingHistory } from './history.js'

/** Up to where history is archived: before a time, or through a receipt. */
export type ArchiveEnd =
  /** Milliseconds: the first commit that is not older is not archived, nor any behind it. */
  | { readonly before: number }
  /** Commit record of the receipt: the last one that is archived. */
  | { readonly throughCommit: number }

/** How far archiving is. */
export interface ArchiveProgress {
  readonly phase: 'writing' | 'checking' | 'removing'
  /** Commit records. */
  readonly done: number
  readonly total: number
}

export type OnArchiveProgress = (progress: ArchiveProgress) => void

/** What an archive is, once all of it that can be checked alone was. */
export interface ArchiveReport {
  readonly path: string
  readonly identity: IdentityId
  readonly from: Boundary
  readonly to: Boundary
  readonly commits: number
  readonly receipts: number
  readonly evidence: number
  readonly signatures: number
  /** Of all bytes before the footer, before they are packed: its name. */
  readonly sha256: Hash
  readonly bytes: number
  /** In words: what needs the archives before it, or the ledger. */
  readonly notChecked: readonly string[]
}

/** What was archived of an open ledger, and archiving more. */
export interface LedgerArchiving {
  readonly history: ArchivedHistory | undefined
  /** Runs that have not ended. */
  openRuns(): readonly RunId[]
  /** The error that says in which archive a run stands; undefined while its journal is here. */
  errorOf(runId: RunId): TallyError | undefined
  /** Where an archive would end. Throws `archive.nothing`. */
  end(options: ArchiveEnd): Promise<Boundary>
  /**
   * Writes the file, reads it back and checks it, and gives the history that it would make. Throws
   * `archive.*`, `ledger.corrupt`.
   */
  write(
    path: string,
    to: Boundary,
    onProgress?: OnArchiveProgress
  ): Promise<{ readonly report: ArchiveReport; readonly history: ArchivedHistory }>
  /** Notes what the receipt of a run will make true. */
  begin(pending: PendingHistory): Promise<void>
  /** Forgets what was begun: there is no receipt. */
  abandon(): Promise<void>
  /** Makes the archive part of the ledger, whose receipt is durable, and removes what it has. */
  finish(
    history: ArchivedHistory,
    isHeld: (runId: RunId) => boolean,
    onProgress?: OnArchiveProgress
  ): Promise<void>
  /**
   * Goes on with what an earlier process has begun. `hasReceipt`: whether the run that archives has
   * its receipt.
   */
  resume(hasReceipt: (runId: RunId) => boolean, isHeld: (runId: RunId) => boolean): Promise<void>
}
