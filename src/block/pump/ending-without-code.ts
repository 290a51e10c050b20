import type { Response } from '../../code/index.js'
import { assert, blockError, type Hash, type Json, type RunId } from '../../core/index.js'
import { cancelledResponse } from '../chart/chart-run.js'
import type { RecordedEntry } from '../recovery/recovery.js'
import { cancelDraft, finishedDraft, resumedDraft } from '../run/drafts.js'
import { runEvidence } from '../run/evidence.js'
import type { Position } from '../run/journal.js'
import { RunTotals } from '../run/run-state.js'
import { SentEffects } from '../run/sent-effects.js'
import { bare } from '../run/unit.js'
import type { PumpHost } from './host.js'
import { JournalWriter } from './journal-writer.js'

/** How a run ended that nothing drives any more. */
export interface EndedWithoutCode {
  readonly response: Response
  /** Up to where the ledger must be durable before any event leaves. */
  readonly position: Position
}

/**
 * A run that is cancelled without its code: its journal is read, its charts are not, so that it
 * ends whatever has become of the blocks and documents that it names. Nothing is performed and
 * nothing undone; evidence says what landed outside and what is in doubt.
 *
 * Owns: the totals of the run's journal. Does not own: whether anything else drives the run.
 */
export class EndingWithoutCode {
  readonly #totals: RunTotals
  readonly #writer: JournalWriter
  readonly #sent = new SentEffects()
  #isParked = false

  constructor(runId: RunId, host: PumpHost) {
    this.#totals = new RunTotals(runId)
    this.#writer = new JournalWriter(this.#totals, host)
  }

  /** Entries that were taken. */
  get entries(): number {
    return this.#totals.entries
  }

  /** Takes the next entry of the journal. */
  take(recorded: RecordedEntry): void {
    const { entry, receiptHash } = recorded
    this.#writer.recover(recorded)
    this.#sent.take(entry, receiptHash !== undefined)
    if (entry.k === 'run.started') this.#totals.started = entry
    this.#isParked = entry.k === 'run.waiting'
  }

  /**
   * Appends the end, in one item. Throws `run.journal_forged` for a journal that this ledger has
   * not written.
   */
  end(reason: string, by: Json): EndedWithoutCode {
    const writer = this.#writer
    const { runId, started } = this.#totals
    if (started === undefined) throw blockError('run.not_found', { runId })
    writer.checkRecovered()
    const at = writer.now()
    if (this.#isParked) writer.hold(resumedDraft(this.#totals, at))
    writer.hold(cancelDraft({ at, reason, by }, { withoutCode: true }))
    const response = bare(cancelledResponse({ type: 'block.cancel', reason, at }))
    const journalHash = this.#totals.journalHash as Hash
    const end = { at, status: 'cancelled', response, journalHash } as const
    const finished = finishedDraft(this.#totals, end)
    // Nothing tells what its code keeps private.
    const evidence = runEvidence(started, finished, this.#sent, true)
    assert(writer.record(finished, { evidence }), 'the end of a run reads nothing')
    const { position } = writer
    writer.emit({ type: 'run.finished', runId, at, status: 'cancelled', response })
    return { response, position }
  }
}
