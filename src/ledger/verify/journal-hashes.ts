import { chainJournal, type Hash, isHash, type Json, type RunId } from '../../core/index.js'
import type { FieldProblem } from '../receipt/parse.js'
import type { Receipt } from '../receipt/receipt.js'
import type { RecordItem } from '../record/record.js'
import { type BesideEnd, endProblem } from './run-end.js'

/**
 * Compares what receipts and evidence say of the journals of their runs with the journals (L12).
 * Owns: the hash of each journal whose run has not ended, and which of these are being cancelled.
 */
export class JournalHashes {
  readonly #hashes = new Map<RunId, string>()
  readonly #cancelled = new Set<RunId>()

  /** Takes the lines of an item; `kinds` are those of the entries. */
  take({ runId, entries }: RecordItem, kinds: readonly string[]): JournalLines {
    let hash = this.#hashes.get(runId) ?? ''
    const before: string[] = []
    for (const entry of entries) {
      before.push(hash)
      hash = chainJournal(hash, entry)
    }
    let end: Json | undefined
    for (const [index, kind] of kinds.entries()) {
      if (kind === 'cancel') this.#cancelled.add(runId)
      else if (kind === 'run.finished') end = JSON.parse(entries[index] ?? '') as Json
    }
    if (end === undefined) {
      if (entries.length > 0) this.#hashes.set(runId, hash)
      return new JournalLines(before)
    }
    this.#hashes.delete(runId)
    return new JournalLines(before, { entry: end, isCancelled: this.#cancelled.delete(runId) })
  }
}

/** The last entry of a run, and whether a caller had asked to cancel it. */
interface RunEnd {
  readonly entry: Json
  readonly isCancelled: boolean
}

/** Journal lines of one item: hashes of the journal before each of them. */
export class JournalLines {
  readonly #before: readonly string[]
  readonly #end: RunEnd | undefined

  constructor(before: readonly string[], end?: RunEnd) {
    this.#before = before
    this.#end = end
  }

  /** What is wrong with a signed hash; it covers the journal up to one of the lines. */
  problem(signed: Hash | undefined): FieldProblem | undefined {
    if (signed === undefined || this.#before.includes(signed)) return undefined
    return { field: 'journalHash', signed, computed: this.#before.at(-1) ?? 'no journal' }
  }

  /** What the last entry of the run says otherwise than the record beside it. */
  endProblem(beside: BesideEnd): FieldProblem | undefined {
    return this.#end && endProblem(this.#end.entry, this.#end, beside)
  }
}

/** Hash of a journal that a receipt signs. */
export function signedJournal({ inputPayload }: Receipt): Hash | undefined {
  const { action, run, payload } = inputPayload
  // A caller may name an intent, and members of its payload, in any way; its step is never 0.
  if (action !== 'run.completed' || run?.path !== 'root' || run.step !== 0) return undefined
  const { journalHash } = payload as { readonly journalHash?: unknown }
  return isHash(journalHash) ? journalHash : undefined
}
