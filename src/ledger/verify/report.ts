import type { Hash, IdentityId, Json, RunId } from '../../core/index.js'
import type { SealedReference } from '../item.js'
import type { FieldProblem } from '../receipt/parse.js'
import type { Receipt } from '../receipt/receipt.js'
import type { Head } from '../record/head.js'

/** The first thing found wrong. */
export interface VerificationFailure extends FieldProblem {
  /** Receipt at which it stands; the number of receipts when it stands behind the last. */
  readonly index: number
  /** Commit record at which it stands; the number of commits when it stands behind the last. */
  readonly commit: number
  /** State key, run or store key that it is about. */
  readonly key?: string
}

/** The one that stands before the other. */
export function earlier(
  one: VerificationFailure | undefined,
  other: VerificationFailure | undefined
): VerificationFailure | undefined {
  if (one === undefined || other === undefined) return one ?? other
  const isFirst =
    one.index < other.index || (one.index === other.index && one.commit <= other.commit)
  return isFirst ? one : other
}

/** A note from outside the ledger's own directory (P5). */
export interface GivenNote {
  /** Where it comes from, for the report. */
  readonly source: string
  readonly text: string
}

/**
 * Where a ledger stood when it was closed last, as a file beside its data says (K10). A ledger may
 * have gone on from there. `null`: there is such a file, and it is not one that this ledger wrote.
 */
export type KeptPlace = {
  readonly receipts: number
  readonly receiptHash: Hash | null
  readonly headRoot: Hash
} | null

export interface AnchorReport {
  readonly source: string
  /** Log records that the note covers. */
  readonly size: number
  readonly ok: boolean
  readonly problem?: string
}

/** Said of every look at a whole ledger for which no note was given (P5). */
export const noNoteGiven =
  'no note given: a tail that was cut, or a history made again with the own key, cannot be seen'

/** What of a ledger is archived. */
export interface ArchivedPart {
  /** Commit records and receipts, from the first one on. */
  readonly commits: number
  readonly receipts: number
  readonly archives: readonly { readonly file: string; readonly sha256: Hash }[]
}

/** What was checked, and what was not. */
export interface VerificationReport {
  readonly ok: boolean
  readonly identity: IdentityId
  readonly commits: number
  readonly receipts: number
  readonly evidence: number
  readonly signatures: number
  readonly runs: number
  readonly journalEntries: number
  readonly stateEntries: number
  readonly head: Head | undefined
  /** What is archived, and was not checked for want of the archives. */
  readonly archived?: ArchivedPart
  readonly failure?: VerificationFailure
  /** Log records that notes from outside prove to have been there, of `logSize` (P5). */
  readonly anchored: {
    readonly upTo: number
    readonly logSize: number
    readonly notes: readonly AnchorReport[]
  }
  /** In words: bodies withheld, no notes given, no re-execution. */
  readonly notChecked: readonly string[]
}

/** State as it was before a receipt; good until the next receipt is handed out. */
export interface StateView {
  /** Canonical JSON, or undefined when absent or withheld. */
  read(key: string): string | undefined
  /** Keys that begin with `prefix`, by UTF-16 code units. */
  list(prefix: string): readonly string[]
}

export interface SealedBody {
  readonly reference: SealedReference
  readonly salt: Hash
  readonly bodyText: string
  /** The journal entry that brought it. */
  readonly entry: string
}

/** A receipt that passed every check, with what re-executing it needs (P1). */
export interface VerifiedReceipt {
  readonly index: number
  readonly commitSeq: number
  readonly receipt: Receipt
  readonly text: string
  /** Run whose item brought it, and the journal entries of that item. */
  readonly runId: RunId
  readonly entries: readonly string[]
  /** Canonical JSON; undefined when withheld. */
  readonly payloadText: string | undefined
  readonly raw: string | undefined
  readonly resultText: string | undefined
  /** Stored canonical JSON, and each change with its text (null: deleted, undefined: withheld). */
  readonly writeSetText: string
  readonly changes: readonly { readonly key: string; readonly text: string | null | undefined }[]
  /** In the order of `inputPayload.sealed`; undefined where a body is withheld. */
  readonly sealed: readonly (SealedBody | undefined)[]
  readonly stateBefore: StateView
  /** The key of the subject of its run is not here: no hook has seen its entries. */
  readonly isClosed?: true
}

/**
 * The journal entries of one item, checked as far as their form goes, before its signed records.
 */
export interface VerifiedItem {
  /** Receipts before it. */
  readonly index: number
  readonly runId: RunId
  readonly entries: readonly string[]
  /** The entries as they were read, to look at only. */
  readonly values: readonly Json[]
  readonly hasReceipt: boolean
  /** Stored evidence that the item brought, checked after this. */
  readonly evidence: string | undefined
  /** Hash of the receipt before it. */
  readonly previousReceiptHash: Hash | null
  /** Good until the hook that it is handed to has returned. */
  readonly stateBefore: StateView
}

/** Looks at an item; a problem that it returns ends the verification. */
export type ItemHook = (
  item: VerifiedItem
) => HookVerdict | undefined | Promise<HookVerdict | undefined>

/** Looks at a verified receipt; a problem that it returns ends the verification. */
export type ReceiptHook = (
  receipt: VerifiedReceipt
) => HookVerdict | undefined | Promise<HookVerdict | undefined>

export type HookVerdict = FieldProblem & { readonly key?: string }
