import { chainJournal, type Hash, isHash, type Json, type RunId } from '../../core/index.js'
import type { FieldProblem } from '../receipt/parse.js'
import type { Receipt } from '../receipt/receipt.js'
import type { RecordItem } from '../record/record.js'

/**
 * Compares what receipts and evidence say of the journals of their runs with the journals (L12).
 * Owns: the hash of each journal whose run has not ended.
 */
export class JournalHashes {
  readonly #hashes = new Map<RunId, string>()

  /** Takes the lines of an item, as text and as they were read. */
  take({ runId, entries }: RecordItem, values: readonly Json[]): JournalLines {
    let hash = this.#hashes.get(runId) ?? ''
    const before: string[] = []
    for (const entry of entries) {
      before.push(hash)
      hash = chainJournal(hash, entry)
    }
    if (values.some(isEnd)) this.#hashes.delete(runId)
    else if (entries.length > 0) this.#hashes.set(runId, hash)
    return new JournalLines(before)
  }
}

function isEnd(value: Json): boolean {
  return (value as { readonly k?: unknown }).k === 'run.finished'
}

/** Journal lines of one item: hashes of the journal before each of them. */
export class JournalLines {
  readonly #before: readonly string[]

  constructor(before: readonly string[]) {
    this.#before = before
  }

  /** What is wrong with a signed hash; it covers the journal up to one of the lines. */
  problem(signed: Hash | undefined): FieldProblem | undefined {
    if (signed === undefined || this.#before.includes(signed)) return undefined
    return { field: 'journalHash', signed, computed: this.#before.at(-1) ?? 'no journal' }
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
