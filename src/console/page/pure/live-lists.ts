import type { FeedEvent, RunFilter } from '../../../runtime/index.js'

/** What of the page an event of the feed may have changed; each counts up. */
export interface Changes {
  readonly runs: number
  readonly log: number
  readonly mode: number
  /** Of all runs, and by run. */
  readonly journals: { readonly all: number; readonly of: ReadonlyMap<string, number> }
}

export const noChanges: Changes = { runs: 0, log: 0, mode: 0, journals: { all: 0, of: new Map() } }

/** Journals whose changes are remembered: the page shows one at a time. */
const JOURNALS_MAX = 1_000

/** Folds events that came since the last frame into what has to be asked anew. */
export function changesAfter(before: Changes, events: readonly FeedEvent[]): Changes {
  let { runs, log, mode } = before
  let { all } = before.journals
  const of = new Map(before.journals.of)
  for (const event of events) {
    if (event.type === 'mode') mode += 1
    if (event.type !== 'changed') continue
    runs += 1
    if (event.isSigned) log += 1
    if (event.runs === null) all += 1
    for (const id of event.runs ?? []) of.set(id, (of.get(id) ?? 0) + 1)
  }
  if (of.size > JOURNALS_MAX) {
    // No count is one that it was before.
    all += Math.max(...of.values())
    of.clear()
  }
  return { runs, log, mode, journals: { all, of } }
}

type TypedFilter = { -readonly [Member in 'name' | 'status' | 'tag' | 'text']?: RunFilter[Member] }

/** Filters as they are typed: `status:waiting name:freight tag:"two words" june`. */
export function filterIn(text: string): RunFilter {
  const words = text.match(/(?:[^\s"]|"[^"]*"|")+/g) ?? []
  const filter: TypedFilter = {}
  const rest: string[] = []
  for (const word of words) {
    const [, member, bare, quoted] = /^(status|name|tag):(?:([^"]+)|"([^"]+)")$/.exec(word) ?? []
    const value = bare ?? quoted
    const status = statuses.find((known) => known === value)
    if (member === 'status' && status !== undefined) filter.status = status
    else if (member === 'name' && value !== undefined) filter.name = value
    else if (member === 'tag' && value !== undefined) filter.tag = value
    else rest.push(word)
  }
  if (rest.length > 0) filter.text = rest.join(' ')
  return filter
}

/** The filter for a tag, as it would be typed; undefined for one that cannot be. */
export function tagFilter(tag: string): string | undefined {
  if (tag.includes('"')) return undefined
  return /\s/.test(tag) ? `tag:"${tag}"` : `tag:${tag}`
}

export const statuses = ['running', 'waiting', 'failed', 'done', 'cancelled', 'imported'] as const
