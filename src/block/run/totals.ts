import { CompactRange, type Hash, leafNode, type RunId } from '../../core/index.js'
import type { JournalEntry, RunStarted } from './entries.js'

/** What the entries of one run's journal add up to, whatever they mean. */
export class RunTotals {
  readonly runId: RunId
  /** How the run began. */
  started: RunStarted | undefined
  /** Number of the next entry. */
  entries = 0
  /** Logical time of the last entry (K7). */
  at = 0
  /** Over all entries so far. */
  journalHash = ''
  /** Attempts that have ended, retries included (D7). */
  steps = 0
  /** Receipt that the last entry completed. */
  receiptHash: Hash | undefined
  /** Receipts of the run. */
  receipts = new CompactRange()

  constructor(runId: RunId) {
    this.runId = runId
  }

  /** Counts an entry. */
  take(entry: JournalEntry, journalHash: Hash, receiptHash: Hash | undefined): void {
    this.entries = entry.n + 1
    if (entry.k === 'settled') this.steps += 1
    this.at = entry.at
    this.journalHash = journalHash
    this.receiptHash = receiptHash
    if (receiptHash !== undefined) this.receipts.append(leafNode(Buffer.from(receiptHash, 'hex')))
  }
}
