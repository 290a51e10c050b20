import type { Hash, RunId, UnitId } from '../../core/index.js'
import type { QueuedItem } from '../commit/queued-item.js'
import type { CommitWritten } from '../ledger-api.js'
import type { LogFrontier } from '../log/index.js'
import type { StateTree } from '../state/index.js'
import { hashIndexKey, type IndexEntry, type ReceiptLocation, unitIndexKey } from './index-runs.js'
import { addEntries, beginsRun, newDelta, type RunDelta, runChangesOf } from './run-records.js'

/** What a durable commit brings, as far as derived records are concerned. */
export interface DerivableCommit {
  readonly seq: number
  readonly items: readonly Pick<QueuedItem, 'runId' | 'entries' | 'plain' | 'runChanges'>[]
  readonly receipts: readonly { readonly unitId: UnitId; readonly receiptHash: Hash }[]
  readonly leaves: readonly Uint8Array[]
  /** Log and state after it. */
  readonly frontier: LogFrontier
  readonly tree: StateTree
  readonly changedKeys: number
  /** Undefined of one that was read. */
  readonly written?: CommitWritten
}

/** What a stretch of commits brings, kept until it is derived on disk. */
export class UnflushedRecords {
  readonly fromSeq: number
  readonly firstReceipt: number
  /** One past the last commit absorbed. */
  toSeq: number
  /** Commit number of each receipt. */
  readonly commitSeqs: number[] = []
  readonly units = new Map<UnitId, ReceiptLocation>()
  readonly hashes = new Map<Hash, ReceiptLocation>()
  readonly runs = new Map<RunId, RunDelta>()
  readonly leaves: Uint8Array[] = []
  receiptHash: Hash | undefined
  frontier: LogFrontier | undefined
  tree: StateTree | undefined
  changedKeys = 0

  constructor(fromSeq: number, firstReceipt: number) {
    this.fromSeq = fromSeq
    this.toSeq = fromSeq
    this.firstReceipt = firstReceipt
  }

  get receipts(): number {
    return this.commitSeqs.length
  }

  absorb(commit: DerivableCommit, entriesBefore: (runId: RunId) => number): void {
    this.toSeq = commit.seq + 1
    for (const item of commit.items) {
      const { runId, entries } = item
      const runChanges = runChangesOf(item)
      let delta = this.runs.get(runId)
      if (delta === undefined) {
        delta = newDelta(beginsRun(runChanges[0]) ? 0 : entriesBefore(runId))
        this.runs.set(runId, delta)
      }
      addEntries(delta, entries, { seq: commit.seq, runChanges })
    }
    commit.receipts.forEach(({ unitId, receiptHash }, ordinal) => {
      const location = { commitSeq: commit.seq, ordinal }
      this.commitSeqs.push(commit.seq)
      this.units.set(unitId, location)
      this.hashes.set(receiptHash, location)
      this.receiptHash = receiptHash
    })
    for (const leaf of commit.leaves) this.leaves.push(leaf)
    this.frontier = commit.frontier
    this.tree = commit.tree
    this.changedKeys += commit.changedKeys
  }

  /** Two entries of the index per receipt: by its hash and by its unit. */
  indexEntries(): readonly IndexEntry[] {
    const entries: IndexEntry[] = []
    for (const [hash, location] of this.hashes) {
      entries.push({ key: hashIndexKey(hash), ...location })
    }
    for (const [unitId, location] of this.units) {
      entries.push({ key: unitIndexKey(unitId), ...location })
    }
    return entries
  }
}
