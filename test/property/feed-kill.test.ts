import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Json } from '../../src/core/index.js'
import type { FeedEvent, WiredRuntime } from '../../src/runtime/index.js'
import { createRuntime } from '../../src/runtime/index.js'
import { builtModule } from '../support/built.js'
import { cases } from '../support/effort.js'

const worker = fileURLToPath(new URL('feed-kill/worker.mjs', import.meta.url))
const library = builtModule('index.js')
const RUNS = 6
/** A life writes more events than that. */
const EVENTS_MAX = 30

/** A process that is killed once its reader has got so many events; gives what it has got. */
async function life(given: Readonly<Record<string, Json>>, events: number): Promise<FeedEvent[]> {
  const child = spawn(process.execPath, [worker, JSON.stringify({ ...given, library, runs: RUNS })])
  const errors: string[] = []
  child.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text))
  const ended = new Promise<string | null>((resolve) => {
    child.on('close', (_, signal) => resolve(signal))
  })
  const found: FeedEvent[] = []
  for await (const line of createInterface(child.stdout)) {
    // The last one may be cut off: its reader has not got it.
    if (line.endsWith('}')) found.push(JSON.parse(line) as FeedEvent)
    if (found.length === events) child.kill('SIGKILL')
  }
  expect(await ended, errors.join('')).toBe('SIGKILL')
  return found
}

async function rest(tally: WiredRuntime, since: string): Promise<FeedEvent[]> {
  const past = await tally.ledger.past()
  const [seq = 0, line = 0] = since.split('.').map(Number)
  const found: FeedEvent[] = []
  const lastEntry = past.commit(past.commits - 1).lines.at(-1)?.place ?? 0
  if (seq === past.commits - 1 && line >= lastEntry) return found
  for await (const event of tally.queries.feed({ since })) {
    found.push(event)
    if ('place' in event && event.place === `${past.commits - 1}.${lastEntry}`) break
  }
  return found
}

const placed = (events: readonly FeedEvent[]) =>
  events.flatMap((event) => ('place' in event ? [event.place] : []))

it('Q4: a reader that resumes after each kill of its process gets every entry once, in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: EVENTS_MAX }), { minLength: 1, maxLength: 2 }),
      async (kills) => {
        const folder = await mkdtemp(join(tmpdir(), 'tally-feed-'))
        const location = join(folder, 'ledger')
        const events: FeedEvent[] = []
        for (const [number, count] of kills.entries()) {
          const since = placed(events).at(-1) ?? '0.0'
          events.push(...(await life({ location, since, life: number }, count)))
        }
        const tally = await createRuntime({ location, serve: false })
        events.push(...(await rest(tally, placed(events).at(-1) ?? '0.0')))
        await holds(tally, events)
        await tally.close()
        await rm(folder, { recursive: true, force: true })
      }
    ),
    { numRuns: cases({ usual: 1, long: 4, soak: 100 }) }
  )
})

async function holds(tally: WiredRuntime, events: readonly FeedEvent[]): Promise<void> {
  expect(events.filter(({ type }) => type === 'reset')).toEqual([])
  const places = placed(events).map((place) => place.split('.').map(Number))
  for (const [n, [seq = 0, line = 0]] of places.entries()) {
    const [before = -1, lineBefore = 0] = places[n - 1] ?? []
    expect(seq > before || (seq === before && line > lineBefore)).toBe(true)
  }
  const got = new Map<string, Json[]>()
  for (const event of events) {
    if (event.type !== 'entry') continue
    got.set(event.runId, [...(got.get(event.runId) ?? []), event.entry])
  }
  const kept = new Map<string, Json[]>()
  for await (const { runId } of tally.runs()) {
    const journal: Json[] = []
    for await (const { value } of tally.journal(runId)) journal.push(value)
    kept.set(runId, journal)
  }
  expect(new Map([...got].sort())).toEqual(new Map([...kept].sort()))
  const receipts = events.flatMap((event) => (event.type === 'receipt' ? [event.line.index] : []))
  expect(receipts).toEqual(receipts.map((_, index) => index))
  expect(receipts).toHaveLength((await tally.ledger.past()).receipts)
}
