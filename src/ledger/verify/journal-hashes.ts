import { chainJournal, type Hash, isHash, type JsonObject, type RunId } from '../../core/index.js'
import type { FieldProblem } from '../receipt/parse.js'
import type { Receipt } from '../receipt/receipt.js'
import type { ReadItem } from '../subject/cipher.js'
import type { VerificationKey } from './key.js'
import type { VerificationFailure } from './report.js'
import { type BesideEnd, endProblem } from './run-end.js'

/**
 * Compares what receipts and evidence say of the journals of their runs with the journals, and,
 * with the key, journals that nothing signs yet with their codes (L12).
 * Owns: the hash of each journal whose run has not ended, which of these are being cancelled, and
 * where one is first not what the ledger wrote.
 */
export class JournalHashes {
  readonly #hashes = new Map<RunId, string>()
  readonly #cancelled = new Set<RunId>()
  readonly #forged = new Map<RunId, VerificationFailure>()
  /** The run that ends with the item that was taken last. */
  #ended: RunId | undefined
  readonly #key: VerificationKey | undefined

  constructor(key: VerificationKey | undefined) {
    this.#key = key
  }

  /** Of runs that are open as far as was read: the first item that the ledger has not written. */
  get forged(): VerificationFailure | undefined {
    return this.#forged.values().next().value
  }

  /** In words, without the key: nothing signs the journals of runs that have not ended. */
  notChecked(): readonly string[] {
    const open = this.#hashes.size
    if (this.#key !== undefined || open === 0) return []
    const journals = open === 1 ? 'journal of 1 open run' : `journals of ${open} open runs`
    return [`${journals}: what authenticates it needs the blob key`]
  }

  /** The item that was taken last is as it was signed: a run that has ended needs no code. */
  passed(): void {
    if (this.#ended !== undefined) this.#forged.delete(this.#ended)
    this.#ended = undefined
  }

  /** Takes the lines of an item; `kinds` are those of the entries, `place` that of the item. */
  take(
    { runId, entries, mac, closedBy }: ReadItem,
    kinds: readonly string[],
    place: Pick<VerificationFailure, 'commit' | 'index'>
  ): JournalLines {
    if (closedBy !== undefined) return closedLines
    let hash = this.#hashes.get(runId) ?? ''
    const before: string[] = []
    for (const entry of entries) {
      before.push(hash)
      hash = chainJournal(hash, entry)
    }
    const isOurs = entries.length === 0 || (this.#key?.authenticate(hash as Hash) ?? mac) === mac
    if (!isOurs && !this.#forged.has(runId)) {
      // The right code is not for those who read reports.
      const found = { signed: mac ?? 'none', computed: 'another code', key: runId }
      this.#forged.set(runId, { ...place, field: 'journal.code', ...found })
    }
    let end: JsonObject | undefined
    for (const [index, kind] of kinds.entries()) {
      if (kind === 'cancel') this.#cancelled.add(runId)
      else if (kind === 'run.finished') end = JSON.parse(entries[index] ?? '') as JsonObject
    }
    if (end === undefined) {
      if (entries.length > 0) this.#hashes.set(runId, hash)
      return new CheckedLines(before)
    }
    this.#hashes.delete(runId)
    this.#ended = runId
    return new CheckedLines(before, { entry: end, isCancelled: this.#cancelled.delete(runId) })
  }
}

/** The last entry of a run, and whether a caller had asked to cancel it. */
interface RunEnd {
  readonly entry: JsonObject
  readonly isCancelled: boolean
}

/** What is compared with the journal lines of one item. */
export interface JournalLines {
  problem(signed: Hash | undefined): FieldProblem | undefined
  endProblem(beside: BesideEnd): FieldProblem | undefined
}

/** Journal lines of one item: hashes of the journal before each of them. */
class CheckedLines implements JournalLines {
  readonly #before: readonly string[]
  readonly #end: RunEnd | undefined

  constructor(before: readonly string[], end?: RunEnd) {
    this.#before = before
    this.#end = end
  }

  /**
   * What is wrong with a signed hash: it covers the journal up to one of the lines, and stands
   * beside the end of the run.
   */
  problem(signed: Hash | undefined): FieldProblem | undefined {
    if (signed === undefined) return undefined
    if (!this.#before.includes(signed)) {
      return { field: 'journalHash', signed, computed: this.#before.at(-1) ?? 'no journal' }
    }
    if (this.#end !== undefined) return undefined
    return { field: 'journal.k', signed: 'run.finished', computed: 'no end of the run' }
  }

  /** What the last entry of the run says otherwise than its journal, and the record beside it. */
  endProblem(beside: BesideEnd): FieldProblem | undefined {
    if (this.#end === undefined) return undefined
    const before = this.#before.at(-1) ?? 'no journal'
    return endProblem(this.#end.entry, { ...this.#end, before }, beside)
  }
}

/** Those of a run whose key is not here: nothing can be said of them. */
const closedLines: JournalLines = {
  problem: () => undefined,
  endProblem: () => undefined
}

/** Hash of a journal that a receipt signs. */
export function signedJournal({ inputPayload }: Receipt): Hash | undefined {
  const { action, run, payload } = inputPayload
  // A caller may name an intent, and members of its payload, in any way; its step is never 0.
  if (action !== 'run.completed' || run?.path !== 'root' || run.step !== 0) return undefined
  const { journalHash } = payload as { readonly journalHash?: unknown }
  return isHash(journalHash) ? journalHash : undefined
}
