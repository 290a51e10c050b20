import type { Hash, UnitId } from '../../core/index.js'
import { applyWriteSet, parseWriteSet } from '../chain/stored-write-set.js'
import type { Derived } from '../derived/derived.js'
import type { DerivableCommit } from '../derived/unflushed-records.js'
import { type LogFrontier, leafHash } from '../log/index.js'
import { InstalledPackages } from '../receipt/packages.js'
import type { Receipt } from '../receipt/receipt.js'
import { corrupt, type RecordItem } from '../record/record.js'
import type { StateTree } from '../state/index.js'

/**
 * Continues from the last watermark: folds the commits after it into state tree, log frontier and
 * derived records, as the writer did when it made them.
 */
export class Rebuild {
  readonly #derived: Derived
  readonly #fromSeq: number
  readonly #pagesSeq: number
  #tree: StateTree
  #frontier: LogFrontier

  constructor(options: {
    readonly derived: Derived
    readonly tree: StateTree
    /** First commit that tree and derived records do not cover. */
    readonly pagesSeq: number
  }) {
    this.#derived = options.derived
    this.#fromSeq = options.derived.watermark.seq
    this.#pagesSeq = options.pagesSeq
    this.#tree = options.tree
    this.#frontier = options.derived.watermark.frontier
  }

  get tree(): StateTree {
    return this.#tree
  }

  get frontier(): LogFrontier {
    return this.#frontier
  }

  /** Whether a commit must be parsed at all. */
  needs(seq: number): boolean {
    return seq >= this.#pagesSeq || seq >= this.#fromSeq
  }

  add(key: string, seq: number, items: readonly RecordItem[]): void {
    let changedKeys = 0
    for (const { receipt } of items) {
      if (receipt === undefined || seq < this.#pagesSeq) continue
      const changes = parseWriteSet(receipt.writeSet)
      if (changes === undefined) throw corrupt(key, 'a write set is malformed')
      const state = { tree: this.#tree, packages: InstalledPackages.none }
      this.#tree = applyWriteSet(state, changes).tree
      changedKeys += changes.length
    }
    if (seq >= this.#fromSeq) this.#derived.absorb(this.#commit(seq, items, changedKeys))
    else this.#derived.absorbState(this.#tree, changedKeys)
  }

  #commit(seq: number, items: readonly RecordItem[], changedKeys: number): DerivableCommit {
    const receipts: { unitId: UnitId; receiptHash: Hash }[] = []
    const leaves: Uint8Array[] = []
    for (const { receipt, evidence } of items) {
      if (receipt !== undefined) {
        const { inputPayload, receiptHash } = JSON.parse(receipt.text) as Receipt
        receipts.push({ unitId: inputPayload.id, receiptHash })
        leaves.push(leafHash(receipt.text))
      }
      if (evidence !== undefined) leaves.push(leafHash(evidence))
    }
    for (const leaf of leaves) this.#frontier = this.#frontier.append(leaf)
    return {
      seq,
      items: items.map(({ runId, entries }) => ({ runId, entries, runChanges: undefined })),
      receipts,
      leaves,
      frontier: this.#frontier,
      tree: this.#tree,
      changedKeys
    }
  }
}
