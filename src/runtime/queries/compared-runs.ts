import { limits, type RunId } from '../../core/index.js'
import type { JournalEntry, Ledger, RunRecord } from '../../ledger/index.js'
import { endingUnit } from '../run/run-records.js'
import { checkStarted, comparedJournal, ReadJournal } from '../run/shown.js'

export interface ComparedParts {
  readonly ledger: Pick<
    Ledger,
    'run' | 'unit' | 'journal' | 'journalParts' | 'authenticate' | 'hasKey'
  >
  isLive(id: RunId): boolean
}

/** Which entries of a journal are meant. */
export interface MeantEntries {
  /** The first one; default: that of the beginning. */
  readonly from?: number
  /** The last one; default: that of the end. */
  readonly through?: number
  /** Whether one is, by its text. */
  readonly isMeant?: (text: string) => boolean
}

/**
 * Journals as they are signed: each entry is compared with what authenticates it once, by whatever
 * asks for it first (Q3). Those of a run that moves in this process were, by its pump.
 *
 * Owns: how far runs were compared, and what their journals had come to there; at most
 * `CACHE_ENTRIES_MAX`. Does not own: what is made of them.
 */
export class ComparedRuns {
  readonly #parts: ComparedParts
  /** Where the comparison of each stands, the last asked for last. */
  readonly #places = new Map<RunId, ReadJournal>()

  constructor(parts: ComparedParts) {
    this.#parts = parts
  }

  /**
   * The entries of a journal that are meant, in parts. Nothing made of them is to be shown before
   * the last one was taken: throws the codes of what is not as signed, at the latest behind it.
   * Entries that are not meant may come too.
   */
  async *journal(
    record: RunRecord,
    { from = 0, through = record.entries - 1, isMeant }: MeantEntries = {}
  ): AsyncGenerator<readonly JournalEntry[]> {
    const { ledger } = this.#parts
    if (!this.isCompared(record, through)) {
      const compared = this.#places.get(record.runId)?.copy() ?? new ReadJournal()
      const completed = () => ledger.unit(endingUnit(record))
      const asked = { compared, from, through, completed }
      if (yield* comparedJournal(ledger, record, asked)) this.#note(record.runId, compared)
    } else if (isMeant === undefined) yield* ledger.journalParts(record.runId, from)
    else {
      for await (const entry of ledger.journal(record.runId, from, isMeant)) yield [entry]
    }
  }

  /** Compares how a run began: a code is soon behind its first entry. */
  async checkBeginning(record: RunRecord): Promise<void> {
    if (this.isCompared(record, 0)) return
    if (await checkStarted(this.#parts.ledger, record)) return
    for await (const _ of this.journal(record));
  }

  /** Whether the entries through one, by default the last, were compared. */
  isCompared({ runId, entries }: RunRecord, through = entries - 1): boolean {
    return this.#parts.isLive(runId) || (this.#places.get(runId)?.entries ?? 0) > through
  }

  #note(runId: RunId, compared: ReadJournal): void {
    const known = this.#places.get(runId)
    this.#places.delete(runId)
    const isFarther = known === undefined || known.entries < compared.entries
    this.#places.set(runId, isFarther ? compared : known)
    const [oldest = runId] = this.#places.keys()
    if (this.#places.size > limits.CACHE_ENTRIES_MAX) this.#places.delete(oldest)
  }
}
