import type { Json, RunId } from '../../core/index.js'
import type { StoredChange } from '../chain/stored-write-set.js'
import type { TextOf } from '../receipt/parse.js'
import type { Receipt } from '../receipt/receipt.js'
import type { RecordItem } from '../record/record.js'
import type { ReadItem } from '../subject/cipher.js'
import type { CheckedBodies } from './item-bodies.js'
import type { VerifiedItem, VerifiedReceipt } from './report.js'
import type { RunCheck } from './run-check.js'
import type { StateFold } from './state-fold.js'

/** A receipt as hooks see it, with its bodies. */
export function seenReceipt(of: {
  readonly fold: StateFold
  readonly runs: RunCheck
  readonly item: RecordItem
  readonly receipt: Receipt
  readonly bodies: CheckedBodies
  readonly resultText: string | undefined
  readonly textOf: TextOf
}): Omit<VerifiedReceipt, 'commitSeq' | 'changes'> {
  const { fold, runs, item, receipt, bodies, resultText, textOf } = of
  const { payload, raw, sealed } = receipt.inputPayload
  const { text = '', writeSet = '' } = item.receipt ?? {}
  const rawText = raw === undefined ? undefined : bodies.resolveValue(raw as never, textOf)
  return {
    index: fold.chainHead.receipts,
    receipt,
    text,
    runId: item.runId as RunId,
    entries: item.entries,
    payloadText: bodies.resolveValue(payload, textOf),
    raw: rawText === undefined ? undefined : (JSON.parse(rawText) as string),
    resultText,
    writeSetText: writeSet,
    sealed: sealed.map((reference) => {
      const body = runs.sealed(reference.responseHash)
      return body === undefined ? undefined : { reference, ...body }
    }),
    stateBefore: fold
  }
}

/** What {@link seenReceipt} finds out on the way, for when no hook reads the bodies themselves. */
export function checkBodies(receipt: Receipt, bodies: CheckedBodies): void {
  const { payload, raw } = receipt.inputPayload
  if (raw !== undefined) bodies.checkValue(raw as never)
  bodies.checkValue(payload)
}

/** Sealed bodies of a receipt that are not there. */
export function withheldOf({ inputPayload }: Receipt, runs: RunCheck): number {
  return inputPayload.sealed.filter(({ responseHash }) => runs.sealed(responseHash) === undefined)
    .length
}

/** The journal entries of an item as hooks see them. */
export function seenItem(item: RecordItem, fold: StateFold): VerifiedItem {
  const { runId, entries, receipt, evidence } = item
  const { receipts: index, receiptHash: previousReceiptHash } = fold.chainHead
  return {
    index,
    runId,
    entries,
    values: entries.map((text) => JSON.parse(text) as Json),
    hasReceipt: receipt !== undefined,
    evidence,
    previousReceiptHash,
    stateBefore: fold
  }
}

/** What a write set changes, with its texts: undefined where they are withheld. */
export function changedTexts(
  changes: readonly StoredChange[],
  item: ReadItem,
  bodies: CheckedBodies
): readonly { readonly key: string; readonly text: string | null | undefined }[] {
  // The item that wrote what stood there before may have it in its write set, which names no body.
  if (item.isOpened) for (const { before = '' } of changes) bodies.resolve(before)
  return changes.map(({ key, text, after }) => ({
    key,
    text: text === undefined && after !== undefined ? bodies.resolve(after) : text
  }))
}
