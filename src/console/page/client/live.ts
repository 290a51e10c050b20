import { signal } from '@preact/signals'
import type { FeedEvent, ServiceStatus } from '../../../runtime/index.js'
import { type Changes, changesAfter, noChanges } from '../pure/live-lists.js'
import { ask } from './api.js'
import { nowMs } from './browser.js'

export type Connection = 'connecting' | 'live' | 'lost'

/** What everything on the page follows: one paint a frame, however many events there are. */
export const changes = signal<Changes>(noChanges)
export const connection = signal<Connection>('connecting')
/** Whether a process holds the ledger; without one nothing moves in it. */
export const isHeld = signal(true)
export const status = signal<ServiceStatus | null>(null)
/** Commit up to which everything is shown, or null before the first event. */
export const shownCommit = signal<string | null>(null)
/** The time that ages are measured against; it moves with what happens. */
export const now = signal(nowMs())
/** Texts of agents that are arriving, by run and path: no history. */
export const deltas = signal<ReadonlyMap<string, string>>(new Map())

const DELTA_LENGTH_MAX = 65_536
const DELTAS_MAX = 64

const types = ['changed', 'mode', 'delta', 'reset'] as const
/** What is shown is asked anew at most so often, so that looking costs a busy ledger little. */
const PACE_MS = 1_000

let waiting: FeedEvent[] = []
let frame = 0

/** Follows the ledger until the page is closed; the browser connects anew where it was. */
export function followFeed(): void {
  const source = new EventSource(`/api/feed?paceMs=${PACE_MS}`)
  const take = ({ data, lastEventId }: MessageEvent<string>) => {
    const event: FeedEvent = JSON.parse(data)
    if (lastEventId !== '') shownCommit.value = lastEventId.split('.')[0] ?? null
    waiting.push(event)
    if (frame === 0) frame = requestAnimationFrame(paint)
  }
  for (const type of types) source.addEventListener(type, take)
  source.addEventListener('message', take)
  source.addEventListener('open', () => {
    const isAgain = connection.value === 'lost'
    connection.value = 'live'
    if (isAgain) everythingChanged()
  })
  source.addEventListener('error', () => {
    connection.value = 'lost'
  })
}

function paint(): void {
  const events = waiting
  waiting = []
  frame = 0
  now.value = nowMs()
  if (events.some(({ type }) => type === 'reset')) everythingChanged()
  else changes.value = changesAfter(changes.value, events)
  for (const event of events) if (event.type === 'mode') isHeld.value = event.isHeld !== false
  addDeltas(events)
  const counts = events.some((event) => event.type === 'mode' || isSigned(event))
  if (counts) refreshStatus()
}

function isSigned(event: FeedEvent): boolean {
  return event.type === 'changed' && event.isSigned
}

/** All that is shown is asked anew: what happened meanwhile is not known. */
function everythingChanged(): void {
  const { runs, log, mode, journals } = changes.value
  const all = journals.all + 1
  changes.value = { runs: runs + 1, log: log + 1, mode: mode + 1, journals: { all, of: new Map() } }
  refreshStatus()
}

function addDeltas(events: readonly FeedEvent[]): void {
  const texts = new Map(deltas.value)
  for (const event of events) {
    if (event.type !== 'delta') continue
    const key = `${event.runId} ${event.path}`
    texts.set(key, ((texts.get(key) ?? '') + event.text).slice(-DELTA_LENGTH_MAX))
  }
  if (texts.size > DELTAS_MAX) texts.clear()
  if (events.some(({ type }) => type === 'delta')) deltas.value = texts
}

export function refreshStatus(): void {
  ask('status', {}).then(
    (found) => {
      status.value = found
    },
    () => undefined
  )
}
