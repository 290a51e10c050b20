import type { RunId } from '../../core/index.js'
import type { Boundary } from '../archive/boundary.js'
import type { ChainHead } from '../chain/chain-head.js'
import { ArchivedRuns, archivedEntry } from '../derived/archived-runs.js'
import { ChainBlocks } from '../derived/chain-blocks.js'
import {
  hashIndexKey,
  IndexRuns,
  newSlot,
  type ReceiptLocation,
  slotCommit,
  unitIndexKey,
  writeSlot
} from '../derived/index-runs.js'
import { uncheckedForm } from '../derived/record-form.js'
import { RunRecords } from '../derived/run-records.js'
import { decodeRun, isOpenStatus, type StoredRun } from '../derived/run-value.js'
import type { Watermark } from '../derived/watermark.js'
import type { StoreKeys } from '../keys.js'
import type { LogFrontier } from '../log/index.js'
import { readPagedTree } from '../open/tree.js'
import type { FieldProblem } from '../receipt/parse.js'
import type { Receipt } from '../receipt/receipt.js'
import type { Store } from '../stores/port.js'
import { different } from './receipt-check.js'
import { addRunCommit, type RunTable, recordDigest } from './run-table.js'
import { TileCheck } from './tile-check.js'

/** Receipts whose commit numbers are compared at once: those of one block. */
const COMPARED_RECEIPTS = 1_024

/** Where derived records are, and how far they go. */
export interface DerivedParts {
  readonly store: Store
  readonly keys: StoreKeys
  readonly watermark: Watermark
  /** Where archived history ends: what is derived of it is compared as far as that goes. */
  readonly boundary?: Boundary | undefined
}

/**
 * Compares the derived records with what the commit records give, as far as their watermark says
 * that they go (L6). Their codes are left to `code-check.ts`. The index is compared as a set, by
 * sums over its entries: enough against damage, and a look-up checks the record that was found.
 */
export class DerivedCheck {
  readonly #store: Store
  readonly #keys: StoreKeys
  readonly #watermark: Watermark
  readonly #chain: ChainBlocks
  readonly #archived: ArchivedRuns
  readonly #records: RunRecords
  readonly #index = new SlotSum()
  readonly #slot = newSlot()
  readonly #tiles: TileCheck
  /** Commit numbers of the receipts that were not compared yet. */
  #commitSeqs: number[] = []
  #compared: number
  /** Commits before it are archived. */
  readonly #firstCommit: number
  #chainProblem: (FieldProblem & { readonly key: string }) | undefined

  constructor({ store, keys, watermark, boundary }: DerivedParts) {
    this.#compared = boundary?.receipts ?? 0
    this.#firstCommit = boundary?.commits ?? 0
    this.#store = store
    this.#keys = keys
    this.#watermark = watermark
    this.#chain = new ChainBlocks(store, keys, uncheckedForm)
    const form = uncheckedForm
    this.#archived = new ArchivedRuns({ store, keys, form, runs: watermark.archivedRuns })
    this.#records = new RunRecords({ store, keys, form, archived: this.#archived })
    this.#tiles = new TileCheck(keys, (key) => {
      const value = store.get(key)
      return value === undefined ? undefined : uncheckedForm.body(key, value)
    })
  }

  /** Takes note of a receipt of the chain. */
  receipt(receipt: Receipt, location: ReceiptLocation): void {
    const { commitSeq, ordinal } = location
    if (commitSeq >= this.#watermark.seq) return
    this.#commitSeqs.push(commitSeq)
    if (this.#commitSeqs.length === COMPARED_RECEIPTS) this.#compareChain()
    for (const key of [hashIndexKey(receipt.receiptHash), unitIndexKey(receipt.inputPayload.id)]) {
      writeSlot(this.#slot, 0, { key, commitSeq, ordinal })
      this.#index.add(this.#slot)
    }
  }

  /** Takes note of a record of the log. */
  leaf(commitSeq: number, leaf: Uint8Array): void {
    if (commitSeq < this.#watermark.seq) this.#tiles.add(leaf)
  }

  /** Compares the watermark with the chain, when the commit that it covers last has been read. */
  endOfCommit(seq: number, chainHead: ChainHead, frontier: LogFrontier): FieldProblem | undefined {
    const { pages } = this.#watermark
    if (seq + 1 === pages.seq) {
      const problem = different('derived.pages', chainHead.tree.root(), pages.storageRoot)
      if (problem !== undefined) return problem
    }
    if (seq + 1 !== this.#watermark.seq) return undefined
    return (
      different('derived.receipts', chainHead.receipts, this.#watermark.receipts) ??
      different('derived.receiptHash', chainHead.receiptHash, this.#watermark.receiptHash) ??
      different('derived.frontier', frontier.root(), this.#watermark.frontier.root())
    )
  }

  async finish(runs: RunTable): Promise<(FieldProblem & { readonly key?: string }) | undefined> {
    return (
      this.#checkIndex() ??
      this.#checkChain() ??
      this.#tiles.finish() ??
      (await this.#checkPages()) ??
      (await this.#checkRecords(runs))
    )
  }

  #checkIndex(): FieldProblem | undefined {
    const found = new SlotSum()
    const { index: runs } = this.#watermark
    const [store, form] = [this.#store, uncheckedForm]
    const pageKey = (run: number, page: number) => this.#keys.indexPage(run, page)
    for (const slot of new IndexRuns({ store, pageKey, form, runs }).slots()) {
      if (slotCommit(slot) >= this.#firstCommit) found.add(slot)
    }
    return different('derived.index', this.#index.text(), found.text())
  }

  #checkChain(): (FieldProblem & { readonly key: string }) | undefined {
    this.#compareChain()
    return this.#chainProblem
  }

  #compareChain(): void {
    for (const [key, signed] of this.#chain.puts(this.#compared, this.#commitSeqs, 0)) {
      const value = this.#store.get(key)
      const stored = value === undefined ? undefined : uncheckedForm.body(key, value)
      if (stored?.equals(uncheckedForm.body(key, signed)) === true) continue
      const computed = stored === undefined ? 'absent' : 'other commits'
      const problem = { field: 'derived.chain', signed: 'the commits of the receipts', computed }
      this.#chainProblem ??= { ...problem, key }
    }
    this.#compared += this.#commitSeqs.length
    this.#commitSeqs = []
  }

  async #checkPages(): Promise<FieldProblem | undefined> {
    const { storageRoot } = this.#watermark.pages
    const tree = await readPagedTree(this.#store, this.#keys, {
      storageRoot,
      form: uncheckedForm
    })
    return tree === undefined
      ? { field: 'derived.pages', signed: storageRoot, computed: 'another root' }
      : undefined
  }

  /** Each run as stored, with the commits that it names, and that there is no record besides. */
  async #checkRecords(
    runs: RunTable
  ): Promise<(FieldProblem & { readonly key?: string }) | undefined> {
    let [stored, values] = [0, 0]
    for await (const [key, value] of this.#store.entries(this.#keys.runs())) {
      const runId = this.#keys.runId(key)
      const run = this.#checkRun(runId, runs, [key, value])
      if (run.problem !== undefined) return { ...run.problem, key: runId }
      values += 1 + run.blocks
      stored += run.isStored ? 1 : 0
    }
    const [named, found] = [new SlotSum(), new SlotSum()]
    for (const slot of this.#archived.slots()) named.add(slot)
    for await (const [key, value] of this.#store.entries(this.#keys.archivedRuns())) {
      const runId = this.#keys.archivedRunId(key)
      const run = this.#checkRun(runId, runs, [key, value])
      if (run.problem !== undefined) return { ...run.problem, key: runId }
      values += run.blocks
      stored += run.isStored ? 1 : 0
      writeSlot(this.#slot, 0, archivedEntry(runId))
      found.add(this.#slot)
    }
    return (
      different('derived.archivedRuns', named.text(), found.text()) ??
      different('derived.runs', runs.derivedRuns, stored) ??
      different('derived.records', values + this.#values(), await this.#count())
    )
  }

  /** `isStored`: it has entries, which commit records have. */
  #checkRun(runId: RunId, runs: RunTable, [key, value]: readonly [string, Uint8Array]) {
    const run = decodeRun(key, runId, uncheckedForm.body(key, value).toString())
    const { blocks } = run
    let visits = 0
    for (let block = 0; block < blocks; block += 1) {
      for (const visit of this.#records.block(runId, block)) visits = addRunCommit(visits, visit)
    }
    for (const visit of run.visits) visits = addRunCommit(visits, visit)
    const derived = runs.derived(runId)
    // Nothing but its code and the archive say what an archived run was.
    if (derived === undefined && this.#isArchived(run)) return { blocks, isStored: false }
    const digest = recordDigest(run.record) ?? 'absent'
    const problem =
      different('derived.run.entries', derived?.entries ?? 0, run.entries) ??
      different('derived.run', derived?.digest ?? 'absent', digest) ??
      different('derived.run.visits', derived?.visits ?? 0, visits)
    return { blocks, isStored: run.entries > 0, problem }
  }

  #isArchived({ record, visits }: StoredRun): boolean {
    const isEnded = record !== undefined && !isOpenStatus(record.status)
    return isEnded && (visits.at(-1)?.[0] ?? 0) < this.#firstCommit
  }

  /** How many values index, chain and log take. */
  #values(): number {
    const index = this.#watermark.index.reduce((sum, { bits }) => sum + 2 ** bits, 0)
    return index + this.#chain.blocks(this.#compared) + this.#tiles.tiles
  }

  async #count(): Promise<number> {
    let found = 0
    for (const range of this.#keys.digestedRanges()) {
      for await (const _ of this.#store.entries(range)) found += 1
    }
    return found
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
