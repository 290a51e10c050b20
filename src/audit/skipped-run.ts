import { differing, type Finding, firstOf, type JournalEntry } from '../block/index.js'
import { chainJournal, isJsonObject, type Json } from '../core/index.js'
import type { VerifiedReceipt } from '../ledger/index.js'

/**
 * A run that is not done again, for a reason that goes into the report. What can be checked without
 * its code still is: its last entry, and its receipt, commit to all entries before them.
 *
 * Owns: the hash chain over its entries.
 */
export class SkippedRun {
  readonly kind = 'skipped'
  readonly why: string
  #journalHash = ''
  #definitionHash: Json = null

  constructor(why: string) {
    this.why = why
  }

  take(entry: JournalEntry, text: string): Finding | undefined {
    if (entry.k === 'run.started') this.#definitionHash = entry.definitionHash
    if (entry.k === 'run.finished') {
      return differing('journal.journalHash', this.#journalHash, entry.journalHash)
    }
    this.#journalHash = chainJournal(this.#journalHash, text)
    return undefined
  }

  /** Whether the receipt that ends it is of this journal. */
  ends({ receipt, payloadText }: VerifiedReceipt): Finding | undefined {
    if (receipt.intent !== 'run.completed' || payloadText === undefined) return undefined
    const payload = JSON.parse(payloadText) as Json
    const { journalHash = null, definitionHash = null } = isJsonObject(payload) ? payload : {}
    return firstOf(
      differing('payload.journalHash', this.#journalHash, journalHash),
      differing('payload.definitionHash', this.#definitionHash, definitionHash)
    )
  }
}
