import { type Hash, limits, type RunId, type UnitId } from '../../core/index.js'
import type { StoreKeys } from '../keys.js'
import type { RunRecord } from '../ledger-api.js'
import { growTiles, type ReadHash, tileHashReader } from '../log/index.js'
import { changedPages, encodePage, type StateTree } from '../state/index.js'
import type { Store } from '../stores/port.js'
import { ArchivedRuns } from './archived-runs.js'
import { ChainBlocks } from './chain-blocks.js'
import type { DerivedCodes } from './codes.js'
import { type Digest, emptyDigest, RunningDigest } from './digest.js'
import { hashIndexKey, IndexRuns, type ReceiptLocation, unitIndexKey } from './index-runs.js'
import { RecordsOfRuns } from './of-runs.js'
import { codedForm, type RecordForm } from './record-form.js'
import { foldStored, newDelta, type OpenPlaces, type RunDelta, RunRecords } from './run-records.js'
import { isOpenStatus, type JournalPlaces, type RunCommit } from './run-value.js'
import { type DerivableCommit, UnflushedRecords } from './unflushed-records.js'
import { digestCode, type Watermark, watermarkPut } from './watermark.js'

type Put = readonly [key: string, value: Uint8Array]

/**
 * Records that can be derived from the commit records: index, chain blocks, run records, log tiles,
 * state pages, and what runs write with them.
 *
 * Owns: what of the durable commits is not derived on disk yet (the tail), and writing it behind.
 * Does not own: source records. Open feeds it the commits after its watermark.
 *
 * Invariants:
 * - L1 Written in batches of their own, each stamped with the commits that it covers, and only
 *   after those are durable. A crash leaves a watermark and everything it covers, or the one
 * before.
 * - L4 The watermark holds a digest of all of them but pages, so that open finds any that is lost.
 * - L12 Each carries a code by the identity's blob key, checked at every read.
 * - L5 Memory holds the tail only, which is bounded by the thresholds of {@link due}.
 */
export class Derived {
  /** What runs write, with the batches of this. */
  readonly ofRuns: RecordsOfRuns
  readonly #store: Store
  readonly #keys: StoreKeys
  readonly #index: IndexRuns
  readonly #chain: ChainBlocks
  readonly #runs: RunRecords
  readonly #codes: DerivedCodes
  readonly #form: RecordForm
  #digest: Digest
  #watermark: Watermark
  #unflushed: UnflushedRecords
  /** The part of the tail that is being written, until its batch is durable. */
  #writing: UnflushedRecords | undefined
  #written: Promise<void> | undefined
  /** The tree whose pages are on disk, and how many keys were changed since. */
  #pagedTree: StateTree
  #unpagedKeys = 0
  /** The tree at the watermark. */
  #derivedTree: StateTree
  readonly #archived: ArchivedRuns
  readonly #listeners = new Set<(commit: DerivableCommit) => void>()

  constructor(options: {
    readonly store: Store
    readonly keys: StoreKeys
    readonly codes: DerivedCodes
    readonly watermark: Watermark
    /** Of the records in the store. */
    readonly digest?: Digest | undefined
    /** Runs of the store that may be open. */
    readonly openRuns?: OpenPlaces | undefined
    readonly pagedTree: StateTree
  }) {
    const { store, keys, codes, watermark, pagedTree } = options
    const form = codedForm(codes)
    this.#codes = codes
    this.#form = form
    this.ofRuns = new RecordsOfRuns(store, keys, form)
    this.#digest = options.digest ?? emptyDigest
    this.#store = store
    this.#keys = keys
    this.#watermark = watermark
    const pageKey = (run: number, page: number) => keys.indexPage(run, page)
    this.#index = new IndexRuns({ store, pageKey, form, runs: watermark.index })
    this.#archived = new ArchivedRuns({ store, keys, form, runs: watermark.archivedRuns })
    this.#chain = new ChainBlocks(store, keys, form)
    const archived = this.#archived
    this.#runs = new RunRecords({ store, keys, form, archived, open: options.openRuns })
    this.#unflushed = new UnflushedRecords(watermark.seq, watermark.receipts)
    this.#pagedTree = pagedTree
    this.#derivedTree = pagedTree
  }

  get watermark(): Watermark {
    return this.#watermark
  }

  /** Takes note of a durable commit; commits come in order, each once. */
  absorb(commit: DerivableCommit): void {
    this.#unflushed.absorb(commit, (runId) => this.#entriesBefore(runId))
    for (const listener of this.#listeners) listener(commit)
  }

  /** Calls `listener` with each commit, once its records are found here. */
  onAbsorbed(listener: (commit: DerivableCommit) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Takes note of a commit that the watermark covers and the state pages do not. */
  absorbState(tree: StateTree, changedKeys: number): void {
    this.#derivedTree = tree
    this.#unpagedKeys += changedKeys
  }

  /** Whether enough has come together to be written. */
  due(): boolean {
    const unflushed = this.#unflushed
    return (
      this.#writing === undefined &&
      (unflushed.receipts >= limits.DERIVE_RECEIPTS ||
        unflushed.toSeq - unflushed.fromSeq >= limits.DERIVE_COMMITS ||
        unflushed.runs.size >= limits.DERIVE_RUNS ||
        this.ofRuns.isDue)
    )
  }

  /** Whether writing falls behind so far that commits should wait for it. */
  isOverdue(): boolean {
    return this.#writing !== undefined && this.#unflushed.receipts >= limits.DERIVE_RECEIPTS * 4
  }

  /** Resolves when the batch that is being written is durable. */
  async settled(): Promise<void> {
    await this.#written
  }

  /** Whether a durable commit brought a receipt of this unit lately: without reading the store. */
  isUnflushed(unitId: UnitId): boolean {
    return this.#unflushed.units.has(unitId) || this.#writing?.units.has(unitId) === true
  }

  /**
   * Writes everything absorbed so far. `durable` is the last durable queue position: what
   * runs have written beyond it stays in memory. With `pages` the state pages are written
   * whatever changed.
   */
  write(options: { readonly durable: number; readonly pages: boolean }): Promise<void> {
    const before = this.#written ?? Promise.resolve()
    const written = before.then(() => this.#write(options))
    this.#written = written
    return written
  }

  async #write({ durable, pages }: { durable: number; pages: boolean }): Promise<void> {
    const unflushed = this.#unflushed
    const ofRuns = this.ofRuns.batch(durable, unflushed.toSeq)
    const isOfRuns = ofRuns.puts.length + ofRuns.deletes.length > 0
    const hasRunChanges = unflushed.toSeq > unflushed.fromSeq || isOfRuns
    if (!hasRunChanges && !(pages && this.#unpagedKeys > 0)) return
    this.#writing = unflushed
    this.#unflushed = new UnflushedRecords(
      unflushed.toSeq,
      unflushed.firstReceipt + unflushed.receipts
    )
    const { puts, deletes, index, digest } = await this.#records(unflushed)
    puts.push(...ofRuns.puts)
    deletes.push(...ofRuns.deletes)
    const paged = this.#pages(unflushed, pages, puts, deletes)
    const watermark: Watermark = {
      seq: unflushed.toSeq,
      receipts: unflushed.firstReceipt + unflushed.receipts,
      receiptHash: unflushed.receiptHash ?? this.#watermark.receiptHash,
      frontier: unflushed.frontier ?? this.#watermark.frontier,
      index,
      archivedRuns: this.#watermark.archivedRuns,
      pages: paged ?? this.#watermark.pages,
      digest: digestCode(this.#codes, digest)
    }
    puts.push(watermarkPut(this.#keys, watermark, this.#form))
    await this.#store.commit([{ puts, deletes, bytesStay: true }])
    this.#index.adopt(index)
    this.#watermark = watermark
    this.#digest = digest
    this.#derivedTree = unflushed.tree ?? this.#derivedTree
    if (paged !== undefined) this.#pagedTree = this.#derivedTree
    this.#writing = undefined
    ofRuns.written()
  }

  /**
   * Sets the records of these runs aside, whose history is archived: opening does not read them any
   * more. They have ended, and what is derived of them is on disk.
   */
  setAside(runIds: readonly RunId[]): Promise<void> {
    const before = this.#written ?? Promise.resolve()
    const written = before.then(() => this.#setAside(runIds))
    this.#written = written
    return written
  }

  async #setAside(runIds: readonly RunId[]): Promise<void> {
    const running = new RunningDigest(this.#codes, this.#digest)
    const { runs, puts, deletes } = await this.#archived.setAside(
      runIds,
      running,
      this.#watermark.seq
    )
    const { digest } = running
    const set = { archivedRuns: runs, digest: digestCode(this.#codes, digest) }
    const watermark: Watermark = { ...this.#watermark, ...set }
    const put = watermarkPut(this.#keys, watermark, this.#form)
    await this.#store.commit([{ puts: [...puts, put], deletes }])
    this.#archived.adopt(runs)
    this.#watermark = watermark
    this.#digest = digest
  }

  /** What the digest of the watermark covers: index, chain blocks, tiles and runs. */
  async #records(unflushed: UnflushedRecords): Promise<{
    readonly puts: Put[]
    readonly deletes: string[]
    readonly index: Watermark['index']
    readonly digest: Digest
  }> {
    const running = new RunningDigest(this.#codes, this.#digest)
    const index = await this.#index.add(unflushed.indexEntries(), unflushed.toSeq)
    for (const key of index.deletes) running.remove(key, this.#store.get(key))
    const grown = [
      ...this.#chain.puts(unflushed.firstReceipt, unflushed.commitSeqs, unflushed.toSeq),
      ...this.#tiles(unflushed)
    ]
    for (const [key] of grown) running.remove(key, this.#store.get(key))
    const puts: Put[] = [...index.puts, ...grown]
    for (const [runId, delta] of unflushed.runs) {
      const run = this.#runs.puts(runId, delta, unflushed.toSeq)
      running.remove(this.#keys.run(runId), run.replaced)
      puts.push(...run.puts)
    }
    for (const [key, value] of puts) running.add(key, value)
    return { puts, deletes: [...index.deletes], index: index.runs, digest: running.digest }
  }

  #tiles(unflushed: UnflushedRecords): Put[] {
    if (unflushed.leaves.length === 0) return []
    const tiles = growTiles({
      size: this.#watermark.frontier.size,
      leaves: unflushed.leaves,
      readTile: this.#readTile
    })
    return tiles.map(({ level, index, bytes }) => {
      const key = this.#keys.tile(`${level}/${index}`)
      return [key, this.#form.wrap(key, bytes, unflushed.toSeq)]
    })
  }

  readonly #readTile = (level: number, index: number): Uint8Array | undefined => {
    const key = this.#keys.tile(`${level}/${index}`)
    const value = this.#store.get(key)
    return value === undefined ? undefined : this.#form.body(key, value)
  }

  #pages(
    unflushed: UnflushedRecords,
    always: boolean,
    puts: Put[],
    deletes: string[]
  ): Watermark['pages'] | undefined {
    const tree = unflushed.tree ?? this.#derivedTree
    this.#unpagedKeys += unflushed.changedKeys
    if (!always && this.#unpagedKeys < limits.DERIVE_PAGE_KEYS) return undefined
    this.#unpagedKeys = 0
    for (const page of changedPages(this.#pagedTree, tree)) {
      const key = this.#keys.statePage(page)
      const bytes = encodePage(tree, page)
      if (bytes.length === 0) deletes.push(key)
      else puts.push([key, this.#form.wrap(key, bytes, unflushed.toSeq)])
    }
    return { seq: unflushed.toSeq, storageRoot: tree.root() }
  }

  /** Reads hashes of the log that are derived on disk; call after {@link write}. */
  hashReader(): { readonly size: number; readonly readHash: ReadHash } {
    return { size: this.#watermark.frontier.size, readHash: tileHashReader(this.#readTile) }
  }

  /** Where a receipt with this hash, or of this unit, may stand, newest first. */
  locations(
    name: { readonly hash: Hash } | { readonly unitId: UnitId }
  ): readonly ReceiptLocation[] {
    const inMemory = [this.#unflushed, this.#writing].flatMap((unflushed) => {
      const found =
        'hash' in name ? unflushed?.hashes.get(name.hash) : unflushed?.units.get(name.unitId)
      return found === undefined ? [] : [found]
    })
    if (inMemory.length > 0) return inMemory
    return this.#index.find('hash' in name ? hashIndexKey(name.hash) : unitIndexKey(name.unitId))
  }

  /** Commit number of the n-th receipt, if it is durable. */
  commitSeqOf(index: number): number | undefined {
    for (const unflushed of [this.#unflushed, this.#writing]) {
      if (unflushed !== undefined && index >= unflushed.firstReceipt) {
        return unflushed.commitSeqs[index - unflushed.firstReceipt]
      }
    }
    return this.#chain.commitSeq(index)
  }

  /** A run's record over all durable commits and the `queued` changes after them. */
  run(runId: RunId, queued: RunDelta = newDelta()): RunRecord | undefined {
    const stored = this.#runs.stored(runId)
    return foldStored(runId, stored, [...this.#deltas(runId, stored.upTo), queued])
  }

  /** Whether {@link run} has a record, without reading what it says. */
  hasRun(runId: RunId, queued: RunDelta): boolean {
    if (this.#deltas(runId, 0).some(({ started }) => started !== undefined)) return true
    return queued.started !== undefined || this.#runs.has(runId)
  }

  /**
   * Ids of all runs that begin with `prefix`, sorted; `queued` are those with entries that are not
   * durable yet.
   */
  async *runIds(queued: Iterable<RunId>, prefix = ''): AsyncGenerator<RunId> {
    const unstored = new Set([...this.#changedIds(), ...queued])
    const later = [...unstored].filter((runId) => runId.startsWith(prefix)).sort()
    let next = 0
    for await (const runId of this.#runs.ids(prefix)) {
      for (; (later[next] ?? runId) < runId; next += 1) yield later[next] ?? runId
      if (later[next] === runId) next += 1
      yield runId
    }
    yield* later.slice(next)
  }

  /** Runs that may be open, as far as is seen without reading what is stored of them. */
  openIds(): ReadonlySet<RunId> {
    return new Set([...this.#runs.openIds(), ...this.#changedIds()])
  }

  /** Runs with durable entries that are not derived on disk yet. */
  #changedIds(): readonly RunId[] {
    return [this.#writing, this.#unflushed].flatMap((unflushed) => [
      ...(unflushed?.runs.keys() ?? [])
    ])
  }

  /** Runs that have not ended, with the commits that hold their entries. */
  *openRuns(): Generator<readonly [runId: RunId, commits: readonly RunCommit[]]> {
    for (const runId of this.openIds()) {
      const places = this.#runs.places(runId)
      const deltas = this.#deltas(runId, places.upTo)
      const status = deltas.length === 0 ? places.status : this.run(runId)?.status
      if (isOpenStatus(status)) yield [runId, [...this.#commitsOf(runId, places, deltas)]]
    }
  }

  /** Commits that hold entries of a run, in order, with the number of their first entry. */
  visits(runId: RunId): Generator<RunCommit> {
    const places = this.#runs.places(runId)
    return this.#commitsOf(runId, places, this.#deltas(runId, places.upTo))
  }

  *#commitsOf(
    runId: RunId,
    { blocks, visits }: JournalPlaces,
    deltas: readonly RunDelta[]
  ): Generator<RunCommit> {
    for (let block = 0; block < blocks; block += 1) yield* this.#runs.block(runId, block)
    yield* visits
    for (const delta of deltas) yield* delta.visits
  }

  // A batch may be on disk before its promise says so: what a stored record covers is not added
  // twice.
  #deltas(runId: RunId, storedUpTo: number): RunDelta[] {
    return [this.#writing, this.#unflushed].flatMap((unflushed) => {
      const delta = unflushed?.runs.get(runId)
      return unflushed === undefined || delta === undefined || storedUpTo >= unflushed.toSeq
        ? []
        : [delta]
    })
  }

  #entriesBefore(runId: RunId): number {
    const stored = this.#runs.places(runId)
    const writing = this.#writing
    const delta = writing?.runs.get(runId)
    const isCounted = writing === undefined || stored.upTo >= writing.toSeq
    return stored.entries + (isCounted ? 0 : (delta?.entries ?? 0))
  }
}
