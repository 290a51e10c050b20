import {
  assert,
  CompactRange,
  type Hash,
  type KnownTexts,
  leafNode,
  limits,
  type RunEntry,
  type RunId,
  TallyError
} from '../../core/index.js'
import type { Appended, EvidenceDraft, JournalItem, Position, UnitDraft } from '../journal.js'
import {
  chainJournal,
  type EntryDraft,
  encodeEntry,
  encodeSuccess,
  type JournalEntry
} from '../run/entries.js'
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
export interface Completed {
  readonly unit?: UnitDraft
  readonly evidence?: EvidenceDraft
  /** Canonical text of the data of a step that succeeded. */
  readonly dataText?: string
  readonly known?: KnownTexts
  /** State that an entry without a unit rests on (L10). */
  readonly rests?: JournalItem['rests']
}

/**
 * The running totals of one run's journal: entry numbers, logical time, hash chain, node receipts.
 *
 * Owns: entries that are held back until the next one is appended. Does not own: the journal.
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
  #receiptHash: Hash | undefined
  /** Texts of entries that go into the journal with the next one, and those about the run. */
  #held: string[] = []
  #heldNews: RunEntry[] = []
  /** Length of those that were gathered: nothing rests on them before they are handed in. */
  #gathered = 0

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

  /** Hash of the receipt that the last entry completed. */
  get receiptHash(): Hash | undefined {
    return this.#receiptHash
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
    const next = this.#next(draft, more)
    const appended = this.#send([next], more)
    if (!appended.ok) return appended
    this.#take(next.entry, next.journalHash, appended.receiptHash)
    return { ok: true, entry: next.entry, receiptHash: appended.receiptHash }
  }

  /**
   * Takes an entry that goes into the journal together with the next one: nothing may leave the
   * process before that.
   */
  hold(draft: EntryDraft, more: Completed = {}): JournalEntry {
    return this.#hold(this.#next(draft, more))
  }

  #hold({ entry, text, journalHash }: Next): JournalEntry {
    const news = newsOf(entry, this.#held.length)
    if (news !== undefined) this.#heldNews.push(news)
    this.#held.push(text)
    this.#take(entry, journalHash, undefined)
    return entry
  }

  /**
   * Like {@link hold}, for steps of an atomic composite: until it commits nobody asks for them. At
   * most {@link limits.GATHERED_LENGTH_MAX} characters wait; nothing waits while the run rests.
   */
  gather(draft: EntryDraft, more: Completed): JournalEntry {
    const next = this.#next(draft, more)
    this.#gathered += next.text.length
    const entry = this.#hold(next)
    if (this.#gathered > limits.GATHERED_LENGTH_MAX) this.handIn()
    return entry
  }

  /** Gives the journal what was gathered. */
  handIn(): void {
    if (this.#gathered === 0) return
    const written = this.#send([], {})
    assert(written.ok, 'an entry without reads cannot conflict')
  }

  /** Resolves once the ledger has everything durably that was decided here (D2). */
  durable(): Promise<void> {
    this.handIn()
    return this.#host.journal.durable(this.#position)
  }

  /** Whether there are entries that no append has taken along yet. */
  get isHolding(): boolean {
    return this.#held.length > 0
  }

  /** Appends two entries as one queue item; the unit is completed by the second. */
  appendBoth(
    first: EntryDraft,
    second: (journalHash: Hash) => EntryDraft,
    more: Completed
  ): Written & { readonly last?: JournalEntry } {
    const one = this.#next(first, more)
    const place = { n: one.entry.n + 1, journalHash: one.journalHash }
    const other = this.#next(second(one.journalHash), { known: responseOf(first, more) }, place)
    const appended = this.#send([one, other], more)
    if (!appended.ok) return appended
    const { receiptHash } = appended
    this.#take(one.entry, one.journalHash, undefined)
    this.#take(other.entry, other.journalHash, receiptHash)
    return { ok: true, entry: one.entry, receiptHash, last: other.entry }
  }

  #next(
    draft: EntryDraft,
    { dataText, known }: Completed,
    place = { n: this.#entries, journalHash: this.#journalHash }
  ): Next {
    // Spread last: spread first, V8 gives each entry a hidden class of its own, as large as itself.
    const entry = { run: this.runId, n: place.n, ...draft } as JournalEntry
    const text =
      entry.k === 'settled' && dataText !== undefined
        ? encodeSuccess(entry, dataText)
        : encodeEntry(entry, known)
    return { entry, text, journalHash: chainJournal(place.journalHash, text) }
  }

  /** Appends what is held and these entries. */
  #send(last: readonly Next[], { unit, evidence, rests }: Completed): Appended {
    const entries = [...this.#held]
    const news = [...this.#heldNews]
    for (const { entry, text } of last) {
      const one = newsOf(entry, entries.length)
      if (one !== undefined) news.push(one)
      entries.push(text)
    }
    const journalHash = last.at(-1)?.journalHash ?? this.journalHash
    const appended = this.#host.journal.append({
      runId: this.runId,
      entries,
      news,
      mac: this.#host.journal.authenticate(journalHash),
      ...(unit === undefined ? {} : { unit }),
      ...(evidence === undefined ? {} : { evidence }),
      ...(rests === undefined ? {} : { rests })
    })
    if (!appended.ok) return appended
    this.#held = []
    this.#heldNews = []
    this.#gathered = 0
    this.#position = appended.position
    return appended
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
    this.#receiptHash = receiptHash
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

/** An entry that the journal does not have yet. */
interface Next {
  readonly entry: JournalEntry
  readonly text: string
  readonly journalHash: Hash
}

function newsOf(entry: JournalEntry, index: number): RunEntry | undefined {
  switch (entry.k) {
    case 'run.started':
    case 'run.waiting':
    case 'run.resumed':
    case 'run.finished':
      return { index, kind: entry.k, number: entry.n, status: entry.status, at: entry.at }
    default:
      return undefined
  }
}

/** The response that two entries of one append share is written once. */
function responseOf(draft: EntryDraft, { dataText }: Completed): KnownTexts {
  const response = draft.k === 'settled' ? draft.response : undefined
  const text = `{"data":${dataText},"metadata":{},"success":true}`
  return { get: (value) => (value === response ? text : undefined) }
}
