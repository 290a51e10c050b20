import {
  canonicalize,
  type IdentityId,
  isJsonObject,
  type JsonObject,
  ledgerError,
  type RunId,
  type TallyError
} from '../../core/index.js'
import { corrupt, type RecordItem } from '../record/record.js'
import { decryptText, encryptText, keyOfText } from './encrypted-text.js'
import type { SubjectId, SubjectKeys } from './subject-keys.js'

/** How an encrypted entry begins: no other has a member of that name. */
const MARK = '{"$encrypted":"'
/** What of an entry stays in clear: what the ledger itself reads, and what lists show of a run. */
const clearMembers = ['at', 'definitionHash', 'k', 'n', 'name', 'principal', 'run', 'status']

/** Whether an entry is stored under the key of a subject. */
export function isEncrypted(entry: string): boolean {
  return entry.startsWith(MARK)
}

/** Under whose key a run is stored, by its first entry. */
export function subjectOf(started: JsonObject | undefined): SubjectId | undefined {
  const { $encrypted } = started ?? {}
  return typeof $encrypted === 'string' ? keyOfText($encrypted)?.id : undefined
}

/** What is said of something whose key is not here. */
export function erased(what: string): TallyError {
  return ledgerError('ledger.erased', { what })
}

/** An item of a commit record as it is read: `closedBy`, where the key to it is not here. */
export interface ReadItem extends RecordItem {
  readonly closedBy?: SubjectId
  /** It was under a key: it has all bodies that its records name, those from before as well. */
  readonly isOpened?: true
}

/** What a run's record has of its entries. */
interface RecordOfRun {
  readonly runId: RunId
  readonly started: JsonObject
  readonly last: JsonObject
}

/** What is said of a record once it is read. */
interface ReadRecord {
  readonly isErased?: true
  readonly subject?: SubjectId
}

/**
 * Writes and reads what runs with a subject keep (docs/spec/subjects.md): entries of the journal
 * and bodies, under a key that can be destroyed. Everything outside this file sees plain texts, or
 * that there are none.
 */
export class SubjectCipher {
  readonly #identity: IdentityId
  readonly #keys: SubjectKeys | undefined

  constructor(identity: IdentityId, keys: SubjectKeys | undefined) {
    this.#identity = identity
    this.#keys = keys
  }

  /** Throws `ledger.no_subject_key` where it was not made, or was destroyed. */
  encryptEntry(id: SubjectId, runId: RunId, text: string): string {
    const entry = JSON.parse(text) as JsonObject
    const place = this.#entryPlace(runId, entry['n'])
    return storedEntry(entry, encryptText(this.#keyOf(id), id, place, text))
  }

  encryptBody(id: SubjectId, runId: RunId, text: string): string {
    return encryptText(this.#keyOf(id), id, this.#bodyPlace(runId), text)
  }

  /** What a schedule begins; `name` is the schedule's. */
  encryptSchedule(id: SubjectId, name: string, text: string): string {
    return encryptText(this.#keyOf(id), id, this.#schedulePlace(name), text)
  }

  /** What it begins; undefined without the key. Throws `ledger.corrupt`. */
  openSchedule(name: string, encrypted: string): string | undefined {
    const key = `schedule ${name}`
    const { subjectKey } = this.#keyTo(key, encrypted)
    const place = this.#schedulePlace(name)
    return subjectKey && required(key, decryptText(subjectKey, place, encrypted))
  }

  /** The text of an entry; undefined without the key. Throws `ledger.corrupt`. */
  openEntry(key: string, runId: RunId, text: string): string | undefined {
    if (!isEncrypted(text)) return text
    const { subjectKey } = this.#keyTo(key, encryptedIn(text) ?? '')
    return subjectKey && this.#entry(key, runId, { subjectKey, text })
  }

  /**
   * An item with its texts; `key` is that of its commit record. Throws `ledger.corrupt` for what
   * was not encrypted here.
   */
  open(key: string, item: RecordItem): ReadItem {
    const [first] = item.encrypted
    const isPlain = first === undefined && !item.entries.some(isEncrypted)
    if (isPlain) return item
    const { runId, blobs, largeBlobs } = item
    if (blobs.length + largeBlobs.length > 0) {
      throw corrupt(key, 'a body of a run with a subject is in clear')
    }
    const inEntries = item.entries.map(encryptedIn).filter((text) => text !== undefined)
    const texts = [...inEntries, ...item.encrypted]
    const { id, subjectKey } = this.#keyTo(key, texts[0] ?? '')
    if (subjectKey === undefined) return { ...item, encrypted: [], closedBy: id }
    const bodies = item.encrypted.map((text) => {
      return required(key, decryptText(subjectKey, this.#bodyPlace(runId), text))
    })
    const entries = item.entries.map((text) => this.#entry(key, runId, { subjectKey, text }))
    return { ...item, entries, blobs: bodies, encrypted: [], isOpened: true }
  }

  /** A run's record with its entries; as it is stored, and `isErased`, without the key. */
  openRecord<StoredRecord extends RecordOfRun>(
    key: string,
    record: StoredRecord
  ): StoredRecord & ReadRecord {
    const { $encrypted } = record.started
    if (typeof $encrypted !== 'string') return record
    const { id: subject, subjectKey } = this.#keyTo(key, $encrypted)
    if (subjectKey === undefined) return { ...record, subject, isErased: true }
    const read = (entry: JsonObject) => {
      const text = canonicalize(entry)
      return parsed(key, this.#entry(key, record.runId, { subjectKey, text }))
    }
    const started = read(record.started)
    const last = record.last === record.started ? started : read(record.last)
    return { ...record, subject, started, last }
  }

  #entry(
    key: string,
    runId: RunId,
    { subjectKey, text }: { readonly subjectKey: Uint8Array; readonly text: string }
  ): string {
    const encrypted = encryptedIn(text)
    if (encrypted === undefined) {
      throw corrupt(key, 'an entry of a run with a subject is not encrypted')
    }
    const { n } = parsed(key, text)
    if (typeof n !== 'number') throw corrupt(key, 'an encrypted entry has no number')
    const place = this.#entryPlace(runId, n)
    const plain = required(key, decryptText(subjectKey, place, encrypted))
    if (storedEntry(parsed(key, plain), encrypted) === text) return plain
    throw corrupt(key, 'an encrypted entry says something else in clear')
  }

  /** The key that a text is under, where it is here. */
  #keyTo(
    key: string,
    text: string
  ): { readonly id: SubjectId; readonly subjectKey: Uint8Array | undefined } {
    const named = keyOfText(text)
    if (named === undefined) throw corrupt(key, 'an encrypted text names no key')
    const found = this.#keys?.get(named.id)
    const subjectKey = found !== undefined && named.isKey(found) ? found : undefined
    return { id: named.id, subjectKey }
  }

  #keyOf(id: SubjectId): Uint8Array {
    const key = this.#keys?.get(id)
    if (key === undefined) throw ledgerError('ledger.no_subject_key', {})
    return key
  }

  #entryPlace(runId: RunId, n: unknown): string {
    return `${this.#identity}\n${runId}\nentry\n${String(n)}`
  }

  #bodyPlace(runId: RunId): string {
    return `${this.#identity}\n${runId}\nbody`
  }

  #schedulePlace(name: string): string {
    return `${this.#identity}\n${name}\nschedule`
  }
}

/** An entry as it is stored: canonical JSON too. */
function storedEntry(entry: JsonObject, encrypted: string): string {
  const clear = clearMembers.flatMap((name) => {
    const value = entry[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return canonicalize({ $encrypted: encrypted, ...Object.fromEntries(clear) })
}

function parsed(key: string, entry: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(entry)
  } catch {
    throw corrupt(key, 'an entry of a run with a subject is no JSON')
  }
  if (isJsonObject(value)) return value
  throw corrupt(key, 'an entry of a run with a subject is no object')
}

function encryptedIn(entry: string): string | undefined {
  if (!isEncrypted(entry)) return undefined
  return entry.slice(MARK.length, entry.indexOf('"', MARK.length))
}

function required(key: string, text: string | undefined): string {
  if (text !== undefined) return text
  throw corrupt(key, 'an encrypted text was altered, or is of another place')
}
