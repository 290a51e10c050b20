import type { Hash, Json, RunId, StateRoot, UnitId } from '../core/index.js'

/**
 * What the block room appends: the shapes of its `Journal` port, declared here once more because
 * the two rooms do not import each other. `runtime.ts` joins them, and its types prove them equal.
 */

/** Place in the commit queue; grows by one with each appended item. */
export type Position = number

export interface JournalItem {
  readonly runId: RunId
  /**
   * Canonical JSON of `{k: kind, run, n: number per run from 0, at: milliseconds, ...}`, in order.
   */
  readonly entries: readonly string[]
  /** `authenticate` of the hash chain over the run's entries, up to the last of these. */
  readonly mac?: Hash
  /** The unit of work that these entries complete: it becomes one receipt. */
  readonly unit?: UnitDraft
  /** Evidence to sign and to add to the log. */
  readonly evidence?: EvidenceDraft
}

export type Appended =
  | {
      readonly ok: true
      readonly position: Position
      readonly receiptHash?: Hash
      readonly nextStateRoot?: StateRoot
    }
  /** A key or prefix that the unit read is different now (L10). */
  | { readonly ok: false; readonly conflict: string }

/** One unit of work, ready to become a receipt. Texts are canonical JSON. */
export interface UnitDraft {
  readonly id: UnitId
  readonly action: string
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
  readonly at: number
}
