import type { JournalEntry, UnfinishedJournals } from '../block/index.js'
import type { RunId } from '../core/index.js'
import type { Ledger } from '../ledger/index.js'
import { isEnded } from './known.js'
import type { Registry } from './registry.js'

/**
 * Tells providers what earlier processes have left unfinished, before this one does anything: a
 * giver of nonces, for one, has to know which of them are taken (semantics.md W11).
 *
 * Owns: whether that was done. When it fails, whatever waited for it fails, and the next try asks
 * again.
 */
export class LeftBehind {
  readonly #ledger: Pick<Ledger, 'runs' | 'journal'>
  readonly #registry: Pick<Registry, 'recovering'>
  #telling: Promise<void> | undefined
  #isTold: boolean

  constructor(options: {
    readonly ledger: Pick<Ledger, 'runs' | 'journal'>
    readonly registry: Pick<Registry, 'recovering'>
  }) {
    this.#ledger = options.ledger
    this.#registry = options.registry
    this.#isTold = this.#registry.recovering().length === 0
  }

  /** Undefined when there is nothing to wait for. */
  told(): Promise<void> | undefined {
    if (this.#isTold) return undefined
    this.#telling ??= this.#tell().finally(() => {
      this.#telling = undefined
    })
    return this.#telling
  }

  async #tell(): Promise<void> {
    for (const provider of this.#registry.recovering()) {
      await provider.recover?.(this.#unfinished())
    }
    this.#isTold = true
  }

  async *#unfinished(): UnfinishedJournals {
    for await (const record of this.#ledger.runs()) {
      if (!isEnded(record)) yield await this.#entries(record.runId)
    }
  }

  async #entries(runId: RunId): Promise<readonly JournalEntry[]> {
    const entries: JournalEntry[] = []
    for await (const { value } of this.#ledger.journal(runId)) {
      // The journal gives back what the pump has written.
      entries.push(value as unknown as JournalEntry)
    }
    return entries
  }
}
