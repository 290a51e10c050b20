import {
  assert,
  blockError,
  chainJournal,
  type Hash,
  type KnownTexts,
  limits,
  type RunEntry
} from '../../core/index.js'
import type { RecordedEntry } from '../recovery/recovery.js'
import type { Given } from '../run/decide.js'
import type { Completed } from '../run/decision.js'
import { type EntryDraft, encodeEntry, encodeSuccess, type JournalEntry } from '../run/entries.js'
import type { RunEvent } from '../run/events.js'
import type { Appended, Position } from '../run/journal.js'
import type { RunTotals } from '../run/run-state.js'
import type { PumpHost } from './host.js'
import type { RunMoments } from './observer.js'

/**
 * Writes one run's journal: numbers entries, seals their chain, and counts them in the run's state.
 *
 * Owns: entries that are held back until the next one is appended or the run rests, and events
 * that come after them. Does not own: the journal, or what an entry means.
 *
 * Invariants: entry numbers have no gaps; `at` never goes back (K7); the hash chain covers every
 * entry; an event comes after the entries that it reports (D2).
 */
export class JournalWriter {
  readonly #state: RunTotals
  readonly #host: WriterHost
  readonly #took: (entry: JournalEntry) => void
  readonly #moments: RunMoments | undefined
  #events: RunEvent[] = []
  #mac: Hash | undefined
  #position: Position = 0
  /** Texts of entries that go into the journal with the next one, and those about the run. */
  #held: string[] = []
  #heldChanges: RunEntry[] = []
  /** Length of those that were gathered: nothing that stays depends on them before. */
  #gathered = 0

  /** Logical time of the last entry. */
  get at(): number {
    return this.#state.at
  }

  /** `took` gets each entry that was written, in order. */
  constructor(
    state: RunTotals,
    host: WriterHost,
    took: (entry: JournalEntry) => void = () => undefined,
    moments?: RunMoments
  ) {
    this.#state = state
    this.#host = host
    this.#took = took
    this.#moments = moments
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
   * Appends one entry, with the receipt or the evidence that it completes, as one queue item; false
   * when what it depends on has changed.
   */
  record(draft: EntryDraft, more: Completed = {}): boolean {
    const next = this.#next(draft, more)
    const appended = this.#send([next], more)
    if (!appended.ok) return false
    this.#state.take(next.entry, next.journalHash, appended.receiptHash)
    this.#tell(next, appended.receiptHash)
    return true
  }

  /** Appends two entries as one queue item; the unit is completed by the second. */
  recordBoth(
    first: EntryDraft,
    second: (journalHash: Hash) => EntryDraft,
    more: Completed
  ): boolean {
    const one = this.#next(first, more)
    const place = { n: one.entry.n + 1, journalHash: one.journalHash }
    const other = this.#next(second(one.journalHash), { known: responseOf(first, more) }, place)
    const appended = this.#send([one, other], more)
    if (!appended.ok) return false
    this.#state.take(one.entry, one.journalHash, undefined)
    this.#state.take(other.entry, other.journalHash, appended.receiptHash)
    this.#tell(one, undefined)
    this.#tell(other, appended.receiptHash)
    return true
  }

  /**
   * Takes an entry that goes into the journal together with the next one: nothing may leave the
   * process before that.
   */
  hold(draft: EntryDraft, more: Completed = {}): void {
    this.#hold(this.#next(draft, more))
  }

  #hold(next: Next): void {
    const { entry, text, journalHash } = next
    const runChanges = runChangesOf(entry, this.#held.length)
    if (runChanges !== undefined) this.#heldChanges.push(runChanges)
    this.#held.push(text)
    this.#state.take(entry, journalHash, undefined)
    this.#tell(next, undefined)
  }

  #tell({ entry, journalHash }: Next, receiptHash: Hash | undefined): void {
    const position = this.#held.length > 0 ? undefined : this.#position
    this.#host.observer?.took(entry, { receiptHash, kind: 'live', position })
    this.#moments?.took(entry, journalHash, position)
    this.#took(entry)
  }

  /**
   * Like {@link hold}, for what nothing asks for before the next entry: steps of an atomic
   * composite until it commits, and what a crash may undo (D2), behind which reads may leave the
   * process. At most {@link limits.GATHERED_LENGTH_MAX} characters wait; nothing waits while the
   * run rests.
   */
  gather(draft: EntryDraft, more: Completed = {}): void {
    const next = this.#next(draft, more)
    this.#gathered += next.text.length
    this.#hold(next)
    if (this.#gathered > limits.GATHERED_LENGTH_MAX) this.handIn()
  }

  /** Gives the journal what was gathered. */
  handIn(): void {
    if (this.#gathered === 0) return
    const appended = this.#send([], {})
    assert(appended.ok, 'an entry without reads cannot conflict')
  }

  /** Gives the journal all that it is to have, the beginning of a run of one unit of work too. */
  handInHeld(): void {
    if (this.#held.length > 0) this.#send([], {})
  }

  /** Whether an event that is reported now may be read. */
  get isHeard(): boolean {
    return this.#host.isHeard?.() !== false
  }

  /** Reports an event, after the entries that were taken before it. */
  emit(event: RunEvent): void {
    const trace = this.#state.started?.trace
    const told = trace === undefined ? event : { ...event, trace }
    if (this.#held.length > 0) this.#events.push(told)
    else this.#host.emit(told, this.#position)
  }

  /** Resolves once the ledger has everything durably that was decided here (D2). */
  durable(): Promise<void> {
    this.handIn()
    return this.#host.journal.durable(this.#position)
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
    if (last.length === 0) {
      this.#host.observer?.appended(appended.position)
      this.#moments?.appended(appended.position)
    }
    for (const event of this.#events.splice(0)) this.#host.emit(event, appended.position)
    return appended
  }

  /** Takes over an entry that the journal already has. */
  recover(recorded: RecordedEntry): void {
    const { entry, text, receiptHash } = recorded
    this.#state.take(entry, chainJournal(this.#state.journalHash, text), receiptHash)
    this.#mac = recorded.mac
    this.#host.observer?.took(entry, { receiptHash, kind: 'recovered', position: 0 })
    this.#moments?.took(entry, this.#state.journalHash, 0)
  }

  /**
   * Whether what was recovered is what the holder of the key wrote: the last code covers every
   * entry. Throws `run.journal_forged`: a run never continues from results that were put there from
   * outside.
   */
  checkRecovered(): void {
    const { runId, entries, journalHash } = this.#state
    if (this.#mac === this.#host.journal.authenticate(journalHash as Hash)) return
    throw blockError('run.journal_forged', { runId, entry: entries - 1 })
  }
}

type WriterHost = Pick<PumpHost, 'journal' | 'clock' | 'emit' | 'isHeard' | 'observer'>

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

/** What deciding needs of a pump: the time of the run, its seals and its compensations. */
export function givenOf(writer: JournalWriter, host: PumpHost): Given {
  return new GivenByPump(writer, host)
}

// A class: an object with a getter of its own is made in old space, and holds its pump there.
class GivenByPump implements Given {
  readonly #writer: JournalWriter
  readonly #host: PumpHost

  constructor(writer: JournalWriter, host: PumpHost) {
    this.#writer = writer
    this.#host = host
  }

  get at(): number {
    return this.#writer.now()
  }

  seal(...sealed: Parameters<Given['seal']>): ReturnType<Given['seal']> {
    return this.#host.journal.seal(...sealed)
  }

  compensation(effect: string): ReturnType<Given['compensation']> {
    return this.#host.provider(effect)?.compensate
  }
}
