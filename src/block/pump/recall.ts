import { assert, canonicalString, type Json, type RunId } from '../../core/index.js'
import { type AttemptKey, type JournalEntry, placeKey } from '../run/entries.js'
import type { RecordedResult } from '../run/folded-answers.js'
import type { Journal } from '../run/journal.js'
import type { RecordedResults } from '../run/recorded-results.js'
import type { Attempt } from './attempt.js'
import type { PumpParts } from './parts.js'

/** Recorded results that are read back, and their attempt. */
export interface Recalled {
  readonly place: AttemptKey
  readonly results: RecordedResults
}

/** The journal of one run, as far as it is durable. */
export interface RecallPort {
  readonly runId: RunId
  readonly journal: Pick<Journal, 'journal'>
  /** Resolves once everything that was recorded is durable. */
  durable(): Promise<void>
}

export function recallPortOf({ host, state, writer }: PumpParts): RecallPort {
  return { runId: state.runId, journal: host.journal, durable: () => writer.durable() }
}

/**
 * One pass through a run's journal, for the bodies that the recorded results of some attempts lack.
 * Each reader asks for its answers in the order of its recorded results, which is that of the
 * journal.
 *
 * Owns: the pass. Does not own: the recorded results. However many readers there are, the journal
 * is read once, and no body is kept: the slowest reader is waited for.
 *
 * - An answer is known by its call and the hash of its body, so that what was sealed twice for one
 *   call (the code ran again on another state) is no matter.
 */
export class Recall {
  readonly #port: RecallPort
  readonly #readers = new Map<string, RecallReader>()
  readonly #recalled: readonly Recalled[]

  constructor(port: RecallPort, recalled: readonly Recalled[]) {
    this.#port = port
    this.#recalled = recalled
    for (const { place } of recalled) this.#readers.set(placeKey(place), new RecallReader())
  }

  reader(place: AttemptKey): RecallReader {
    const reader = this.#readers.get(placeKey(place))
    assert(reader !== undefined, 'a reader was asked for when the pass was made')
    return reader
  }

  /** Reads until every reader is closed or the journal ends. Never rejects: the readers do. */
  async run(): Promise<void> {
    try {
      await this.#pass()
    } catch (error) {
      for (const reader of this.#readers.values()) reader.fail(error)
    }
    for (const reader of this.#readers.values()) reader.end()
  }

  async #pass(): Promise<void> {
    const { journal, runId } = this.#port
    const open = new Map(this.#readers)
    const places = this.#recalled.map(({ place }) => place)
    await this.#port.durable()
    const from = Math.min(...this.#recalled.map(({ results }) => results.firstEntry))
    for await (const { value } of journal.journal(runId, from, isWantedBy(places))) {
      const entry = value as unknown as JournalEntry
      if (entry.k !== 'sealed') continue
      const name = placeKey(entry)
      const reader = open.get(name)
      if (reader === undefined) continue
      const wanted = await reader.wanted()
      if (wanted === undefined) {
        open.delete(name)
        if (open.size === 0) return
      } else if (wanted.seq === entry.seq && wanted.responseHash === entry.responseHash) {
        reader.give(entry.body)
      }
    }
  }
}

/** The part of some recorded results in a pass. */
export class RecallReader {
  #wanted: RecordedResult | undefined
  #given: { resolve(body: Json | undefined): void; reject(error: unknown): void } | undefined
  #stirred: (() => void) | undefined
  #isClosed = false
  #isOver = false
  #failure: { readonly error: unknown } | undefined

  /**
   * The body of the next answer that the recorded results lack; undefined when the pass is past it.
   */
  next(answer: RecordedResult): Promise<Json | undefined> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error)
    if (this.#isOver) return Promise.resolve(undefined)
    return new Promise((resolve, reject) => {
      this.#given = { resolve, reject }
      this.#wanted = answer
      this.#stirred?.()
    })
  }

  /** It needs no more. */
  close(): void {
    this.#isClosed = true
    this.#stirred?.()
  }

  /** What it asks for, once it does; undefined when it needs no more. */
  async wanted(): Promise<RecordedResult | undefined> {
    while (this.#wanted === undefined && !this.#isClosed) {
      await new Promise<void>((resolve) => {
        this.#stirred = resolve
      })
    }
    return this.#isClosed ? undefined : this.#wanted
  }

  give(body: Json): void {
    const given = this.#given
    this.#wanted = undefined
    this.#given = undefined
    given?.resolve(body)
  }

  fail(error: unknown): void {
    this.#failure = { error }
    this.#given?.reject(error)
  }

  end(): void {
    this.#isOver = true
    this.#given?.resolve(undefined)
  }
}

function isWantedBy(places: readonly AttemptKey[]): (text: string) => boolean {
  const [first] = places
  // Most entries of a run with many attempts are not those of the one that runs again.
  const path = places.length === 1 && first ? `"path":${canonicalString(first.path)}` : ''
  return (text) => text.includes('"k":"sealed"') && text.includes(path)
}

/** Bodies that are read back at once. */
const KEPT_AHEAD = 16

/**
 * Bodies of recorded results for the attempt after it, which asks call by call for what it keeps
 * (L7).
 *
 * Owns: the few bodies that come next, so that the journal is not read for each.
 */
export class KeptBodies {
  readonly #port: RecallPort
  readonly #recalled: Recalled
  #ahead = new Map<number, Json>()
  /** Number of the journal's entry behind the last one that was read. */
  #from: number
  #turn: Promise<unknown> = Promise.resolve()

  constructor(port: RecallPort, recalled: Recalled) {
    this.#port = port
    this.#recalled = recalled
    this.#from = recalled.results.firstEntry
  }

  body(answer: RecordedResult): Promise<Json> {
    const body = this.#turn.then(() => this.#next(answer))
    this.#turn = body.catch(() => undefined)
    return body
  }

  async #next(answer: RecordedResult): Promise<Json> {
    if (!this.#ahead.has(answer.seq)) await this.#read(answer, this.#from)
    // It was asked for in another order than it was sealed in.
    if (!this.#ahead.has(answer.seq)) await this.#read(answer, this.#recalled.results.firstEntry)
    const body = this.#ahead.get(answer.seq)
    assert(body !== undefined, 'the journal has every recorded answer')
    this.#ahead.delete(answer.seq)
    return body
  }

  async #read(first: RecordedResult, from: number): Promise<void> {
    const { place, results } = this.#recalled
    const name = placeKey(place)
    const wanted = results.lostFrom(first.seq, KEPT_AHEAD)
    this.#ahead = new Map()
    await this.#port.durable()
    const { journal, runId } = this.#port
    for await (const { value } of journal.journal(runId, from, isWantedBy([place]))) {
      const entry = value as unknown as JournalEntry
      const [next] = wanted
      if (next === undefined) return
      if (entry.k !== 'sealed' || placeKey(entry) !== name) continue
      if (entry.seq !== next.seq || entry.responseHash !== next.responseHash) continue
      this.#ahead.set(entry.seq, entry.body)
      this.#from = entry.n + 1
      wanted.shift()
    }
  }
}

/**
 * An attempt whose recorded results were gone through, and the calls that it does not make any more
 * (L10).
 */
export interface Replayed {
  readonly attempt: Attempt
  readonly dropped: readonly number[]
}

/**
 * Gives the code of attempts the answers of their recorded results again (K9). What the recorded
 * results do not hold is read from the journal, once for all of them. Rejects when all of them have
 * stopped.
 */
export async function replayRecordedResults(
  attempts: readonly Attempt[],
  port: RecallPort
): Promise<readonly Replayed[]> {
  const long = attempts.filter(({ needsJournal }) => needsJournal)
  if (long.length === 0) return each(attempts, (attempt) => replayed(attempt, undefined))
  const recalled = long.map((attempt) => ({ place: attempt.ask, results: attempt.recorded }))
  const recall = new Recall(port, recalled)
  const reading = recall.run()
  const done = await each(attempts, (attempt) =>
    replayed(attempt, attempt.needsJournal ? recall.reader(attempt.ask) : undefined)
  )
  await reading
  return done
}

async function each(
  attempts: readonly Attempt[],
  replay: (attempt: Attempt) => Promise<Replayed>
): Promise<readonly Replayed[]> {
  const results = await Promise.allSettled(attempts.map(replay))
  return results.map((result) => {
    if (result.status === 'fulfilled') return result.value
    throw result.reason
  })
}

async function replayed(attempt: Attempt, reader: RecallReader | undefined): Promise<Replayed> {
  const recall = async (answer: RecordedResult): Promise<Json> => {
    const body = await reader?.next(answer)
    assert(body !== undefined, 'the journal has every recorded answer')
    return body
  }
  try {
    return { attempt, dropped: await attempt.replayAll(recall) }
  } finally {
    reader?.close()
  }
}
