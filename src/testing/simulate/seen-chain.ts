import type { Json } from '../../core/index.js'
import type { StoredReceipt } from '../../ledger/index.js'
import type { WiredRuntime } from '../../runtime/index.js'
import { changedBy } from '../machine/promises/invariants.js'

/** The receipts of a node that have been seen durable, over all its lives (N3). */
export class SeenChain {
  readonly receipts: StoredReceipt[] = []
  /** State entries by key, as these receipts have left them. */
  readonly state: Record<string, Json> = {}

  /** Reads on from a place; the first receipt that was durable, and is gone or another one. */
  async read(
    runtime: WiredRuntime,
    { from, take }: { readonly from: number; take(stored: StoredReceipt): void }
  ): Promise<StoredReceipt | undefined> {
    let next = from
    for await (const stored of runtime.receipts({ from })) {
      const seen = this.receipts[next]
      next += 1
      if (seen === undefined) {
        this.receipts.push(stored)
        changedBy(this.state, stored.writeSet)
        take(stored)
      } else if (seen.receipt.receiptHash !== stored.receipt.receiptHash) return seen
    }
    return this.receipts[next]
  }

  has(receiptHash: string): boolean {
    return this.receipts.some(({ receipt }) => receipt.receiptHash === receiptHash)
  }
}
