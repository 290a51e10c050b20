import { type Hash, ledgerError, nextTurn, sha256, type UnitId } from '../../core/index.js'
import type { Store } from '../stores/port.js'
import type { RecordForm } from './record-form.js'

/** Where a receipt stands: its commit record, and its number among the receipts of that record. */
export interface ReceiptLocation {
  readonly commitSeq: number
  readonly ordinal: number
}

/** One sorted run of the index; its pages share it by the top `bits` bits of the key. */
export interface IndexRun {
  readonly id: number
  readonly entries: number
  readonly bits: number
}

/** A first 8 bytes of a hash with the place of what it names. */
export interface IndexEntry extends ReceiptLocation {
  readonly key: Buffer
}

/** Where a page of a run of an index stands in the store. */
export type PageKey = (run: number, page: number) => string

const INDEX_KEY_BYTES = 8
const ENTRY_BYTES = 16
const PAGE_ENTRIES = 512

/**
 * Index from hashes to receipts: sorted runs, merged as they grow, so that there are O(log n) of
 * them and no value grows with history (L5).
 *
 * A page holds entries of 16 bytes in ascending order: 8 bytes of the hash, 5 bytes commit number,
 * 3 bytes ordinal, big-endian. Two hashes may share 8 bytes: a look-up reads each candidate.
 */
export class IndexRuns {
  readonly #store: Store
  readonly #pageKey: PageKey
  readonly #form: RecordForm
  #runs: readonly IndexRun[]

  constructor(options: {
    readonly store: Store
    readonly pageKey: PageKey
    readonly form: RecordForm
    readonly runs: readonly IndexRun[]
  }) {
    this.#store = options.store
    this.#pageKey = options.pageKey
    this.#form = options.form
    this.#runs = options.runs
  }

  get runs(): readonly IndexRun[] {
    return this.#runs
  }

  /** Candidates for a key, newest run first. */
  find(key: Buffer): readonly ReceiptLocation[] {
    const found: ReceiptLocation[] = []
    for (let index = this.#runs.length - 1; index >= 0; index -= 1) {
      const run = this.#runs[index]
      if (run === undefined) continue
      const page = this.#page(run, pageOfKey(key, run.bits))
      for (let at = lowerBound(page, key); at < page.length; at += ENTRY_BYTES) {
        if (page.compare(key, 0, INDEX_KEY_BYTES, at, at + INDEX_KEY_BYTES) !== 0) break
        found.push(location(page, at))
      }
    }
    return found
  }

  /** Every entry as stored, for comparison with the commit records. */
  *slots(): Generator<Buffer> {
    for (const run of this.#runs) {
      for (let page = 0; page < 2 ** run.bits; page += 1) {
        const bytes = this.#page(run, page)
        for (let at = 0; at < bytes.length; at += ENTRY_BYTES) {
          yield bytes.subarray(at, at + ENTRY_BYTES)
        }
      }
    }
  }

  /** What to write so that the index covers `entries` too; {@link adopt} the runs once durable. */
  async add(
    entries: readonly IndexEntry[],
    watermark: number
  ): Promise<{
    readonly runs: readonly IndexRun[]
    readonly puts: readonly (readonly [string, Uint8Array])[]
    readonly deletes: readonly string[]
  }> {
    if (entries.length === 0) return { runs: this.#runs, puts: [], deletes: [] }
    const kept = [...this.#runs]
    const merged: IndexRun[] = []
    let total = entries.length
    for (let last = kept.at(-1); last !== undefined && last.entries <= total * 2; ) {
      merged.push(last)
      total += last.entries
      kept.pop()
      last = kept.at(-1)
    }
    const id = Math.max(-1, ...this.#runs.map((run) => run.id)) + 1
    const run = { id, entries: total, bits: bitsFor(total) }
    const puts = await this.#merge(run, { entries, merged, watermark })
    const deletes = merged.flatMap((old) => this.#pageKeys(old))
    return { runs: [...kept, run], puts, deletes }
  }

  adopt(runs: readonly IndexRun[]): void {
    this.#runs = runs
  }

  /** Page by page, each from the same span of keys in all sources, so that no copy is large. */
  async #merge(
    run: IndexRun,
    {
      entries,
      merged,
      watermark
    }: {
      readonly entries: readonly IndexEntry[]
      readonly merged: readonly IndexRun[]
      readonly watermark: number
    }
  ): Promise<(readonly [string, Uint8Array])[]> {
    const fresh = sortedSlots(packed(entries))
    const olds = merged.map((old) => ({ old, page: -1, bytes: fresh }))
    const puts: (readonly [string, Uint8Array])[] = []
    for (let page = 0; page < 2 ** run.bits; page += 1) {
      const parts = [spanOf(fresh, run.bits, page)]
      for (const source of olds) {
        const oldPage = Math.floor(page / 2 ** (run.bits - source.old.bits))
        if (source.page !== oldPage) {
          source.page = oldPage
          source.bytes = this.#page(source.old, oldPage)
        }
        parts.push(spanOf(source.bytes, run.bits, page))
      }
      const key = this.#pageKey(run.id, page)
      puts.push([key, this.#form.wrap(key, sortedSlots(Buffer.concat(parts)), watermark)])
      if (page % 16 === 15) await nextTurn()
    }
    return puts
  }

  #page(run: IndexRun, page: number): Buffer {
    const key = this.#pageKey(run.id, page)
    const value = this.#store.get(key)
    // Every page of a run is written, also an empty one: without it a unit might be done again.
    if (value === undefined) {
      throw ledgerError('ledger.corrupt', { key, problem: 'the value is missing' })
    }
    return this.#form.body(key, value)
  }

  #pageKeys(run: IndexRun): string[] {
    return Array.from({ length: 2 ** run.bits }, (_, page) => this.#pageKey(run.id, page))
  }
}

/** Where a unit stands in the index. */
export function unitIndexKey(unitId: UnitId): Buffer {
  return sha256(unitId).subarray(0, INDEX_KEY_BYTES)
}

/** Where a receipt hash stands in the index. */
export function hashIndexKey(hash: Hash): Buffer {
  return Buffer.from(hash.slice(0, INDEX_KEY_BYTES * 2), 'hex')
}

function bitsFor(entries: number): number {
  let bits = 0
  while (PAGE_ENTRIES * 2 ** bits < entries) bits += 1
  return bits
}

function pageOfKey(key: Buffer, bits: number): number {
  return pageAt(key, 0, bits)
}

function pageAt(slots: Buffer, at: number, bits: number): number {
  return bits === 0 ? 0 : slots.readUInt32BE(at) >>> (32 - bits)
}

/** Room for the 16 bytes of an entry. */
export function newSlot(): Buffer {
  return Buffer.alloc(ENTRY_BYTES)
}

/** Writes the 16 bytes of an entry. */
export function writeSlot(
  slots: Buffer,
  at: number,
  { key, commitSeq, ordinal }: IndexEntry
): void {
  key.copy(slots, at, 0, INDEX_KEY_BYTES)
  slots.writeUIntBE(commitSeq, at + INDEX_KEY_BYTES, 5)
  slots.writeUIntBE(ordinal, at + INDEX_KEY_BYTES + 5, 3)
}

/** Number of the commit that an entry names. */
export function slotCommit(slot: Buffer): number {
  return slot.readUIntBE(INDEX_KEY_BYTES, 5)
}

function packed(entries: readonly IndexEntry[]): Buffer {
  const slots = Buffer.allocUnsafe(entries.length * ENTRY_BYTES)
  entries.forEach((entry, index) => {
    writeSlot(slots, index * ENTRY_BYTES, entry)
  })
  return slots
}

/** So many bytes are a number that compares at once, and two slots that share them are rare. */
const RANK_BYTES = 6

/** Slots in ascending order; what is sorted in stretches costs little. */
function sortedSlots(slots: Buffer): Buffer {
  const ranks = new Float64Array(slots.length / ENTRY_BYTES)
  const order: number[] = []
  for (let place = 0; place < ranks.length; place += 1) {
    ranks[place] = slots.readUIntBE(place * ENTRY_BYTES, RANK_BYTES)
    order.push(place)
  }
  const compare = (one: number, other: number): number =>
    (ranks[one] ?? 0) - (ranks[other] ?? 0) || compareSlots(slots, one, other)
  const sorted = Buffer.allocUnsafe(slots.length)
  let to = 0
  for (const place of order.sort(compare)) {
    // So few bytes are copied in less time than a call takes.
    const from = place * ENTRY_BYTES
    for (let at = from; at < from + ENTRY_BYTES; at += 1) {
      sorted[to] = slots[at] ?? 0
      to += 1
    }
  }
  return sorted
}

function compareSlots(slots: Buffer, one: number, other: number): number {
  const [from, to] = [one * ENTRY_BYTES, other * ENTRY_BYTES]
  return slots.compare(slots, to, to + ENTRY_BYTES, from, from + ENTRY_BYTES)
}

/** The entries of sorted slots that belong into a page of a finer or equal partition. */
function spanOf(slots: Buffer, bits: number, page: number): Buffer {
  const [from, to] = [page, page + 1].map((first) => {
    let low = 0
    let high = slots.length / ENTRY_BYTES
    while (low < high) {
      const middle = (low + high) >>> 1
      if (pageAt(slots, middle * ENTRY_BYTES, bits) < first) low = middle + 1
      else high = middle
    }
    return low * ENTRY_BYTES
  })
  return slots.subarray(from, to)
}

function location(page: Buffer, at: number): ReceiptLocation {
  return {
    commitSeq: page.readUIntBE(at + INDEX_KEY_BYTES, 5),
    ordinal: page.readUIntBE(at + INDEX_KEY_BYTES + 5, 3)
  }
}

function lowerBound(page: Buffer, key: Buffer): number {
  let low = 0
  let high = page.length / ENTRY_BYTES
  while (low < high) {
    const middle = (low + high) >>> 1
    const at = middle * ENTRY_BYTES
    if (page.compare(key, 0, INDEX_KEY_BYTES, at, at + INDEX_KEY_BYTES) < 0) low = middle + 1
    else high = middle
  }
  return low * ENTRY_BYTES
}
