import { canonicalize, type RunId, sha256 } from '../../core/index.js'
import type { Tip } from '../chain/tip.js'
import { ChainBlocks } from '../derived/chain-blocks.js'
import {
  hashIndexKey,
  IndexRuns,
  indexSlot,
  type ReceiptLocation,
  unitIndexKey
} from '../derived/index-runs.js'
import { RunRecords } from '../derived/run-records.js'
import type { Stamp } from '../derived/stamp.js'
import type { StoreKeys } from '../keys.js'
import type { RunRecord } from '../ledger-api.js'
import type { LogFrontier } from '../log/index.js'
import { readPagedTree } from '../open/tree.js'
import type { FieldProblem } from '../receipt/parse.js'
import type { Receipt } from '../receipt/receipt.js'
import type { Store } from '../stores/port.js'
import { different } from './receipt-check.js'

/**
 * Compares the derived records with what the commit records give, as far as their stamp says that
 * they go (L6). The index is compared as a set, by the XOR of the hashes of its entries.
 */
export class DerivedCheck {
  readonly #store: Store
  readonly #keys: StoreKeys
  readonly #stamp: Stamp
  readonly #chain: ChainBlocks
  readonly #index = Buffer.alloc(32)
  #indexEntries = 0

  constructor(store: Store, keys: StoreKeys, stamp: Stamp) {
    this.#store = store
    this.#keys = keys
    this.#stamp = stamp
    this.#chain = new ChainBlocks(store, keys)
  }

  /** Takes note of a receipt of the chain. */
  receipt(receipt: Receipt, location: ReceiptLocation): void {
    if (location.commitSeq >= this.#stamp.seq) return
    for (const key of [hashIndexKey(receipt.receiptHash), unitIndexKey(receipt.inputPayload.id)]) {
      xorInto(this.#index, sha256(indexSlot({ key, ...location })))
      this.#indexEntries += 1
    }
  }

  /** Compares the stamp with the chain, when the commit that it covers last has been read. */
  endOfCommit(seq: number, tip: Tip, frontier: LogFrontier): FieldProblem | undefined {
    const { pages } = this.#stamp
    if (seq + 1 === pages.seq) {
      const problem = different('derived.pages', tip.tree.root(), pages.storageRoot)
      if (problem !== undefined) return problem
    }
    if (seq + 1 !== this.#stamp.seq) return undefined
    return (
      different('derived.receipts', tip.receipts, this.#stamp.receipts) ??
      different('derived.receiptHash', tip.receiptHash, this.#stamp.receiptHash) ??
      different('derived.frontier', frontier.root(), this.#stamp.frontier.root())
    )
  }

  async finish(
    runs: ReadonlyMap<
      RunId,
      { readonly derived: { readonly entries: number; readonly record: RunRecord | undefined } }
    >
  ): Promise<(FieldProblem & { readonly key?: string }) | undefined> {
    return this.#checkIndex() ?? (await this.#checkPages()) ?? this.#checkRuns(runs)
  }

  #checkIndex(): FieldProblem | undefined {
    const found = Buffer.alloc(32)
    let entries = 0
    for (const slot of new IndexRuns(this.#store, this.#keys, this.#stamp.index).slots()) {
      xorInto(found, sha256(slot))
      entries += 1
    }
    const last = this.#stamp.receipts - 1
    return (
      different('derived.index.entries', this.#indexEntries, entries) ??
      different('derived.index', this.#index.toString('hex'), found.toString('hex')) ??
      (last >= 0 && this.#chain.commitSeq(last) === undefined
        ? { field: 'derived.chain', expected: `receipt ${last}`, actual: 'absent' }
        : undefined)
    )
  }

  async #checkPages(): Promise<FieldProblem | undefined> {
    const { storageRoot } = this.#stamp.pages
    const tree = await readPagedTree(this.#store, this.#keys, storageRoot)
    return tree === undefined
      ? { field: 'derived.pages', expected: storageRoot, actual: 'another root' }
      : undefined
  }

  #checkRuns(
    runs: ReadonlyMap<
      RunId,
      { readonly derived: { readonly entries: number; readonly record: RunRecord | undefined } }
    >
  ): (FieldProblem & { readonly key: string }) | undefined {
    const records = new RunRecords(this.#store, this.#keys)
    for (const [runId, { derived }] of runs) {
      const stored = records.stored(runId)
      const problem =
        different('derived.run.entries', derived.entries, stored.entries) ??
        different('derived.run', textOf(derived.record), textOf(stored.record))
      if (problem !== undefined) return { ...problem, key: runId }
    }
    return undefined
  }
}

function textOf(record: RunRecord | undefined): string {
  if (record === undefined) return 'absent'
  const { status, started, last, updatedAt } = record
  return canonicalize({ status, started, last, updatedAt })
}

function xorInto(sum: Buffer, bytes: Uint8Array): void {
  for (let at = 0; at < sum.length; at += 1) sum[at] = (sum[at] ?? 0) ^ (bytes[at] ?? 0)
}
