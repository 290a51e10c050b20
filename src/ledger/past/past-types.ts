import type { Hash, PublicKey, RunId } from '../../core/index.js'

/**
 * One thing that a commit made durable. `place` counts from 1, within the commit, each item's run,
 * its journal entries, its receipt and its evidence, in the order in which they are stored
 * (docs/spec/store.md): the same in every process and after every restart.
 */
export type CommitLine =
  | { readonly place: number; readonly kind: 'run'; readonly runId: RunId }
  | {
      readonly place: number
      readonly kind: 'entry'
      readonly runId: RunId
      readonly text: string
    }
  | (LoggedLine & { readonly place: number })

/** A signed record, as the log has it. */
export interface LoggedLine {
  readonly kind: 'receipt' | 'evidence'
  /** What its item belongs to: a run, or a key rotation. */
  readonly runId: RunId
  readonly commitSeq: number
  readonly leaf: number
  /** Place in the chain; null for evidence. */
  readonly index: number | null
  readonly text: string
}

export interface PastCommit {
  readonly seq: number
  readonly lines: readonly CommitLine[]
}

/** A key of the state as of a receipt. */
export interface PastValue {
  readonly key: string
  /** Canonical JSON; undefined where its body is withheld. */
  readonly text: string | undefined
  /** The receipt that wrote it; undefined where an archive has that, and nothing says which. */
  readonly index: number | undefined
}

export interface PastValues {
  readonly values: readonly PastValue[]
  /** The last key that was looked at, when others may follow it. */
  readonly next: string | undefined
}

/** One change of a key. */
export interface PastChange {
  readonly index: number
  readonly receiptHash: Hash
  /** Integer seconds. */
  readonly timestamp: number
  readonly runId: RunId | undefined
  /**
   * Canonical JSON; null where the key was absent, undefined where the body is withheld, and
   * `before` where an archive has it.
   */
  readonly before: string | null | undefined
  readonly after: string | null | undefined
}

/** What shows that a key had a value, or none, as of a receipt. */
export interface PastProof {
  /** `nextStateRoot` of the receipt: the hash of `parts`. */
  readonly root: Hash
  readonly parts: {
    readonly capabilityVersion: number
    readonly identityPublicKey: PublicKey
    readonly installedDApps: Hash
    readonly receiptChainCommitment: Hash | null
    readonly storage: Hash
    readonly version: number
  }
  /** A state proof under `parts.storage`, as text (docs/spec/state-root.md). */
  readonly proof: string
  /** Canonical JSON; null where the key is absent, undefined where the body is withheld. */
  readonly text: string | null | undefined
}

/** What shows that a signed record stands in the log (docs/spec/log-and-notes.md). */
export interface PastInclusion {
  /** The record, as it is stored. */
  readonly text: string
  readonly leafHash: Hash
  /** Of the log that the proof is about. */
  readonly root: Hash
  /** An inclusion proof as text, which names place and size. */
  readonly proof: string
}

/** What a ledger was, by commit and by receipt, as far as it is durable. */
export interface PastLedger {
  /** Durable commits so far: the number of the next one. */
  readonly commits: number
  /** A durable commit. Throws `ledger.corrupt` for one that is missing. */
  commit(seq: number): PastCommit
  /** Durable commits from `from` on that hold entries of a run, in order. */
  commitsOf(runId: RunId, from: number): readonly number[]
  /** Signed records `from` <= leaf < `to`, in log order. */
  log(from: number, to: number): Promise<readonly LoggedLine[]>
  /** Throws `receipt.not_found` for a leaf that there is not. */
  inclusion(leaf: number): Promise<PastInclusion>
  /** Signed records so far. */
  readonly logSize: number
  /** Receipts so far. */
  readonly receipts: number
  /**
   * Keys that begin with `prefix`, after the key `after`, as of receipt `asOf`, in the order of
   * their UTF-8 bytes. Looks at a bounded number of keys, so that there may be fewer than `limit`
   * although others follow.
   */
  values(options: {
    readonly asOf: number
    readonly prefix: string
    readonly after?: string | undefined
    readonly limit: number
  }): Promise<PastValues>
  /** Changes of a key, newest first; those before receipt `before`. */
  changes(options: {
    readonly key: string
    readonly before?: number | undefined
    readonly limit: number
  }): Promise<readonly PastChange[]>
  /** Continues the index of writes to the last durable commit. */
  cover(): Promise<void>
  /** Throws `receipt.not_found`, and `ledger.corrupt` where the state is not what is signed. */
  proof(key: string, asOf: number): Promise<PastProof>
}
