import { type Json, limits, type RunId, TallyError } from '../../core/index.js'
import type { CommitLine, Ledger, PastCommit, PastLedger, RunRecord } from '../../ledger/index.js'
import { logLine } from './ledger-log.js'
import type { EventPlace, FeedEvent, RunLine } from './query-types.js'

export interface FeedParts {
  readonly ledger: Pick<Ledger, 'past' | 'run' | 'mode' | 'state' | 'onCommit' | 'onMode'>
  line(record: RunRecord): Promise<RunLine>
  /** Hears the text of agents as it arrives; the returned function stops it. */
  onDelta(listener: (delta: FeedEvent & { readonly type: 'delta' }) => void): () => void
}

interface Place {
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
 * - Q4 A place is of one thing for good: a reader that resumes behind the last place it has got
 *   misses nothing and gets nothing twice, or is told by `reset` that it is too far behind.
 */
export async function* feed(
  parts: FeedParts,
  since: EventPlace | undefined,
  signal: AbortSignal
): AsyncGenerator<FeedEvent> {
  const place = since === undefined ? undefined : parsePlace(since)
  const { ledger } = parts
  const news = new News(parts, signal)
  try {
    const past = await ledger.past()
    let at = place ?? { seq: past.commits, line: 0 }
    while (!signal.aborted) {
      yield* news.take()
      if (isLost(past, at)) {
        at = { seq: past.commits, line: 0 }
        yield { type: 'reset', place: placeText(at) }
      } else if (at.seq < past.commits) {
        yield* eventsOf(parts, past.commit(at.seq), at.line)
        at = { seq: at.seq + 1, line: 0 }
      } else if (ledger.mode === 'closed') {
        return
      } else {
        await news.next(() => signal.aborted || at.seq < past.commits)
      }
    }
  } finally {
    news.close()
  }
}

/** Too far behind, or of another ledger. */
function isLost({ commits }: PastLedger, { seq, line }: Place): boolean {
  const isAhead = seq > commits || (seq === commits && line > 0)
  return isAhead || commits - seq > limits.FEED_COMMITS_BEHIND_MAX
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

function placeText({ seq, line }: Place): EventPlace {
  return `${seq}.${line}`
}

function parsePlace(text: EventPlace): Place {
  const [, seq, line] = /^([0-9]{1,15})\.([0-9]{1,15})$/.exec(text) ?? []
  if (seq === undefined || line === undefined) {
    const problem = 'since is no place that this ledger has given'
    throw new TallyError('service.invalid_params', { method: 'feed', problem })
  }
  return { seq: Number(seq), line: Number(line) }
}

/** What happens while a reader reads: that commits came, and what is no history. */
class News {
  readonly #events: FeedEvent[] = []
  readonly #stops: (() => void)[]
  #wake: () => void = () => undefined
  #mode: string

  constructor({ ledger, onDelta }: FeedParts, signal: AbortSignal) {
    this.#mode = shownMode(ledger.mode)
    const wake = () => this.#wake()
    signal.addEventListener('abort', wake, { once: true })
    this.#stops = [
      ledger.onCommit(wake),
      ledger.onMode(({ mode, cause }) => {
        // Commits come and go: readers are not told of each.
        if (this.#mode !== shownMode(mode)) {
          this.#add({ type: 'mode', mode: shownMode(mode), cause: cause ?? null })
        }
        this.#mode = shownMode(mode)
      }),
      onDelta((delta) => this.#add(delta)),
      () => signal.removeEventListener('abort', wake)
    ]
  }

  *take(): Generator<FeedEvent> {
    for (let next = this.#events.shift(); next !== undefined; next = this.#events.shift()) {
      yield next
    }
  }

  /** Resolves with the next news, at once when there is any. */
  async next(isThere: () => boolean): Promise<void> {
    if (this.#events.length > 0 || isThere()) return
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
  }

  close(): void {
    for (const stop of this.#stops) stop()
  }

  // The oldest may be lost: it is no history.
  #add(event: FeedEvent): void {
    this.#events.push(event)
    if (this.#events.length > limits.FEED_NEWS_MAX) this.#events.shift()
    this.#wake()
  }
}

function shownMode(mode: string): string {
  return mode === 'committing' ? 'ready' : mode
}
