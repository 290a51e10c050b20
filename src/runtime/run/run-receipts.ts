import type { RunId } from '../../core/index.js'
import type { Ledger, StoredReceipt } from '../../ledger/index.js'

/** Durable receipts of a run, in the order in which it has left them. */
export async function* receiptsOf(
  ledger: Pick<Ledger, 'journal' | 'receipt'>,
  runId: RunId
): AsyncGenerator<StoredReceipt> {
  for await (const { receiptHash } of ledger.journal(runId)) {
    const stored = receiptHash === undefined ? undefined : await ledger.receipt(receiptHash)
    if (stored !== undefined) yield stored
  }
}
