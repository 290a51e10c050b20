import { type Clock, type Json, limits, type RunId, runtimeError } from '../../core/index.js'
import type { CommitLine, Ledger, PastCommit, PastLedger, RunRecord } from '../../ledger/index.js'
import { FeedChanges, type FeedSources } from './feed-changes.js'
import { logLine } from './ledger-log.js'
import type { EventPlace, FeedEvent, RunLine } from './query-types.js'

export interface FeedParts extends FeedSources {
  readonly ledger: FeedSources['ledger'] & Pick<Ledger, 'past' | 'run' | 'archiving'>
  line(record: RunRecord): Promise<RunLine>
  /** Paces a feed that gives changes. */
  readonly clock: Clock
}

export interface FeedOptions {
  readonly since: EventPlace | undefined
  /** Gives `changed` at most once in this time, in place of what has become durable. */
  readonly paceMs: number | undefined
}

export interface Place {
  readonly seq: number
  readonly line: number
}

/**
 * Everything that becomes durable after `since`, each once and in order, then what follows, until
 * `signal` aborts or the ledger is closed.
 *
 * Owns: where its reader is. What is history is read from stored commits when the reader asks for
 * it, so a slow reader costs no memory; what is none is kept for it up to a bound. Without a reader
 * there is nothing: no listener, no buffer.
 *
 * - Q1 With `paceMs` the work is bounded by time, however much becomes durable in it.
 * - Q4 A place is of one thing for good: a reader that resumes behind the last place it has got
 *   misses nothing and gets nothing twice, or is told by `reset` that it is too far behind.
 */
export async function* feed(
  parts: FeedParts,
  { since, paceMs }: FeedOptions,
  signal: AbortSignal
): AsyncGenerator<FeedEvent> {
  const place = since === undefined ? undefined : parsePlace(since)
  const { ledger, clock } = parts
  let next = 0
  const changes = new FeedChanges(parts, signal)
  try {
    const past = await ledger.past()
    let at = place ?? { seq: past.commits, line: 0 }
    while (!signal.aborted) {
      yield* changes.take()
      const archived = ledger.archiving.history?.boundary.commits ?? 0
      if (at.seq < archived || isLost(past, at, paceMs !== undefined)) {
        at = { seq: past.commits, line: 0 }
        yield { type: 'reset', place: placeText(at) }
      } else if (at.seq < past.commits && paceMs !== undefined) {
        const hasClosed = () => ledger.mode === 'closed'
        await changes.until(next, clock, () => signal.aborted || hasClosed())
        if (hasClosed()) {
          // What is left is read behind the last place, by the next that opens it.
          yield* changes.take()
          return
        }
        if (clock.now() < next) continue
        const change = changesOf(past, at)
        at = { seq: past.commits, line: 0 }
        if (change.runs?.length === 0) continue
        next = clock.now() + paceMs
        yield { type: 'changed', ...change }
      } else if (at.seq < past.commits) {
        yield* eventsOf(parts, past.commit(at.seq), at.line)
        at = { seq: at.seq + 1, line: 0 }
      } else if (ledger.mode === 'closed') {
        return
      } else {
        await changes.next(() => signal.aborted || at.seq < past.commits)
      }
    }
  } finally {
    changes.close()
  }
}

/** Of another ledger, or too far behind to be given each event; what is archived is, too. */
function isLost({ commits }: PastLedger, { seq, line }: Place, isPaced: boolean): boolean {
  const isAhead = seq > commits || (seq === commits && line > 0)
  return isAhead || (!isPaced && commits - seq > limits.FEED_COMMITS_BEHIND_MAX)
}

/** Which runs have changed behind a place up to the last, and whether something was signed. */
function changesOf(past: PastLedger, { seq, line }: Place) {
  const end = past.commits
  const isMuch = end - seq > limits.FEED_CHANGED_COMMITS_MAX
  const runs = new Set<RunId>()
  let isSigned = isMuch
  let last: Place = { seq, line }
  for (let one = isMuch ? end - 1 : seq; one < end; one += 1) {
    for (const { kind, runId, place } of past.commit(one).lines) {
      if (one === seq && place <= line) continue
      runs.add(runId)
      isSigned ||= kind === 'receipt' || kind === 'evidence'
      last = { seq: one, line: place }
    }
  }
  const isNamed = !isMuch && runs.size <= limits.FEED_CHANGED_RUNS_MAX
  return { place: placeText(last), runs: isNamed ? [...runs] : null, isSigned }
}

/** What a commit made durable, behind a line of it. Of a run only its last place has its line. */
async function* eventsOf(
  { ledger, line }: FeedParts,
  { seq, lines }: PastCommit,
  after: number
): AsyncGenerator<FeedEvent> {
  const last = new Map<RunId, number>()
  for (const one of lines) if (one.kind === 'run') last.set(one.runId, one.place)
  for (const one of lines) {
    if (one.place <= after) continue
    const place = placeText({ seq, line: one.place })
    if (one.kind !== 'run') {
      yield { place, ...eventOf(ledger, one) }
      continue
    }
    const isLast = last.get(one.runId) === one.place
    const record = isLast ? ledger.run(one.runId, { durable: true }) : undefined
    if (record !== undefined) yield { place, type: 'run', run: await line(record) }
  }
}

function eventOf(ledger: FeedParts['ledger'], line: Exclude<CommitLine, { kind: 'run' }>) {
  const { kind, runId } = line
  if (kind === 'entry') {
    return { type: kind, runId, entry: JSON.parse(line.text) as Json } as const
  }
  return { type: kind, line: logLine(ledger, line) } as const
}

export function placeText({ seq, line }: Place): EventPlace {
  return `${seq}.${line}`
}

export function parsePlace(text: EventPlace, named = { method: 'feed', name: 'since' }): Place {
  const [, seq, line] = /^([0-9]{1,15})\.([0-9]{1,15})$/.exec(text) ?? []
  if (seq === undefined || line === undefined) {
    const { method, name } = named
    const problem = `${name} is no place that this ledger has given`
    throw runtimeError('service.invalid_params', { method, problem })
  }
  return { seq: Number(seq), line: Number(line) }
}
