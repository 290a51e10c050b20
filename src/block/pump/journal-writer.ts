import {
  assert,
  type Hash,
  type KnownTexts,
  limits,
  type RunEntry,
  TallyError
} from '../../core/index.js'
import type { Completed } from '../run/decide.js'
import {
  chainJournal,
  type EntryDraft,
  encodeEntry,
  encodeSuccess,
  type JournalEntry
} from '../run/entries.js'
import type { Appended, Position } from '../run/journal.js'
import type { RunTotals } from '../run/totals.js'
import type { PumpHost } from './host.js'

/** An entry as the journal gives it back, with the receipt that it completed. */
export interface RecordedEntry {
  readonly entry: JournalEntry
  readonly text: string
  readonly receiptHash: Hash | undefined
  readonly mac: Hash | undefined
}

/**
 * Writes one run's journal: numbers entries, seals their chain, and counts them in the run's state.
 *
 * Owns: entries that are held back until the next one is appended. Does not own: the journal, or
 * what an entry means.
 *
 * Invariants: entry numbers have no gaps; `at` never goes back (K7); the hash chain covers every
 * entry.
 */
export class JournalWriter {
  readonly #state: RunTotals
  readonly #host: Pick<PumpHost, 'journal' | 'clock'>
  #mac: Hash | undefined
  #position: Position = 0
  /** Texts of entries that go into the journal with the next one, and those about the run. */
  #held: string[] = []
  #heldChanges: RunEntry[] = []
  /** Length of those that were gathered: nothing depends on them before they are handed in. */
  #gathered = 0

  constructor(state: RunTotals, host: Pick<PumpHost, 'journal' | 'clock'>) {
    this.#state = state
    this.#host = host
  }

  /** Logical time of the last entry. */
  get at(): number {
    return this.#state.at
  }

  /** Up to where the ledger must be durable before anything decided here may leave the process. */
  get position(): Position {
    return this.#position
  }

  /** The time that the next entry will carry. */
  now(): number {
    return Math.max(this.#state.at, this.#host.clock.now())
  }

  /**
   * Appends one entry, with the receipt or the evidence that it completes, as one queue item;
   * undefined when what it depends on has changed.
   */
  append(draft: EntryDraft, more: Completed = {}): JournalEntry | undefined {
    const { entry, text, journalHash } = this.#next(draft, more)
    const appended = this.#send([{ entry, text, journalHash }], more)
    if (!appended.ok) return undefined
    this.#state.take(entry, journalHash, appended.receiptHash)
    return entry
  }

  /**
   * Takes an entry that goes into the journal together with the next one: nothing may leave the
   * process before that.
   */
  hold(draft: EntryDraft, more: Completed = {}): JournalEntry {
    return this.#hold(this.#next(draft, more))
  }

  #hold({ entry, text, journalHash }: Next): JournalEntry {
    const runChanges = runChangesOf(entry, this.#held.length)
    if (runChanges !== undefined) this.#heldChanges.push(runChanges)
    this.#held.push(text)
    this.#state.take(entry, journalHash, undefined)
    return entry
  }

  /**
   * Like {@link hold}, for steps of an atomic composite: until it commits nothing asks for them. At
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
    const appended = this.#send([], {})
    assert(appended.ok, 'an entry without reads cannot conflict')
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
  ): readonly [JournalEntry, JournalEntry] | undefined {
    const one = this.#next(first, more)
    const place = { n: one.entry.n + 1, journalHash: one.journalHash }
    const other = this.#next(second(one.journalHash), { known: responseOf(first, more) }, place)
    const appended = this.#send([one, other], more)
    if (!appended.ok) return undefined
    this.#state.take(one.entry, one.journalHash, undefined)
    this.#state.take(other.entry, other.journalHash, appended.receiptHash)
    return [one.entry, other.entry]
  }

  #next(
    draft: EntryDraft,
    { dataText, known }: Completed,
    place = { n: this.#state.entries, journalHash: this.#state.journalHash }
  ): Next {
    // Spread last: spread first, V8 gives each entry a hidden class of its own, as large as itself.
    const entry = { run: this.#state.runId, n: place.n, ...draft } as JournalEntry
    const text =
      entry.k === 'settled' && dataText !== undefined
        ? encodeSuccess(entry, dataText)
        : encodeEntry(entry, known)
    return { entry, text, journalHash: chainJournal(place.journalHash, text) }
  }

  /** Appends what is held and these entries. */
  #send(last: readonly Next[], { unit, evidence, rests }: Completed): Appended {
    const entries = [...this.#held]
    const runChanges = [...this.#heldChanges]
    for (const { entry, text } of last) {
      const one = runChangesOf(entry, entries.length)
      if (one !== undefined) runChanges.push(one)
      entries.push(text)
    }
    const journalHash = last.at(-1)?.journalHash ?? (this.#state.journalHash as Hash)
    const appended = this.#host.journal.append({
      runId: this.#state.runId,
      entries,
      runChanges,
      journalHash,
      ...(unit === undefined ? {} : { unit }),
      ...(evidence === undefined ? {} : { evidence }),
      ...(rests === undefined ? {} : { rests })
    })
    if (!appended.ok) return appended
    this.#held = []
    this.#heldChanges = []
    this.#gathered = 0
    this.#position = appended.position
    return appended
  }

  /** Takes over an entry that the journal already has. */
  recover(recorded: RecordedEntry): void {
    const { entry, text, receiptHash } = recorded
    this.#state.take(entry, chainJournal(this.#state.journalHash, text), receiptHash)
    this.#mac = recorded.mac
  }

  /**
   * Whether what was recovered is what the holder of the key wrote: the last code covers every
   * entry. Throws `run.journal_forged`: a run never continues from results that were put there from
   * outside.
   */
  checkRecovered(): void {
    const { runId, entries, journalHash } = this.#state
    if (this.#mac === this.#host.journal.authenticate(journalHash as Hash)) return
    throw new TallyError('run.journal_forged', { runId, entry: entries - 1 })
  }
}

/** An entry that the journal does not have yet. */
interface Next {
  readonly entry: JournalEntry
  readonly text: string
  readonly journalHash: Hash
}

function runChangesOf(entry: JournalEntry, index: number): RunEntry | undefined {
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
