import { chainJournal, type Hash, isHash, type RunId } from '../../core/index.js'
import { newsIn } from '../derived/run-records.js'
import type { Evidence, Receipt } from '../receipt/receipt.js'
import type { RecordItem } from '../record/record.js'

/**
 * Compares what receipts and evidence say of the journals of their runs with the journals (L12).
 * Owns: the hash of each journal whose run has not ended.
 */
export class JournalHashes {
  readonly #hashes = new Map<RunId, string>()

  /** What is wrong with an item; undefined where every signed hash is that of its lines. */
  add(item: RecordItem): string | undefined {
    const { runId, entries } = item
    let hash = this.#hashes.get(runId) ?? ''
    const before: string[] = []
    for (const entry of entries) {
      before.push(hash)
      hash = chainJournal(hash, entry)
    }
    const isOver = newsIn(entries).some(({ kind }) => kind === 'run.finished')
    if (isOver) this.#hashes.delete(runId)
    else this.#hashes.set(runId, hash)
    // Each covers the journal up to an entry of its item, as a rule the last one.
    const signed = signedHash(item)
    if (signed === undefined || before.includes(signed)) return undefined
    const computed = before.at(-1) ?? hash
    return `the journal of run ${runId} is another one: signed ${signed}, computed ${computed}`
  }
}

function signedHash({ receipt, evidence }: RecordItem): Hash | undefined {
  if (evidence !== undefined) return (JSON.parse(evidence) as Evidence).journalHash
  if (receipt === undefined) return undefined
  const { inputPayload } = JSON.parse(receipt.text) as Receipt
  // A caller may name an intent, and members of its payload, in any way; its step is never 0.
  const { action, run } = inputPayload
  if (action !== 'run.completed' || run?.path !== 'root' || run.step !== 0) return undefined
  const { journalHash } = inputPayload.payload as { readonly journalHash?: unknown }
  return isHash(journalHash) ? journalHash : undefined
}
