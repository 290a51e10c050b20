import type { Tip } from '../chain/tip.js'
import { ChainBlocks } from '../derived/chain-blocks.js'
import { type Digest, storedDigest } from '../derived/digest.js'
import {
  hashIndexKey,
  IndexRuns,
  indexSlot,
  type ReceiptLocation,
  unitIndexKey
} from '../derived/index-runs.js'
import { decodeRun } from '../derived/run-records.js'
import type { Stamp } from '../derived/stamp.js'
import type { StoreKeys } from '../keys.js'
import type { LogFrontier } from '../log/index.js'
import { readPagedTree } from '../open/tree.js'
import type { FieldProblem } from '../receipt/parse.js'
import type { Receipt } from '../receipt/receipt.js'
import type { Store } from '../stores/port.js'
import { different } from './receipt-check.js'
import { type RunTable, recordDigest } from './run-table.js'

/** Receipts whose commit numbers are compared at once: those of one block. */
const COMPARED_RECEIPTS = 1_024

/**
 * Compares the derived records with what the commit records give, as far as their stamp says that
 * they go (L6). The index is compared as a set, by sums over its entries: enough against damage,
 * and whoever looks something up checks the record that was found.
 */
export class DerivedCheck {
  readonly #store: Store
  readonly #keys: StoreKeys
  readonly #stamp: Stamp
  readonly #chain: ChainBlocks
  readonly #index = new SlotSum()
  /** Commit numbers of the receipts that were not compared yet. */
  #commitSeqs: number[] = []
  #compared = 0
  #chainProblem: (FieldProblem & { readonly key: string }) | undefined

  constructor(store: Store, keys: StoreKeys, stamp: Stamp) {
    this.#store = store
    this.#keys = keys
    this.#stamp = stamp
    this.#chain = new ChainBlocks(store, keys)
  }

  /** Takes note of a receipt of the chain. */
  receipt(receipt: Receipt, location: ReceiptLocation): void {
    if (location.commitSeq >= this.#stamp.seq) return
    this.#commitSeqs.push(location.commitSeq)
    if (this.#commitSeqs.length === COMPARED_RECEIPTS) this.#compareChain()
    for (const key of [hashIndexKey(receipt.receiptHash), unitIndexKey(receipt.inputPayload.id)]) {
      this.#index.add(indexSlot({ key, ...location }))
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

  async finish(runs: RunTable): Promise<(FieldProblem & { readonly key?: string }) | undefined> {
    return (
      this.#checkIndex() ??
      this.#checkChain() ??
      (await this.#checkPages()) ??
      (await this.#checkRecords(runs))
    )
  }

  #checkIndex(): FieldProblem | undefined {
    const found = new SlotSum()
    for (const slot of new IndexRuns(this.#store, this.#keys, this.#stamp.index).slots()) {
      found.add(slot)
    }
    return different('derived.index', this.#index.text(), found.text())
  }

  #checkChain(): (FieldProblem & { readonly key: string }) | undefined {
    this.#compareChain()
    return this.#chainProblem
  }

  #compareChain(): void {
    for (const [key, expected] of this.#chain.puts(this.#compared, this.#commitSeqs)) {
      const stored = this.#store.get(key)
      if (stored !== undefined && Buffer.compare(stored, expected) === 0) continue
      const actual = stored === undefined ? 'absent' : 'other commits'
      const problem = { field: 'derived.chain', expected: 'the commits of the receipts', actual }
      this.#chainProblem ??= { ...problem, key }
    }
    this.#compared += this.#commitSeqs.length
    this.#commitSeqs = []
  }

  async #checkPages(): Promise<FieldProblem | undefined> {
    const { storageRoot } = this.#stamp.pages
    const tree = await readPagedTree(this.#store, this.#keys, storageRoot)
    return tree === undefined
      ? { field: 'derived.pages', expected: storageRoot, actual: 'another root' }
      : undefined
  }

  /** Each run as stored; blocks of visits and log tiles are compared by the digest alone. */
  async #checkRecords(
    runs: RunTable
  ): Promise<(FieldProblem & { readonly key?: string }) | undefined> {
    const { gte, lt } = this.#keys.runs()
    let problem: (FieldProblem & { readonly key: string }) | undefined
    let stored = 0
    const found = await storedDigest(this.#store, this.#keys, (key, body) => {
      if (key < gte || key >= lt) return
      const runId = this.#keys.runId(key)
      const { entries, record } = decodeRun(key, runId, body.toString())
      if (entries > 0) stored += 1
      const derived = runs.derived(runId)
      const unequal =
        different('derived.run.entries', derived?.entries ?? 0, entries) ??
        different('derived.run', derived?.digest ?? 'absent', recordDigest(record) ?? 'absent')
      if (unequal !== undefined) problem ??= { ...unequal, key: runId }
    })
    if (problem !== undefined) return problem
    const text = (digest: Digest | undefined) => JSON.stringify(digest ?? 'a damaged record')
    return (
      different('derived.runs', runs.derivedRuns, stored) ??
      different('derived.digest', text(this.#stamp.digest), text(found))
    )
  }
}

/** Sums over a set of index entries, whatever their order. */
class SlotSum {
  #entries = 0
  /** Ties the words of an entry to each other. */
  #mixed = 0
  readonly #words = new Uint32Array(4)

  add(slot: Buffer): void {
    this.#entries += 1
    let mixed = 0
    for (let word = 0; word < 4; word += 1) {
      const value = slot.readUInt32BE(word * 4)
      mixed = Math.imul(mixed ^ value ^ (mixed >>> 15), 0x2c1b3c6d)
      this.#words[word] = (this.#words[word] ?? 0) + value
    }
    this.#mixed = (this.#mixed + (mixed >>> 0)) % Number.MAX_SAFE_INTEGER
  }

  text(): string {
    return `${this.#entries} entries ${this.#mixed} ${this.#words.join(' ')}`
  }
}
