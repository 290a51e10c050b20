import {
  CompactRange,
  type Hash,
  type KnownTexts,
  leafNode,
  type RunId,
  TallyError
} from '../../core/index.js'
import type { Appended, EvidenceDraft, Position, UnitDraft } from '../journal.js'
import {
  chainJournal,
  type EntryDraft,
  encodeEntry,
  encodeSuccess,
  type JournalEntry
} from './entries.js'
import type { PumpHost, RunCheckpoint } from './host.js'

/** An entry as the journal gives it back, with the receipt that it completed. */
export interface RecordedEntry {
  readonly entry: JournalEntry
  readonly text: string
  readonly receiptHash: Hash | undefined
  readonly mac: Hash | undefined
}

type Written =
  | { readonly ok: true; readonly entry: JournalEntry; readonly receiptHash: Hash | undefined }
  | { readonly ok: false; readonly conflict: string }

/** What an entry completes, and what of its text is known. */
interface Completed {
  readonly unit?: UnitDraft
  readonly evidence?: EvidenceDraft
  /** Canonical text of the data of a step that succeeded, without an overlay. */
  readonly dataText?: string
  readonly known?: KnownTexts
}

/**
 * The running totals of one run's journal: entry numbers, logical time, hash chain, node receipts.
 *
 * Invariants: entry numbers have no gaps; `at` never goes back (K7); the hash chain covers every
 * entry.
 */
export class RunBook {
  readonly runId: RunId
  readonly #host: PumpHost
  #mac: Hash | undefined
  #entries = 0
  #at = 0
  #journalHash = ''
  #receipts = new CompactRange()
  #position: Position = 0
  #steps = 0

  constructor(runId: RunId, host: PumpHost, saved?: RunCheckpoint) {
    this.runId = runId
    this.#host = host
    if (saved === undefined) return
    this.#entries = saved.entries
    this.#at = saved.at
    this.#journalHash = saved.journalHash
    this.#receipts = new CompactRange(saved.receipts)
    this.#steps = saved.steps
  }

  get entries(): number {
    return this.#entries
  }

  /** Logical time of the last delivery. */
  get at(): number {
    return this.#at
  }

  get journalHash(): Hash {
    return this.#journalHash as Hash
  }

  /** Up to where the ledger must be durable before anything decided here may leave the process. */
  get position(): Position {
    return this.#position
  }

  /** Attempts that have ended, retries included (D7). */
  get steps(): number {
    return this.#steps
  }

  /** Units of work that left a receipt. */
  get units(): number {
    return this.#receipts.size
  }

  get receipts(): { readonly count: number; readonly root: Hash } {
    return { count: this.#receipts.size, root: this.#receipts.root() }
  }

  /** The time that the next entry will carry. */
  now(): number {
    return Math.max(this.#at, this.#host.clock.now())
  }

  /** Appends one entry, with the receipt or the evidence that it completes, as one queue item. */
  append(draft: EntryDraft, more: Completed = {}): Written {
    const entry = { ...draft, run: this.runId, n: this.#entries } as JournalEntry
    const { unit, evidence, dataText, known } = more
    const text =
      entry.k === 'settled' && dataText !== undefined
        ? encodeSuccess(entry, dataText)
        : encodeEntry(entry, known)
    const journalHash = chainJournal(this.#journalHash, text)
    const appended: Appended = this.#host.journal.append({
      runId: this.runId,
      entries: [text],
      mac: this.#host.journal.authenticate(journalHash),
      ...(unit === undefined ? {} : { unit }),
      ...(evidence === undefined ? {} : { evidence })
    })
    if (!appended.ok) return appended
    this.#position = appended.position
    this.#take(entry, journalHash, appended.receiptHash)
    return { ok: true, entry, receiptHash: appended.receiptHash }
  }

  /** Takes over an entry that the journal already has. */
  recover(recorded: RecordedEntry): void {
    const { entry, text, receiptHash } = recorded
    this.#take(entry, chainJournal(this.#journalHash, text), receiptHash)
    this.#mac = recorded.mac
  }

  /**
   * Whether what was recovered is what the holder of the key wrote: the last code covers every
   * entry. Throws `run.journal_forged`: a run never goes on from results that somebody has put
   * there.
   */
  checkRecovered(): void {
    const { journal } = this.#host
    if (this.#mac === journal.authenticate(this.journalHash)) return
    throw new TallyError('run.journal_forged', { runId: this.runId, entry: this.#entries - 1 })
  }

  #take(entry: JournalEntry, journalHash: Hash, receiptHash: Hash | undefined): void {
    this.#entries = entry.n + 1
    if (entry.k === 'settled') this.#steps += 1
    this.#at = entry.at
    this.#journalHash = journalHash
    if (receiptHash !== undefined) this.#receipts.append(leafNode(Buffer.from(receiptHash, 'hex')))
  }

  save(): Pick<RunCheckpoint, 'entries' | 'at' | 'journalHash' | 'receipts' | 'steps'> {
    return {
      entries: this.#entries,
      at: this.#at,
      journalHash: this.#journalHash,
      receipts: this.#receipts.save(),
      steps: this.#steps
    }
  }
}
