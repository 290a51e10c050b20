import {
  canonicalize,
  type Hash,
  isTallyError,
  nextTurn,
  type RunId,
  sha256Hex,
  type UnitId
} from '../../core/index.js'
import { type ArchivedHistory, checkCommit, checkLeaf, checkReceipt } from '../archive/history.js'
import type { Derived } from '../derived/derived.js'
import type { ReceiptLocation } from '../derived/index-runs.js'
import { unwrapValue } from '../envelope.js'
import type { StoreKeys } from '../keys.js'
import type { ForgedJournal, JournalEntry, LogRecord, StoredReceipt } from '../ledger-api.js'
import type { Receipt, WriteSet } from '../receipt/receipt.js'
import { corrupt, parseRecord, type RecordHeader, type RecordItem } from '../record/record.js'
import type { Store } from '../stores/port.js'
import type { ReadItem, SubjectCipher } from '../subject/cipher.js'
import { ItemBodies } from './bodies.js'
import { forgedJournal } from './forged-journals.js'
import { logRecords } from './log-records.js'
import { checkOpen, storedEntries } from './stored-entries.js'

export interface CommitRecord {
  readonly header: RecordHeader
  readonly items: readonly ReadItem[]
}

export interface WritingReceipt {
  readonly text: string
  readonly writeSet: string
  readonly bodies: ItemBodies
}

const RECORDS_KEPT = 4
/** Records of a journal that are read before the loop turns (D9). */
const RECORDS_IN_TURN = 16
/** Runs whose journals are gathered at once. */
const RUNS_AT_ONCE = 512

/**
 * Reads durable receipts, log records and journals out of the commit records, through the derived
 * index. Owns a few parsed records, so that neighbours are not parsed again.
 */
export class Reader {
  readonly #store: Store
  readonly #keys: StoreKeys
  readonly #cipher: SubjectCipher
  readonly #derived: Derived
  /** Durable commit records so far. */
  readonly #commits: () => number
  readonly #archived: () => ArchivedHistory | undefined
  readonly #records = new Map<number, CommitRecord>()

  constructor(options: {
    readonly store: Store
    readonly keys: StoreKeys
    readonly cipher: SubjectCipher
    readonly derived: Derived
    readonly commits: () => number
    readonly archived: () => ArchivedHistory | undefined
  }) {
    this.#store = options.store
    this.#keys = options.keys
    this.#cipher = options.cipher
    this.#derived = options.derived
    this.#commits = options.commits
    this.#archived = options.archived
  }

  /** What of the ledger is archived. */
  get archived(): ArchivedHistory | undefined {
    return this.#archived()
  }

  /** `what` is read in it. Throws `ledger.archived`, `ledger.corrupt`. */
  record(seq: number, what = `Commit ${seq}`): CommitRecord {
    const known = this.#records.get(seq)
    if (known !== undefined) return known
    const key = this.#keys.commit(seq)
    const value = this.#store.get(key)
    if (value === undefined) {
      checkCommit(this.#archived(), seq, what)
      throw corrupt(key, 'the commit record is missing')
    }
    const record = this.#parsed(key, value)
    this.#records.set(seq, record)
    for (const oldest of this.#records.keys()) {
      if (this.#records.size <= RECORDS_KEPT) break
      this.#records.delete(oldest)
    }
    return record
  }

  /** Commit records `from` <= seq < `to`, in order. Throws `ledger.archived`. */
  async *records(from: number, to: number): AsyncGenerator<CommitRecord> {
    if (from < to) checkCommit(this.#archived(), from)
    for await (const [key, value] of this.#store.entries(this.#keys.commits(from, to))) {
      yield this.#parsed(key, value)
    }
  }

  #parsed(key: string, value: Uint8Array): CommitRecord {
    const { header, items } = parseRecord(key, unwrapValue(key, value))
    return { header, items: items.map((item) => this.#cipher.open(key, item)) }
  }

  /** Forgets what it has read under keys of subjects. */
  forget(): void {
    this.#records.clear()
  }

  async *receipts(from: number, to: number): AsyncGenerator<StoredReceipt> {
    if (from >= to) return
    // In safe mode the derived records may not say where: then the records are read from the first.
    const firstSeq = this.#seqOf(from) ?? this.#archived()?.boundary.commits ?? 0
    for await (const record of this.records(firstSeq, this.#commits())) {
      for (const stored of this.#receiptsOf(record)) {
        if (stored.index >= to) return
        if (stored.index >= from) yield stored
      }
    }
  }

  /** A receipt by its hash or by its place in the chain. */
  receipt(which: Hash | number): StoredReceipt | undefined {
    return typeof which === 'number' ? this.receiptAt(which) : this.receiptByHash(which)
  }

  /** {@link receipt} among some: in safe mode the derived records may not say where it is. */
  async receiptIn(
    receipts: AsyncIterable<StoredReceipt> | readonly StoredReceipt[],
    which: Hash | number
  ): Promise<StoredReceipt | undefined> {
    for await (const stored of receipts) {
      if (stored.index === which || stored.receipt.receiptHash === which) return stored
    }
    return undefined
  }

  receiptAt(index: number): StoredReceipt | undefined {
    const seq = this.#seqOf(index)
    if (seq === undefined) return undefined
    const record = this.record(seq, `Receipt ${index}`)
    return this.#receiptAt(record, index - record.header.receipts)
  }

  /** Throws `ledger.archived` where nothing here says more of it. */
  #seqOf(index: number): number | undefined {
    const seq = this.#derived.commitSeqOf(index)
    if (seq === undefined) checkReceipt(this.#archived(), index)
    return seq
  }

  /** A receipt with its write set as stored, and what resolves the values that it names. */
  writingReceipt(index: number): WritingReceipt | undefined {
    const seq = this.#derived.commitSeqOf(index)
    if (seq === undefined) return undefined
    const record = this.record(seq)
    const ordinal = index - record.header.receipts
    const item = record.items.filter(({ receipt }) => receipt !== undefined)[ordinal]
    if (item?.receipt === undefined) return undefined
    return {
      text: item.receipt.text,
      writeSet: item.receipt.writeSet,
      bodies: new ItemBodies(this.#store, this.#keys, item)
    }
  }

  receiptByHash(hash: Hash): StoredReceipt | undefined {
    return this.#find(
      this.#derived.locations({ hash }),
      ({ receipt }) => receipt.receiptHash === hash
    )
  }

  receiptOfUnit(unitId: UnitId): StoredReceipt | undefined {
    return this.#find(
      this.#derived.locations({ unitId }),
      ({ receipt }) => receipt.inputPayload.id === unitId
    )
  }

  /** Whether a unit has a receipt, one that is archived included. */
  hasUnit(unitId: UnitId): boolean {
    try {
      return this.receiptOfUnit(unitId) !== undefined
    } catch (error) {
      if (isTallyError(error, 'ledger.archived')) return true
      throw error
    }
  }

  /** The commit record that holds a leaf of the log: commit numbers grow with leaves. */
  commitOfLeaf(leaf: number): number {
    const archived = this.#archived()
    checkLeaf(archived, leaf)
    let low = archived?.boundary.commits ?? 0
    let high = this.#commits()
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (this.record(middle).header.leaves <= leaf) low = middle
      else high = middle
    }
    return low
  }

  async *log(from: number, to: number): AsyncGenerator<LogRecord> {
    for await (const { header, items } of this.records(this.commitOfLeaf(from), this.#commits())) {
      let leaf = header.leaves
      for (const item of items) {
        for (const record of logRecords(item, leaf)) {
          if (record.leaf >= to) return
          if (record.leaf >= from) yield record
          leaf += 1
        }
      }
    }
  }

  /** Durable commits from `from` on that hold entries of a run, in order. */
  *commitsOf(runId: RunId, from: number): Generator<number> {
    for (const [seq] of this.#derived.visits(runId)) if (seq >= from) yield seq
  }

  async *journal(
    runId: RunId,
    from = 0,
    isWanted: (text: string) => boolean = () => true
  ): AsyncGenerator<JournalEntry> {
    const visits = [...this.#derived.visits(runId)]
    for (let index = 0; index < visits.length; index += 1) {
      const [seq = 0] = visits[index] ?? []
      const nextFirst = visits[index + 1]?.[1]
      if (nextFirst !== undefined && nextFirst <= from) continue
      for (const item of this.record(seq, `Run ${runId}`).items) {
        if (item.runId !== runId) continue
        checkOpen(item)
        for (const entry of this.#entries(item, seq, isWanted)) {
          if (entry.n >= from) yield entry
        }
      }
      if (index % RECORDS_IN_TURN === RECORDS_IN_TURN - 1) await nextTurn()
    }
  }

  /**
   * The journal of a run, entries of {@link RECORDS_IN_TURN} commit records at once after the
   * first: what is only hashed is not parsed.
   */
  async *journalParts(runId: RunId, from = 0): AsyncGenerator<readonly JournalEntry[]> {
    const visits = [...this.#derived.visits(runId)]
    let part: JournalEntry[] = []
    for (let index = 0; index < visits.length; index += 1) {
      const [seq = 0, first = 0] = visits[index] ?? []
      const nextFirst = visits[index + 1]?.[1]
      if (nextFirst !== undefined && nextFirst <= from) continue
      for (const item of this.record(seq, `Run ${runId}`).items) {
        if (item.runId !== runId) continue
        checkOpen(item)
        for (const entry of storedEntries(item, seq, this.#keys)) {
          if (first >= from || entry.n >= from) part.push(entry)
        }
      }
      if (index % RECORDS_IN_TURN !== 0) continue
      yield part
      part = []
      await nextTurn()
    }
    yield part
  }

  /**
   * Of the journals of several runs the entries that hold one of `texts`, run by run, those that
   * began first before the others; runs without such entries are left out. A commit record that
   * holds entries of many runs is read once for them.
   */
  async *journals(
    runIds: Iterable<RunId>,
    texts: readonly string[]
  ): AsyncGenerator<readonly JournalEntry[]> {
    const runs = [...runIds].map((runId) => {
      const seqs = [...this.#derived.visits(runId)].map(([seq]) => seq)
      return { runId, seqs, first: seqs[0] ?? 0 }
    })
    runs.sort((one, other) => one.first - other.first)
    const isWanted = (text: string) => texts.some((part) => text.includes(part))
    for (let from = 0; from < runs.length; from += RUNS_AT_ONCE) {
      const some = runs.slice(from, from + RUNS_AT_ONCE)
      const found = new Map<RunId, JournalEntry[]>(some.map(({ runId }) => [runId, []]))
      const seqs = new Set(some.flatMap((run) => run.seqs))
      for (const seq of [...seqs].sort((one, other) => one - other)) {
        for (const item of this.record(seq).items) {
          if (item.closedBy !== undefined) continue
          found.get(item.runId)?.push(...this.#entries(item, seq, isWanted))
        }
        await nextTurn()
      }
      for (const entries of found.values()) if (entries.length > 0) yield entries
    }
  }

  /** What open runs have in their journals that the ledger has not written. */
  forgedJournal(authenticate: (journalHash: Hash) => Hash): Promise<ForgedJournal | undefined> {
    const [store, keys, derived] = [this.#store, this.#keys, this.#derived]
    return forgedJournal({ store, keys, derived, cipher: this.#cipher, authenticate })
  }

  /** The entries of an item whose texts are wanted; the others are not parsed. */
  *#entries(
    item: RecordItem,
    seq: number,
    isWanted: (text: string) => boolean
  ): Generator<JournalEntry> {
    for (const entry of storedEntries(item, seq, this.#keys)) {
      if (isWanted(entry.text)) yield { ...entry, n: entry.n, value: entry.value }
    }
  }

  #find(
    locations: readonly ReceiptLocation[],
    matches: (stored: StoredReceipt) => boolean
  ): StoredReceipt | undefined {
    for (const { commitSeq, ordinal } of locations) {
      const stored = this.#receiptAt(this.record(commitSeq, 'This receipt'), ordinal)
      if (stored !== undefined && matches(stored)) return stored
    }
    return undefined
  }

  #receiptAt(record: CommitRecord, ordinal: number): StoredReceipt | undefined {
    let at = 0
    for (const item of record.items) {
      if (item.receipt === undefined) continue
      if (at === ordinal) return this.#stored(record, item, ordinal)
      at += 1
    }
    return undefined
  }

  *#receiptsOf(record: CommitRecord): Generator<StoredReceipt> {
    let ordinal = 0
    for (const item of record.items) {
      const stored = this.#stored(record, item, ordinal)
      if (stored === undefined) continue
      ordinal += 1
      yield stored
    }
  }

  #stored(record: CommitRecord, item: RecordItem, ordinal: number): StoredReceipt | undefined {
    if (item.receipt === undefined) return undefined
    const { text, writeSet, result } = item.receipt
    const receipt = JSON.parse(text) as Receipt
    const bodies = new ItemBodies(this.#store, this.#keys, item)
    const { payload, raw } = receipt.inputPayload
    const rawText = raw === undefined ? undefined : bodies.resolve(canonicalize(raw))
    return {
      index: record.header.receipts + ordinal,
      receipt,
      text,
      writeSet: JSON.parse(writeSet) as WriteSet,
      resultText: bodies.resolve(result),
      isResultSigned: sha256Hex(result) === receipt.resultHash,
      payloadText: bodies.resolve(canonicalize(payload)),
      raw: rawText === undefined ? undefined : (JSON.parse(rawText) as string),
      commitSeq: record.header.seq
    }
  }
}
