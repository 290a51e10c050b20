import { ledgerError, sha256Hex, type TallyError } from '../../src/core/index.js'
import { unwrapText, wrapValue } from '../../src/ledger/envelope.js'
import type { Store, StoreItem } from '../../src/ledger/index.js'
import type { HistoryEntry, OpenLedger, SimulatedLedger } from './harness.js'

/**
 * Mistakes that can be planted; the simulator must find each (a simulator that finds none is one).
 */
export interface ToyMistakes {
  /** The receipt and the head are written one after the other. */
  readonly separateWrites?: boolean
  /** A failed write is taken for the failure of that write alone. */
  readonly goesOn?: boolean
  /** Units are acknowledged when they are queued. */
  readonly acknowledgesEarly?: boolean
  /** Opening believes the head and does not read the chain. */
  readonly believes?: boolean
  /** A unit that is there already is appended again. */
  readonly forgetsUnits?: boolean
}

/**
 * The smallest ledger that keeps every promise the simulator checks: the measure of the simulator.
 */
export function toyLedger(mistakes: ToyMistakes = {}): OpenLedger {
  return async (store) => {
    const history = await readHistory(store, mistakes)
    return new ToyLedger(store, history, mistakes)
  }
}

interface Queued {
  readonly entry: HistoryEntry
  readonly seq: number
  readonly done: () => void
  readonly failed: (error: unknown) => void
}

class ToyLedger implements SimulatedLedger {
  readonly #store: Store
  readonly #mistakes: ToyMistakes
  readonly #units: Set<string>
  #seq: number
  #head: string | null
  #queue: Queued[] = []
  #flushing = false
  #poisoned = false

  constructor(store: Store, history: readonly HistoryEntry[], mistakes: ToyMistakes) {
    this.#store = store
    this.#mistakes = mistakes
    this.#units = new Set(history.map(({ unit }) => unit))
    this.#seq = history.length
    this.#head = history.at(-1)?.hash ?? null
  }

  append(unit: string) {
    if (this.#poisoned) throw ledgerError('store.write_failed', { path: 'toy', problem: 'x' })
    const previous = this.#head
    const hash = hashOf(unit, previous)
    const seq = this.#seq
    this.#seq += 1
    this.#head = hash
    this.#units.add(unit)
    const durable = new Promise<void>((done, failed) => {
      this.#queue.push({ entry: { unit, hash, previous }, seq, done, failed })
    })
    durable.catch(() => undefined)
    void this.#flush()
    return { hash, durable: this.#mistakes.acknowledgesEarly ? Promise.resolve() : durable }
  }

  has(unit: string): boolean {
    return !this.#mistakes.forgetsUnits && this.#units.has(unit)
  }

  head(): string | null {
    return this.#head
  }

  history(): Promise<readonly HistoryEntry[]> {
    return readHistory(this.#store, this.#mistakes)
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  async #flush(): Promise<void> {
    if (this.#flushing) return
    this.#flushing = true
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0)
      try {
        if (this.#poisoned) throw ledgerError('store.closed', { path: 'toy' })
        for (const items of this.#commits(batch)) await this.#store.commit(items)
        for (const { done } of batch) done()
      } catch (error) {
        if (!this.#mistakes.goesOn) this.#poisoned = true
        for (const { failed } of batch) failed(error)
      }
    }
    this.#flushing = false
  }

  #commits(batch: readonly Queued[]): readonly (readonly StoreItem[])[] {
    const receipts = batch.map(({ entry, seq }) => put(receiptKey(seq), entry))
    const last = batch.at(-1)
    const head = put('head', { seq: last?.seq, hash: last?.entry.hash })
    if (this.#mistakes.separateWrites) return [receipts, [head]]
    return [[...receipts, head]]
  }
}

async function readHistory(store: Store, mistakes: ToyMistakes): Promise<readonly HistoryEntry[]> {
  const history: HistoryEntry[] = []
  let previous: string | null = null
  for await (const [key, value] of store.entries({ gte: 'receipt/', lt: 'receipt0' })) {
    const entry = JSON.parse(unwrapText(key, value)) as HistoryEntry
    if (!mistakes.believes) {
      if (key !== receiptKey(history.length)) throw corrupt(key, 'a receipt is missing')
      if (entry.previous !== previous) throw corrupt(key, 'the link is broken')
      if (entry.hash !== hashOf(entry.unit, entry.previous)) throw corrupt(key, 'the hash differs')
    }
    previous = entry.hash
    history.push(entry)
  }
  const head = store.get('head')
  const expected = history.length === 0 ? null : previous
  const found = head === undefined ? null : JSON.parse(unwrapText('head', head)).hash
  if (found !== expected && !mistakes.believes) throw corrupt('head', 'it is not the last receipt')
  return history
}

function hashOf(unit: string, previous: string | null): string {
  return sha256Hex(`${previous}|${unit}`)
}

function receiptKey(seq: number): string {
  return `receipt/${String(seq).padStart(8, '0')}`
}

function put(key: string, value: unknown): StoreItem {
  return { puts: [[key, wrapValue(key, JSON.stringify(value))]], deletes: [] }
}

function corrupt(key: string, problem: string): TallyError {
  return ledgerError('ledger.corrupt', { key, problem })
}
