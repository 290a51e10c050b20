import type { RunId } from '../../core/index.js'
import type { TextOf } from '../receipt/parse.js'
import type { Receipt } from '../receipt/receipt.js'
import type { RecordItem } from '../record/record.js'
import type { CheckedBodies } from './item-bodies.js'
import type { VerifiedReceipt } from './report.js'
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
