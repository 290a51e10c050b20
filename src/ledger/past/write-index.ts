import { type Hash, isTallyError, nextTurn, type TallyError } from '../../core/index.js'
import { type ArchivedHistory, archivedError } from '../archive/history.js'
import { parseWriteSet } from '../chain/stored-write-set.js'
import type { DerivedCodes } from '../derived/codes.js'
import { type Digest, emptyDigest, RunningDigest } from '../derived/digest.js'
import { digestCode } from '../derived/watermark.js'
import type { StoreKeys } from '../keys.js'
import type { CommitRecord } from '../read/reader.js'
import { corrupt } from '../record/record.js'
import { receiptHashIn } from '../record/slice.js'
import { hashKey, hashValue, type StateTree } from '../state/index.js'
import type { Store } from '../stores/port.js'
import { INDEX_BYTES, REMOVED, VALUE_AT, WriteBatch } from './write-batch.js'

/** One write of a key by a receipt. */
export interface KeyWrite {
  readonly index: number
  /** The write of the same key before it. */
  readonly previous: number | undefined
  /** Hash of the value that it wrote; undefined where it removed the key. */
  readonly valueHash: Buffer | undefined
}

interface Covered {
  readonly seq: number
  readonly receipts: number
  readonly receiptHash: Hash | null
  /** Of the records that name the last write of each key. */
  readonly digest: Digest
  /** Receipts before the first one that it covers: those were archived before it was made. */
  readonly since: number
  /** Receipts before those of which it has the write before each write. */
  readonly linked: number
}

const nothing: Covered = {
  ...{ seq: 0, receipts: 0, receiptHash: null, digest: emptyDigest },
  ...{ since: 0, linked: 0 }
}

/** What an index is made from. */
export interface IndexParts {
  readonly store: Store
  readonly keys: StoreKeys
  readonly codes: DerivedCodes
  readonly behind: (write: () => Promise<unknown>) => Promise<void>
  readonly records: (from: number, to: number) => AsyncIterable<CommitRecord>
  readonly receiptHashAt: (index: number) => Hash | undefined
  readonly history: () => ArchivedHistory | undefined
  /** The state as it is stored, which may have changes that are not durable yet. */
  readonly state: () => AsyncIterable<readonly [key: string, text: string]>
  /** What is durable now. */
  readonly durable: () => { readonly commits: number; readonly tree: StateTree }
  /** Resolves when all that was appended is durable. */
  readonly settled: () => Promise<unknown>
}

/** Writes that are put down in one batch. */
const WRITES_IN_BATCH = 4_096
/** Commit records that are read before the loop turns. */
const RECORDS_IN_TURN = 16

/**
 * Which receipts wrote each key of the state: derived records of their own, made when they are
 * first asked for, and continued by each later question (docs/spec/store.md).
 *
 * Owns: how far they go. Does not own: values; the commit records have them.
 *
 * - L1 They cover durable commits only, and each batch names how far it goes, but those of an index
 *   that begins behind archives: until it is whole it counts for nothing, and is made anew.
 * - L12 Each has a code by the key of the ledger. A write names the one before it, and a digest
 *   covers what names the last write of each key: one that is missing or of earlier is found.
 * - G2 Where history was archived before it was made, it begins behind that: the values that no
 *   later receipt has changed count as writes of the last archived receipt, once the root of the
 *   state has said that they are right and all there. Of earlier writes it says that they are
 *   archived, never that there were none.
 */
export class WriteIndex {
  readonly #parts: IndexParts
  readonly #store: Store
  readonly #keys: StoreKeys
  readonly #codes: DerivedCodes
  #covered: Covered | undefined
  #extending: Promise<void> = Promise.resolve()

  constructor(parts: IndexParts) {
    this.#parts = parts
    this.#store = parts.store
    this.#keys = parts.keys
    this.#codes = parts.codes
  }

  /** Resolves when the commits before `seq` are covered. */
  cover(seq: number): Promise<void> {
    const extended = this.#extending.then(() => this.#extend(seq))
    this.#extending = extended.catch(() => undefined)
    return extended
  }

  /** Removes all of it: the next question makes it anew. */
  forget(): Promise<void> {
    const forgotten = this.#extending.then(() => this.#remove())
    this.#extending = forgotten.catch(() => undefined)
    return forgotten
  }

  /** The last write of a key. */
  last(key: string): number | undefined {
    const storeKey = this.#keys.writtenKey(key)
    const value = this.#store.get(storeKey)
    return value === undefined ? undefined : this.#lastIn(storeKey, value)
  }

  /** A write that another record names. Throws `ledger.corrupt` when it is not there. */
  write(key: string, index: number): KeyWrite {
    const storeKey = this.#keys.write(key, index)
    const value = this.#store.get(storeKey)
    if (value === undefined) throw corrupt(storeKey, 'the record of a write is missing')
    return this.#writeIn(storeKey, index, value)
  }

  /** Whether a write stands for those that were archived: which receipt made it is not known. */
  isArchived(index: number): boolean {
    return index === this.#since - 1
  }

  /** Whether it covers all writes from the first one on. */
  get isWhole(): boolean {
    return this.#since === 0
  }

  /** Throws `ledger.archived` for a state before all that it covers. */
  checkCovered(asOf: number): void {
    if (asOf < this.#since - 1) throw this.archivedAt(asOf)
  }

  archivedAt(asOf: number): TallyError {
    const history = this.#parts.history()
    if (history === undefined) return corrupt(this.#keys.writes, 'nothing before it is archived')
    return archivedError(history, `The state as of receipt ${asOf}`, history.boundary.commits - 1)
  }

  /**
   * The last write of a key as of receipt `asOf`; `last` is its last one of all. Throws
   * `ledger.archived` where that was archived.
   */
  async asOf(key: string, asOf: number, last = this.last(key)): Promise<KeyWrite | undefined> {
    this.checkCovered(asOf)
    if (last === undefined) return undefined
    if (last <= asOf) return this.write(key, last)
    const later = await this.#firstAfter(key, asOf)
    if (later.previous === undefined) {
      // It may have had a value that was changed before all of them were put down.
      if (later.index < (this.#covered?.linked ?? 0)) throw this.archivedAt(asOf)
      return undefined
    }
    if (later.previous > asOf) {
      throw corrupt(this.#keys.write(key, later.previous), 'the record of a write is missing')
    }
    return this.write(key, later.previous)
  }

  /** Keys that were ever written, with the last write of each, from a key on. */
  async *written(
    prefix: string,
    after?: string
  ): AsyncGenerator<readonly [key: string, last: number]> {
    for await (const [storeKey, value] of this.#store.entries(this.#keys.written(prefix, after))) {
      yield [this.#keys.keyWritten(storeKey), this.#lastIn(storeKey, value)]
    }
  }

  async #firstAfter(key: string, asOf: number): Promise<KeyWrite> {
    const range = this.#keys.writesAfter(key, asOf)
    for await (const [storeKey, value] of this.#store.entries({ ...range, limit: 1 })) {
      return this.#writeIn(storeKey, this.#keys.writeIndex(storeKey), value)
    }
    throw corrupt(this.#keys.writtenKey(key), 'the record of its last write is missing')
  }

  #lastIn(storeKey: string, value: Uint8Array): number {
    return this.#codes.open(storeKey, value).body.readUIntBE(0, INDEX_BYTES)
  }

  #writeIn(storeKey: string, index: number, value: Uint8Array): KeyWrite {
    const body = this.#codes.open(storeKey, value).body
    const previous = body.readUIntBE(1, INDEX_BYTES)
    return {
      index,
      previous: previous === 0 ? undefined : previous - 1,
      valueHash: body[0] === REMOVED ? undefined : body.subarray(VALUE_AT)
    }
  }

  get #since(): number {
    return this.#covered?.since ?? 0
  }

  async #extend(to: number): Promise<void> {
    const first = this.#parts.history()?.boundary.commits ?? 0
    const reached = this.#covered?.seq ?? -1
    const covered = (reached < first ? undefined : this.#covered) ?? (await this.#known())
    this.#covered = covered
    if (covered.seq < to) await this.#read(covered, to)
  }

  /** Covers the records up to a commit. */
  async #read(from: Covered, to: number, how: Making = {}): Promise<Covered> {
    let covered = from
    let batch = new WriteBatch(this, this.#keys, how.replaces)
    let read = 0
    for await (const { header, items } of this.#parts.records(from.seq, to)) {
      let { receipts } = header
      let { receiptHash } = covered
      for (const { receipt } of items) {
        if (receipt === undefined) continue
        const changes = parseWriteSet(receipt.writeSet)
        const key = this.#keys.commit(header.seq)
        if (changes === undefined) throw corrupt(key, 'a write set is malformed')
        for (const change of changes) batch.add(change.key, receipts, change.valueHash)
        receiptHash = receiptHashIn(receipt.text)
        receipts += 1
      }
      covered = { ...covered, seq: header.seq + 1, receipts, receiptHash }
      if (batch.size >= WRITES_IN_BATCH) {
        covered = await this.#put(batch, covered, how)
        batch = new WriteBatch(this, this.#keys, how.replaces)
      }
      read += 1
      if (read % RECORDS_IN_TURN === 0) await nextTurn()
    }
    return this.#put(batch, covered, how)
  }

  /** Begins behind what is archived: only what is whole is stamped. */
  async #begun(): Promise<Covered> {
    const { boundary } = this.#parts.history() ?? {}
    if (boundary === undefined) return nothing
    const { commits: seq, receipts, receiptHash } = boundary
    const start = { seq, receipts, receiptHash, digest: emptyDigest, since: receipts, linked: 0 }
    if (receipts === 0) return start
    const { tree, commits } = this.#parts.durable()
    const stored = await this.#putStored(start, tree)
    const replaces = receipts - 1
    let covered = await this.#read(stored, commits, { isUnfinished: true, replaces })
    // What was changed while it was read stands in the records behind.
    await this.#parts.settled()
    covered = await this.#read(covered, this.#parts.durable().commits, { isUnfinished: true })
    await this.#checkWhole(tree)
    return this.#put(new WriteBatch(this, this.#keys), { ...covered, linked: covered.receipts })
  }

  /** Puts down the stored values that are those of a tree. */
  async #putStored(start: Covered, tree: StateTree): Promise<Covered> {
    let covered = start
    let batch = new WriteBatch(this, this.#keys)
    for await (const [key, text] of this.#parts.state()) {
      const hash = hashValue(text)
      if (tree.get(hashKey(key))?.equals(hash) !== true) continue
      batch.add(key, start.since - 1, hash)
      if (batch.size < WRITES_IN_BATCH) continue
      covered = await this.#put(batch, covered, { isUnfinished: true })
      batch = new WriteBatch(this, this.#keys)
    }
    return this.#put(batch, covered, { isUnfinished: true })
  }

  /** Throws `ledger.corrupt` where a key of a tree is not among those that were written. */
  async #checkWhole(tree: StateTree): Promise<void> {
    let found = 0
    for await (const [storeKey] of this.#store.entries(this.#keys.written(''))) {
      if (tree.get(hashKey(this.#keys.keyWritten(storeKey))) !== undefined) found += 1
    }
    if (found !== tree.size) {
      throw corrupt(this.#keys.state(''), `${tree.size - found} of its values are missing`)
    }
  }

  async #put(
    batch: WriteBatch,
    upTo: Covered,
    { isUnfinished = false }: Making = {}
  ): Promise<Covered> {
    const running = new RunningDigest(this.#codes, upTo.digest)
    const wrap = (key: string, body: string | Uint8Array) =>
      [key, this.#codes.wrap(key, body, upTo.seq)] as const
    const last = batch.last().map(([key, body]) => wrap(key, body))
    for (const [key, value] of last) {
      running.remove(key, this.#store.get(key))
      running.add(key, value)
    }
    const covered = { ...upTo, digest: running.digest }
    const { seq, receipts, receiptHash, since, linked } = covered
    const digest = digestCode(this.#codes, running.digest)
    const behind = since === 0 ? {} : { since, linked }
    const stamp = { digest, receiptHash, receipts, seq, ...behind }
    const puts = [
      ...batch.writes.map(([key, body]) => wrap(key, body)),
      ...last,
      ...(isUnfinished ? [] : [wrap(this.#keys.writes, JSON.stringify(stamp))])
    ]
    const { replaced: deletes } = batch
    await this.#parts.behind(() => this.#store.commit([{ puts, deletes }]))
    if (!isUnfinished) this.#covered = covered
    return covered
  }

  /** How far the records of the store go: nowhere when they are not those that it names. */
  async #known(): Promise<Covered> {
    try {
      const known = await this.#stored()
      if (known !== undefined) return known
    } catch (error) {
      if (!isTallyError(error, 'ledger.corrupt')) throw error
    }
    await this.#remove()
    return this.#begun()
  }

  async #stored(): Promise<Covered | undefined> {
    const key = this.#keys.writes
    const value = this.#store.get(key)
    if (value === undefined) return undefined
    const stamp = JSON.parse(this.#codes.open(key, value).body.toString()) as Stamp
    const { seq, receipts, receiptHash, since = 0, linked = 0 } = stamp
    const { boundary } = this.#parts.history() ?? {}
    if (boundary !== undefined && seq < boundary.commits) return undefined
    const isEnd = receipts === 0 || receipts === boundary?.receipts
    const end = isEnd ? (boundary?.receiptHash ?? null) : this.#parts.receiptHashAt(receipts - 1)
    if (end !== receiptHash) return undefined
    const running = new RunningDigest(this.#codes)
    for await (const [one, text] of this.#store.entries(this.#keys.written(''))) {
      running.add(one, text)
    }
    const { digest } = running
    const isWhole = digestCode(this.#codes, digest) === stamp.digest
    return isWhole ? { seq, receipts, receiptHash, digest, since, linked } : undefined
  }

  async #remove(): Promise<void> {
    this.#covered = undefined
    const deletes: string[] = []
    for await (const [key] of this.#store.entries(this.#keys.allWrites())) deletes.push(key)
    if (deletes.length === 0) return
    await this.#parts.behind(() => this.#store.commit([{ puts: [], deletes }]))
  }
}

/** How far the records of the store go, as they say it. */
type Stamp = Omit<Covered, 'digest' | 'linked' | 'since'> & {
  readonly digest: Hash
  readonly since?: number
  readonly linked?: number
}

/**
 * `isUnfinished`: the index is not whole yet. `replaces`: writes of this receipt that a later one
 * replaces.
 */
interface Making {
  readonly isUnfinished?: boolean
  readonly replaces?: number
}
