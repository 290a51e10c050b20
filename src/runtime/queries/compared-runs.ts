import { limits, type RunId } from '../../core/index.js'
import type { JournalEntry, Ledger, RunRecord } from '../../ledger/index.js'
import { endingUnit } from '../run/run-records.js'
import { checkStarted, checkView, comparedJournal } from '../run/shown.js'

export interface ComparedParts {
  readonly ledger: Pick<
    Ledger,
    'run' | 'unit' | 'journal' | 'journalParts' | 'authenticate' | 'hasKey'
  >
  isLive(id: RunId): boolean
}

/**
 * Journals as they are signed, each compared with what authenticates it once for as many entries as
 * it has, by whatever asks first (Q3). One that moves in this process was, by its pump.
 *
 * Owns: which runs were compared, at most `CACHE_ENTRIES_MAX`. Does not own: what is made of them.
 */
export class ComparedRuns {
  readonly #parts: ComparedParts
  /** With how many entries each was compared, the last asked for last. */
  readonly #entries = new Map<RunId, number>()

  constructor(parts: ComparedParts) {
    this.#parts = parts
  }

  /**
   * The entries of a journal from a place on whose text is meant, in parts. Nothing made of them is
   * to be shown before the last one was taken: throws the codes of what is not as signed, at the
   * latest behind it. Entries that are not meant, and those before the place, may come too.
   */
  async *journal(
    record: RunRecord,
    from = 0,
    isMeant?: (text: string) => boolean
  ): AsyncGenerator<readonly JournalEntry[]> {
    const { ledger } = this.#parts
    if (!this.isCompared(record)) {
      yield* comparedJournal(ledger, record, await ledger.unit(endingUnit(record)))
      this.#note(record)
    } else if (isMeant === undefined) yield* ledger.journalParts(record.runId, from)
    else {
      for await (const entry of ledger.journal(record.runId, from, isMeant)) yield [entry]
    }
  }

  /** Compares how a run began: a code is soon behind its first entry. */
  async checkBeginning(record: RunRecord): Promise<void> {
    if (this.isCompared(record)) return
    const { ledger } = this.#parts
    if (await checkStarted(ledger, record)) return
    await checkView(ledger, record, await ledger.unit(endingUnit(record)))
    this.#note(record)
  }

  isCompared({ runId, entries }: RunRecord): boolean {
    return this.#parts.isLive(runId) || this.#entries.get(runId) === entries
  }

  #note({ runId, entries }: RunRecord): void {
    this.#entries.delete(runId)
    this.#entries.set(runId, entries)
    const [oldest = runId] = this.#entries.keys()
    if (this.#entries.size > limits.CACHE_ENTRIES_MAX) this.#entries.delete(oldest)
  }
}
