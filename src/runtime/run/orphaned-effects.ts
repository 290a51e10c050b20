import type { JournalEntry, UnfinishedJournals } from '../../block/index.js'
import { canonicalString, type RunId } from '../../core/index.js'
import type { Ledger } from '../../ledger/index.js'
import type { Registry } from '../code/registry.js'

/**
 * Tells providers what earlier processes have left unfinished, before this one does anything: a
 * giver of nonces, for one, has to know which of them are taken (semantics.md W11).
 *
 * Owns: whether that was done. When it fails, what waited for it fails, and the next try asks
 * again.
 */
export class OrphanedEffects {
  readonly #ledger: Pick<Ledger, 'openRuns' | 'journals'>
  readonly #registry: Pick<Registry, 'recovering'>
  #announcing: Promise<void> | undefined
  #isAnnounced: boolean

  constructor(options: {
    readonly ledger: Pick<Ledger, 'openRuns' | 'journals'>
    readonly registry: Pick<Registry, 'recovering'>
  }) {
    this.#ledger = options.ledger
    this.#registry = options.registry
    this.#isAnnounced = this.#registry.recovering().length === 0
  }

  /** Undefined when there is nothing to wait for. */
  announced(): Promise<void> | undefined {
    if (this.#isAnnounced) return undefined
    this.#announcing ??= this.#announce().finally(() => {
      this.#announcing = undefined
    })
    return this.#announcing
  }

  async #announce(): Promise<void> {
    const unfinished = Array.from(this.#ledger.openRuns(), ({ runId }) => runId)
    for (const provider of this.#registry.recovering()) {
      await provider.recover?.(this.#journals(unfinished, provider.recoversFrom))
    }
    this.#isAnnounced = true
  }

  async *#journals(
    runIds: readonly RunId[],
    effects: readonly string[] | undefined
  ): UnfinishedJournals {
    const texts = effects?.map((name) => `"effect":${canonicalString(name)}`) ?? ['']
    for await (const journal of this.#ledger.journals(runIds, texts)) {
      // The journal gives back what the pump has written.
      const entries = journal.map(({ value }) => value as unknown as JournalEntry)
      // The text may stand in some payload, too.
      const own = effects === undefined ? entries : entries.filter((entry) => isOf(entry, effects))
      if (own.length > 0) yield own
    }
  }
}

function isOf(entry: JournalEntry, effects: readonly string[]): boolean {
  return (entry.k === 'requested' || entry.k === 'sealed') && effects.includes(entry.effect)
}
