import { blockError, type JsonObject, type RunId } from '../../core/index.js'
import type { Ledger, PastLedger } from '../../ledger/index.js'
import { type Place, parsePlace, placeText } from './feed.js'
import type { EventPlace, FollowedEntry } from './query-types.js'

type FollowedLedger = Pick<Ledger, 'mode' | 'onCommit' | 'onMode' | 'past' | 'run'>

/**
 * The journal of one run behind a place, then what becomes durable, until the run has ended, the
 * ledger is closed, or `signal` aborts.
 *
 * Owns: where its reader is. Entries are read from stored commits when the reader asks for the next
 * one, so a slow reader costs no memory, and resuming is the same code as following.
 *
 * - Q4 A place is of one entry for good: a reader that resumes behind it misses nothing and gets
 *   nothing twice, in whatever process.
 */
export async function* followedRun(
  ledger: FollowedLedger,
  { id, after }: { readonly id: RunId; readonly after: EventPlace | undefined },
  signal: AbortSignal
): AsyncGenerator<FollowedEntry> {
  if (ledger.run(id) === undefined) throw blockError('run.not_found', { runId: id })
  const past = await ledger.past()
  let at: Place = after === undefined ? BEGINNING : placeIn(past.commits, after)
  const changes = new RunChanges(ledger, id, signal)
  try {
    while (!signal.aborted) {
      changes.taken()
      for (const { place, text } of entriesAfter(past, id, at)) {
        at = place
        const entry = JSON.parse(text) as JsonObject
        yield { place: placeText(at), entry }
        if (entry['k'] === 'run.finished' || signal.aborted) return
      }
      if (ledger.mode === 'closed' || hasEnded(ledger, id)) return
      await changes.next()
    }
  } finally {
    changes.close()
  }
}

function* entriesAfter(past: PastLedger, id: RunId, { seq: from, line: after }: Place) {
  for (const seq of past.commitsOf(id, from)) {
    for (const one of past.commit(seq).lines) {
      if (one.kind !== 'entry' || one.runId !== id) continue
      if (seq > from || one.place > after) yield { place: { seq, line: one.place }, text: one.text }
    }
  }
}

const BEGINNING: Place = { seq: 0, line: 0 }

/** Throws `service.invalid_params` for a place of another ledger. */
function placeIn(commits: number, text: EventPlace): Place {
  const named = { method: 'follow', name: 'after' }
  const place = parsePlace(text, named)
  return place.seq > commits ? parsePlace('', named) : place
}

/** Its end is durable: what is left of it has been read. */
function hasEnded(ledger: FollowedLedger, id: RunId): boolean {
  const status = ledger.run(id, { durable: true })?.status
  return status === 'done' || status === 'failed' || status === 'cancelled'
}

/** Whether a commit has moved the run since its entries were last asked for. */
class RunChanges {
  readonly #stops: readonly (() => void)[]
  readonly #signal: AbortSignal
  #hasMoved = false
  #wake: () => void = () => undefined

  constructor(ledger: FollowedLedger, id: RunId, signal: AbortSignal) {
    this.#signal = signal
    const moved = () => {
      this.#hasMoved = true
      this.#wake()
    }
    signal.addEventListener('abort', moved, { once: true })
    this.#stops = [
      ledger.onCommit(({ items }) => {
        if (items.some(({ runId }) => runId === id)) moved()
      }),
      // A closed ledger has no commits any more.
      ledger.onMode(({ mode }) => {
        if (mode === 'closed') moved()
      }),
      () => signal.removeEventListener('abort', moved)
    ]
  }

  /** What has moved up to now is read next. */
  taken(): void {
    this.#hasMoved = false
  }

  async next(): Promise<void> {
    if (this.#hasMoved || this.#signal.aborted) return
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
  }

  close(): void {
    for (const stop of this.#stops) stop()
  }
}
