import type { Hash, RunId, StateRoot, UnitId } from './brand.js'
import type { Json } from './json/value.js'

/**
 * What the block room appends to a journal and the ledger room commits: the shapes of their port
 * (architecture.md §3). They stand here because neither of the two rooms imports the other.
 */

/** Place in the commit queue; grows by one with each appended item. */
export type QueuePosition = number

export interface JournalItem {
  readonly runId: RunId
  /**
   * Journal entries of the run in order, each canonical JSON of a {@link JournalEntry}.
   * Kinds that begin with `run.` also change the run's record.
   */
  readonly entries: readonly string[]
  /** Those of the entries that change the run's record; looked for in their texts if absent. */
  readonly runChanges?: readonly RunEntry[]
  /** The hash chain over the run's entries, up to the last of these: a code of it is kept. */
  readonly journalHash?: Hash
  /** The unit of work that these entries complete: it becomes one receipt. */
  readonly unit?: UnitDraft
  /** Signed evidence to add to the log: abort, denial or failure. */
  readonly evidence?: EvidenceDraft
  /** Without a unit: state that the entries rest on; they are taken only while it is so (L10). */
  readonly rests?: Pick<UnitDraft, 'reads' | 'lists'>
}

/** What an entry says of the run itself. */
export interface RunEntry {
  /** Its place among the entries of its item. */
  readonly index: number
  /** Begins with `run.`. */
  readonly kind: string
  readonly number: number
  readonly status: string
  readonly at: number
}

export type Appended =
  | {
      readonly ok: true
      readonly position: QueuePosition
      readonly receiptHash?: Hash
      readonly nextStateRoot?: StateRoot
    }
  /** A key that the unit read has another value now: run it again on the current state (L10). */
  | { readonly ok: false; readonly conflict: string }

/** W3C Trace Context of a run's caller: lower-case hex. */
export interface RunTrace {
  /** 32 digits, not all zero. */
  readonly traceId: string
  /** The caller's span, 16 digits, not all zero. */
  readonly spanId?: string
}

/** One unit of work, ready to become a receipt. Texts are canonical JSON. */
export interface UnitDraft {
  readonly id: UnitId
  readonly action: string
  /** `dappId` of the receipt: `block:<name>@<version>` for trusted blocks. */
  readonly dappId: string
  readonly payloadText: string
  readonly payloadPrivate: boolean
  readonly raw?: string
  /** Milliseconds on the run's logical clock (K7). */
  readonly at: number
  readonly seed: { readonly base: Hash | 'GENESIS'; readonly value: Hash }
  readonly principal: Json
  readonly run?: {
    readonly runId: RunId
    readonly path: string
    readonly step: number
    readonly attempt: number
    readonly at: number
    /** Of the context that the unit was asked with; absent when that is empty (B1). */
    readonly contextHash?: Hash
    /** Receipt of the composite whose deferred step this is (C4). */
    readonly parent?: Hash
    /** As the caller gave it; absent when it gave none. */
    readonly trace?: RunTrace
  }
  readonly provider: {
    readonly kind: string
    readonly id: string
    readonly codeHash: Hash
    readonly profile: Json
  }
  readonly capabilitiesDeclared: readonly string[]
  readonly capabilitiesUsed: readonly string[]
  /** In delivery order. */
  readonly sealed: readonly SealedReference[]
  readonly resultText: string
  readonly resultPrivate: boolean
  /** Each key read from outside the unit, with the text seen (undefined: absent). */
  readonly reads: ReadonlyMap<string, string | undefined>
  /** Each prefix listed, with the keys seen. */
  readonly lists: ReadonlyMap<string, readonly string[]>
  /** Each key changed, with its new text (null: deleted). */
  readonly writes: ReadonlyMap<string, string | null>
}

export interface SealedReference {
  readonly seq: number
  readonly effect: string
  readonly requestHash: Hash
  readonly responseHash: Hash
  readonly bytes: number
}

export interface EvidenceDraft {
  readonly type: 'abort' | 'denial' | 'failure'
  readonly unitId: UnitId
  readonly action: string
  readonly payloadText: string
  readonly landed: readonly SealedReference[]
  readonly journalHash?: Hash
  readonly code: string
  readonly details: Json
  /** Whether the payload is kept behind a salted hash; absent: it is not. */
  readonly isPrivate?: boolean
  /** The same of the details, in which a block may have said something of it. */
  readonly areDetailsPrivate?: boolean
  readonly at: number
}
