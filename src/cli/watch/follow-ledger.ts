import { isJsonObject, isTallyError, type Json, limits, type RunId } from '../../core/index.js'
import type { FeedEvent, RunLine } from '../../runtime/index.js'
import type { ServiceClient } from '../frame/client.js'
import { commitOf, placeOf } from '../inspect/ledger-source.js'
import { lineOf, type StepAt, stepIn, type WatchedLine, type WatchedRuns } from './watched-runs.js'

/** What reaches a watch, besides what its runs say. */
export type LedgerChange =
  /** The runs are known that were there when it began. */
  | { readonly type: 'begun' }
  | { readonly type: 'mode'; readonly mode: string; readonly cause: Json }
  | { readonly type: 'line'; readonly line: WatchedLine; readonly isNew: boolean }
  | { readonly type: 'entry'; readonly runId: RunId; readonly entry: Json; readonly isNew: boolean }

/**
 * Everything that a watch shows, from what is there on, until `signal` aborts: runs that are open,
 * and those that began last; then what the feed gives.
 */
export async function* followLedger(
  client: ServiceClient,
  runs: WatchedRuns,
  signal: AbortSignal
): AsyncGenerator<LedgerChange> {
  const since = await placeOf(client)
  await load(client, runs)
  yield { type: 'begun' }
  let mode = ''
  for await (const event of client.stream('feed', { since }, signal)) {
    if (event.type === 'reset') {
      for await (const line of listed(client)) yield { type: 'line', line, isNew: true }
    } else if (event.type === 'mode') {
      // Each holder of the ledger says its own.
      const said = JSON.stringify([event.mode, event.cause])
      if (said !== mode) yield event
      mode = said
    } else yield* changesOf(client, event, commitOf(since))
  }
}

/** `upTo`: the last commit of which something may have been loaded; what it has is no change. */
async function* changesOf(
  client: ServiceClient,
  event: Exclude<FeedEvent, { readonly type: 'reset' | 'mode' }>,
  upTo: number
): AsyncGenerator<LedgerChange> {
  if (event.type !== 'run' && event.type !== 'entry') return
  const isNew = commitOf(event.place) > upTo
  if (event.type === 'run') {
    yield { type: 'line', line: event.run, isNew }
    return
  }
  const { runId, entry } = event
  yield { type: 'entry', runId, entry, isNew }
  // A run whose other steps continue is not parked: only its entries say that one of them waits.
  if (isNew && isAboutWait(entry)) {
    const line = await shown(client, runId)
    if (line !== undefined) yield { type: 'line', line, isNew }
  }
}

const aboutWaits: ReadonlySet<Json | undefined> = new Set(['wait', 'answered', 'decision', 'timer'])

function isAboutWait(entry: Json): boolean {
  return isJsonObject(entry) && aboutWaits.has(entry['k'])
}

async function shown(client: ServiceClient, id: RunId): Promise<WatchedLine | undefined> {
  try {
    return lineOf(await client.request('show', { id }))
  } catch (error) {
    // What is wrong with its records stands in the line that the feed gives.
    if (isTallyError(error)) return undefined
    throw error
  }
}

async function load(client: ServiceClient, runs: WatchedRuns): Promise<void> {
  let steps = 0
  for await (const line of listed(client)) {
    const isRunning = line.status === 'running' && steps < limits.WATCH_STEPS_MAX
    if (isRunning) steps += 1
    runs.begin(line, isRunning ? await lastStep(client, line) : null)
  }
}

/** Those that are open, and those that began last. */
async function* listed(client: ServiceClient): AsyncGenerator<RunLine> {
  const seen = new Set<RunId>()
  for (const status of ['waiting', 'running', 'imported', undefined] as const) {
    const filter = status === undefined ? {} : { status }
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const place = cursor === undefined ? {} : { cursor }
      const page = await client.request('find', { ...filter, ...place })
      for (const line of page.items) {
        if (!seen.has(line.id)) yield line
        seen.add(line.id)
      }
      // Of all runs the first page is enough; of the open ones there are as many as are kept.
      cursor = status === undefined || seen.size >= limits.WATCH_RUNS_MAX ? null : page.next
    }
  }
}

/** Entries at the end of a journal among which a step is looked for. */
const TAIL_ENTRIES = 8

async function lastStep(
  client: ServiceClient,
  { id, entries }: Pick<RunLine, 'id' | 'entries'>
): Promise<StepAt | null> {
  let step: StepAt | null = null
  const from = Math.max(0, entries - TAIL_ENTRIES)
  for await (const { entry } of client.stream('journal', { id, from, limit: TAIL_ENTRIES })) {
    step = stepIn(entry) ?? step
  }
  return step
}
