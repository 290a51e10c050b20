import type {
  Hash,
  IdentityId,
  Json,
  PublicKey,
  RunId,
  RunTrace,
  Signature,
  StateRoot,
  UnitId
} from '../../core/index.js'
import type { SealedReference } from '../item.js'

export const RECEIPT_VERSION = 1

/** A body kept beside the record that names it (docs/spec/receipt.md). */
export interface BlobReference {
  readonly $blob: Hash
  /** UTF-8 bytes of the body's canonical JSON, without the salt. */
  readonly bytes: number
}

/**
 * What a unit of work was asked to do, by whom, and what answered its effects
 * (docs/spec/receipt.md).
 */
export interface InputPayload {
  readonly action: string
  readonly id: UnitId
  readonly payload: Json
  readonly principal: Json
  readonly provider: {
    readonly codeHash: Hash
    readonly id: string
    readonly kind: string
    readonly profile: Json
  }
  readonly raw?: string | BlobReference
  readonly run?: {
    readonly at: number
    readonly attempt: number
    /** Of the context that the unit was asked with; absent when that is empty. */
    readonly contextHash?: Hash
    /** Receipt of the composite whose deferred step this is. */
    readonly parent?: Hash
    readonly path: string
    readonly runId: RunId
    readonly step: number
    /** As the caller of the run gave it; absent when it gave none. */
    readonly trace?: RunTrace
  }
  readonly sealed: readonly SealedReference[]
  readonly seed: { readonly base: Hash | 'GENESIS'; readonly value: Hash }
  /** Whole seconds. */
  readonly timestamp: number
}

/** Signed, hash-chained record of one committed unit of work: 16 fields (docs/spec/receipt.md). */
export interface Receipt {
  readonly capabilitiesDeclared: readonly string[]
  readonly capabilitiesUsed: readonly string[]
  readonly dappId: string
  readonly identity: IdentityId
  readonly inputHash: Hash
  readonly inputPayload: InputPayload
  readonly intent: string
  readonly nextStateRoot: StateRoot
  readonly previousReceiptHash: Hash | null
  readonly previousStateRoot: StateRoot
  readonly publicKey: PublicKey
  readonly receiptHash: Hash
  readonly resultHash: Hash
  readonly signature: Signature
  /** Whole seconds. */
  readonly timestamp: number
  readonly version: typeof RECEIPT_VERSION
}

/** One changed key; a side that is missing means that the key was absent. */
export interface WriteSetEntry {
  readonly after?: Json
  readonly before?: Json
  readonly key: string
}

/** What a unit changed, by key; not signed, but applying it must give `nextStateRoot`. */
export type WriteSet = readonly WriteSetEntry[]

/** Signed record of something that was refused or undone; in the log, not in the chain. */
export interface Evidence {
  readonly code: string
  readonly details: Json
  readonly evidenceHash: Hash
  /** Receipts before it, and the hash of the last of them. */
  readonly head: { readonly receiptHash: Hash | null; readonly seq: number }
  readonly identity: IdentityId
  readonly inputPayload: { readonly action: string; readonly id: UnitId; readonly payload: Json }
  readonly journalHash?: Hash
  /** Sealed effects that happened all the same. */
  readonly landed: readonly SealedReference[]
  readonly publicKey: PublicKey
  readonly signature: Signature
  /** Whole seconds. */
  readonly timestamp: number
  readonly type: 'abort' | 'denial' | 'failure'
  readonly version: 1
}
