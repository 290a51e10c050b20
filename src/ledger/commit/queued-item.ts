import type { Hash, RunId, UnitId } from '../../core/index.js'
import type { ChainHead } from '../chain/chain-head.js'
import type { JournalItem } from '../item.js'
import type { SignedRecord } from './signing.js'

/** An appended item on its way to disk. */
export interface QueuedItem {
  readonly runId: RunId
  /** As they are stored. */
  readonly entries: readonly string[]
  /** What they say, where they are stored under the key of a subject. */
  readonly plain?: readonly string[]
  readonly runChanges: JournalItem['runChanges'] | undefined
  /** Code over the run's journal so far. */
  readonly mac: Hash | undefined
  readonly receipt:
    | {
        readonly record: SignedRecord
        readonly unitId: UnitId
        readonly hash: Hash
        readonly writeSet: string
        readonly result: string
      }
    | undefined
  readonly evidence: SignedRecord | undefined
  readonly blobs: readonly string[]
  /** Bodies under the key of a subject. */
  readonly encrypted: readonly string[]
  readonly changes: readonly (readonly [key: string, text: string | null])[]
  /** Chain and state after it. */
  readonly chainHead: ChainHead
}
