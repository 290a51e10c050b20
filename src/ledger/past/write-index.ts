import { type Hash, isTallyError, nextTurn } from '../../core/index.js'
import { parseWriteSet } from '../chain/stored-write-set.js'
import type { DerivedCodes } from '../derived/codes.js'
import { type Digest, emptyDigest, RunningDigest } from '../derived/digest.js'
import { digestCode } from '../derived/watermark.js'
import type { StoreKeys } from '../keys.js'
import type { CommitRecord } from '../read/reader.js'
import { corrupt } from '../record/record.js'
import { receiptHashIn } from '../record/slice.js'
import type { Store } from '../stores/port.js'

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
}

const nothing: Covered = { seq: 0, receipts: 0, receiptHash: null, digest: emptyDigest }

/** Writes that are put down in one batch. */
const WRITES_IN_BATCH = 4_096
/** Commit records that are read before the loop turns. */
const RECORDS_IN_TURN = 16

const INDEX_BYTES = 6
const VALUE_AT = 1 + INDEX_BYTES
const REMOVED = 0
const WRITTEN = 1

/**
 * Which receipts wrote each key of the state: derived records of their own, made when they are
 * first asked for, and continued by each later question (docs/spec/store.md).
 *
 * Owns: how far they go. Does not own: values; the commit records have them.
 *
 * - L1 They cover durable commits only, and each batch names how far it goes.
 * - L12 Each has a code by the key of the ledger. A write names the one before it, and a digest
 *   covers what names the last write of each key: one that is missing or of earlier is found.
 */
export class WriteIndex {
  readonly #store: Store
  readonly #keys: StoreKeys
  readonly #codes: DerivedCodes
  readonly #behind: (write: () => Promise<unknown>) => Promise<void>
  readonly #records: (from: number, to: number) => AsyncIterable<CommitRecord>
  readonly #receiptHashAt: (index: number) => Hash | undefined
  #covered: Covered | undefined
  #extending: Promise<void> = Promise.resolve()

  constructor(options: {
    readonly store: Store
    readonly keys: StoreKeys
    readonly codes: DerivedCodes
    readonly behind: (write: () => Promise<unknown>) => Promise<void>
    readonly records: (from: number, to: number) => AsyncIterable<CommitRecord>
    readonly receiptHashAt: (index: number) => Hash | undefined
  }) {
    this.#store = options.store
    this.#keys = options.keys
    this.#codes = options.codes
    this.#behind = options.behind
    this.#records = options.records
    this.#receiptHashAt = options.receiptHashAt
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

  /** The last write of a key as of receipt `asOf`; `last` is its last one of all. */
  async asOf(key: string, asOf: number, last = this.last(key)): Promise<KeyWrite | undefined> {
    if (last === undefined) return undefined
    if (last <= asOf) return this.write(key, last)
    const later = await this.#firstAfter(key, asOf)
    if (later.previous === undefined) return undefined
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

  async #extend(to: number): Promise<void> {
    let covered = this.#covered ?? (await this.#known())
    this.#covered = covered
    if (covered.seq >= to) return
    let batch = new Batch(this, this.#keys)
    let read = 0
    for await (const { header, items } of this.#records(covered.seq, to)) {
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
        covered = await this.#put(batch, covered)
        batch = new Batch(this, this.#keys)
      }
      read += 1
      if (read % RECORDS_IN_TURN === 0) await nextTurn()
    }
    await this.#put(batch, covered)
  }

  async #put(batch: Batch, upTo: Covered): Promise<Covered> {
    const running = new RunningDigest(this.#codes, upTo.digest)
    const wrap = (key: string, body: string | Uint8Array) =>
      [key, this.#codes.wrap(key, body, upTo.seq)] as const
    const last = batch.last().map(([key, body]) => wrap(key, body))
    for (const [key, value] of last) {
      running.remove(key, this.#store.get(key))
      running.add(key, value)
    }
    const covered = { ...upTo, digest: running.digest }
    const { seq, receipts, receiptHash } = covered
    const digest = digestCode(this.#codes, running.digest)
    const stamp = JSON.stringify({ digest, receiptHash, receipts, seq })
    const puts = [
      ...batch.writes.map(([key, body]) => wrap(key, body)),
      ...last,
      wrap(this.#keys.writes, stamp)
    ]
    await this.#behind(() => this.#store.commit([{ puts, deletes: [] }]))
    this.#covered = covered
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
    return nothing
  }

  async #stored(): Promise<Covered | undefined> {
    const key = this.#keys.writes
    const value = this.#store.get(key)
    if (value === undefined) return undefined
    const stamp = JSON.parse(this.#codes.open(key, value).body.toString()) as Omit<
      Covered,
      'digest'
    > & { readonly digest: Hash }
    const { seq, receipts, receiptHash } = stamp
    const last = receipts === 0 ? null : this.#receiptHashAt(receipts - 1)
    if (last !== receiptHash) return undefined
    const running = new RunningDigest(this.#codes)
    for await (const [one, text] of this.#store.entries(this.#keys.written(''))) {
      running.add(one, text)
    }
    const { digest } = running
    const isWhole = digestCode(this.#codes, digest) === stamp.digest
    return isWhole ? { seq, receipts, receiptHash, digest } : undefined
  }

  async #remove(): Promise<void> {
    this.#covered = nothing
    const deletes: string[] = []
    for await (const [key] of this.#store.entries(this.#keys.allWrites())) deletes.push(key)
    if (deletes.length === 0) return
    await this.#behind(() => this.#store.commit([{ puts: [], deletes }]))
  }
}

/** Writes of some commits, before they are put down. */
class Batch {
  readonly #index: WriteIndex
  readonly #keys: StoreKeys
  readonly #last = new Map<string, number>()
  readonly writes: (readonly [key: string, body: Uint8Array])[] = []

  constructor(index: WriteIndex, keys: StoreKeys) {
    this.#index = index
    this.#keys = keys
  }

  get size(): number {
    return this.writes.length
  }

  add(key: string, index: number, valueHash: Uint8Array | undefined): void {
    const previous = this.#last.get(key) ?? this.#index.last(key)
    const body = Buffer.alloc(VALUE_AT + (valueHash?.length ?? 0))
    body[0] = valueHash === undefined ? REMOVED : WRITTEN
    body.writeUIntBE(previous === undefined ? 0 : previous + 1, 1, INDEX_BYTES)
    if (valueHash !== undefined) body.set(valueHash, VALUE_AT)
    this.writes.push([this.#keys.write(key, index), body])
    this.#last.set(key, index)
  }

  last(): readonly (readonly [key: string, body: Uint8Array])[] {
    return [...this.#last].map(([key, index]) => {
      const body = Buffer.alloc(INDEX_BYTES)
      body.writeUIntBE(index, 0, INDEX_BYTES)
      return [this.#keys.writtenKey(key), body] as const
    })
  }
}
