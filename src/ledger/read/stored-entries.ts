import type { Hash, Json } from '../../core/index.js'
import type { StoreKeys } from '../keys.js'
import type { JournalEntry } from '../ledger-api.js'
import { corrupt, hasEntryFields, type RecordItem } from '../record/record.js'
import { receiptHashIn } from '../record/slice.js'
import { erased, type ReadItem } from '../subject/cipher.js'

/** Throws `ledger.erased`. */
export function checkOpen({ runId, closedBy }: ReadItem): void {
  if (closedBy !== undefined) throw erased(`Run ${runId}`)
}

/** A journal entry as it is stored, parsed when it is first looked into. */
class StoredEntry {
  readonly text: string
  readonly commitSeq: number
  readonly #keys: StoreKeys
  #parsed: (Pick<JournalEntry, 'n'> & object) | undefined

  constructor(text: string, commitSeq: number, keys: StoreKeys) {
    this.text = text
    this.commitSeq = commitSeq
    this.#keys = keys
  }

  get n(): number {
    return this.#entry().n
  }

  get value(): Json {
    return this.#entry() as unknown as Json
  }

  #entry(): Pick<JournalEntry, 'n'> & object {
    if (this.#parsed !== undefined) return this.#parsed
    const value: unknown = JSON.parse(this.text)
    if (!hasEntryFields(value as Json)) {
      throw corrupt(this.#keys.commit(this.commitSeq), 'a journal entry is malformed')
    }
    this.#parsed = value as Pick<JournalEntry, 'n'> & object
    return this.#parsed
  }
}

/** What an item's last entry has beside it. */
interface Beside {
  mac?: Hash
  receiptHash?: Hash
  evidence?: string
}

/** The entries of an item of a commit record, in order. */
export function storedEntries(
  { entries, receipt, mac, evidence }: RecordItem,
  seq: number,
  keys: StoreKeys
): readonly JournalEntry[] {
  const stored = entries.map((text): StoredEntry & Beside => new StoredEntry(text, seq, keys))
  const last = stored.at(-1)
  if (last === undefined) return stored
  if (mac !== undefined) last.mac = mac
  if (receipt !== undefined) last.receiptHash = receiptHashIn(receipt.text)
  if (evidence !== undefined) last.evidence = evidence
  return stored
}
