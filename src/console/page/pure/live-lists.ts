import type { FeedEvent, RunFilter, RunLine } from '../../../runtime/index.js'

/** What of the page an event of the feed may have changed; each counts up. */
export interface Changes {
  readonly runs: number
  readonly waits: number
  readonly log: number
  readonly mode: number
  /** By run. */
  readonly journals: ReadonlyMap<string, number>
}

export const noChanges: Changes = { runs: 0, waits: 0, log: 0, mode: 0, journals: new Map() }

/** Journals whose changes are remembered: the page shows one at a time. */
const JOURNALS_MAX = 1_000

/** Folds events that came since the last frame into what has to be asked anew. */
export function changesAfter(before: Changes, events: readonly FeedEvent[]): Changes {
  let { runs, waits, log, mode } = before
  const journals = new Map(before.journals)
  for (const event of events) {
    if (event.type === 'run') {
      runs += 1
      waits += 1
    } else if (event.type === 'entry') {
      journals.set(event.runId, (journals.get(event.runId) ?? 0) + 1)
    } else if (event.type === 'receipt' || event.type === 'evidence') log += 1
    else if (event.type === 'mode') mode += 1
  }
  if (journals.size > JOURNALS_MAX) journals.clear()
  return { runs, waits, log, mode, journals }
}

/** Whether a list with this filter has the run. */
export function isListed(run: RunLine, filter: RunFilter): boolean {
  const { status, name, text, since, until } = filter
  const sought = text?.toLowerCase()
  return (
    (status === undefined || run.status === status) &&
    (name === undefined || run.name === name) &&
    (sought === undefined ||
      run.id.toLowerCase().includes(sought) ||
      run.name.toLowerCase().includes(sought)) &&
    (since === undefined || run.startedAt >= since) &&
    (until === undefined || run.startedAt < until)
  )
}

/** Folds runs of the feed into a list, newest first: changed in its place, added, or gone. */
export function runsAfter(
  list: readonly RunLine[],
  filter: RunFilter,
  changed: readonly RunLine[]
): readonly RunLine[] {
  if (changed.length === 0) return list
  const latest = new Map(changed.map((run) => [run.id, run]))
  const kept = list.flatMap((run) => {
    const now = latest.get(run.id)
    latest.delete(run.id)
    if (now === undefined) return [run]
    return isListed(now, filter) ? [now] : []
  })
  const newest = list[0]?.startedAt ?? 0
  // What began before the page's newest run is on a page that was not asked for, or will be.
  const added = [...latest.values()].filter(
    (run) => isListed(run, filter) && (list.length === 0 || run.startedAt >= newest)
  )
  return [...added.sort((one, other) => other.startedAt - one.startedAt), ...kept]
}

/** Filters as they are typed: `status:waiting name:freight june`. */
export function filterIn(text: string): RunFilter {
  const words = text.split(/\s+/).filter((word) => word !== '')
  const filter: { status?: NonNullable<RunFilter['status']>; name?: string; text?: string } = {}
  const rest: string[] = []
  for (const word of words) {
    const [, member, value] = /^(status|name):(.+)$/.exec(word) ?? []
    const status = statuses.find((known) => known === value)
    if (member === 'status' && status !== undefined) filter.status = status
    else if (member === 'name' && value !== undefined) filter.name = value
    else rest.push(word)
  }
  if (rest.length > 0) filter.text = rest.join(' ')
  return filter
}

export const statuses = ['running', 'waiting', 'failed', 'done', 'cancelled', 'imported'] as const
