import { describe, expect, it } from 'vitest'
import { defineBlock } from '../../../../src/code/index.js'
import { type Json, limits, ManualClock, nextTurn } from '../../../../src/core/index.js'
import { openMemoryStore } from '../../../../src/ledger/index.js'
import type { FeedEvent, WiredRuntime } from '../../../../src/runtime/index.js'
import { feed } from '../../../../src/runtime/queries/feed.js'
import { lasting } from '../../../support/lasting-store.js'
import { LedgerOnDisk } from '../../../support/ledger-on-disk.js'
import { openOn } from '../../../support/lives.js'

const count = defineBlock({
  name: 'count',
  version: '1.0.0',
  sideEffects: 'none',
  run: (ctx) => {
    const sum = (ctx.state.get<number>('sum') ?? 0) + 1
    ctx.state.set('sum', sum)
    return sum
  }
})
const fail = defineBlock({
  name: 'fail',
  version: '1.0.0',
  sideEffects: 'none',
  run: (ctx) => ctx.fail('no_luck', { message: 'none' })
})
const one = (block: string): Json => ({
  schema: 'tally-composite/1',
  name: block,
  version: '1.0.0',
  entry_point: 'first',
  nodes: { first: { block } }
})

const open = () => openOn(openMemoryStore(), { blocks: [count, fail] })

async function did(tally: WiredRuntime, block: string, id: string): Promise<void> {
  await tally.begin(one(block), { id }).result
}

/** Events behind a place up to the last that is durable now. */
async function until(tally: WiredRuntime, since: string, places: number): Promise<FeedEvent[]> {
  const found: FeedEvent[] = []
  if (places === 0) return found
  for await (const event of tally.queries.feed({ since })) {
    found.push(event)
    if (found.length === places) break
  }
  return found
}

/** A reader that listens when this resolves: what it needs is loaded before. */
async function listening(tally: WiredRuntime) {
  await did(tally, 'count', 'before')
  await until(tally, '0.0', 1)
  const iterator = tally.queries.feed()[Symbol.asyncIterator]()
  const first = iterator.next()
  await nextTurn()
  return { iterator, first }
}

async function allOf(tally: WiredRuntime): Promise<FeedEvent[]> {
  const past = await tally.ledger.past()
  let expected = 0
  for (let seq = 0; seq < past.commits; seq += 1) {
    const { lines } = past.commit(seq)
    const runs = new Set(lines.filter(({ kind }) => kind === 'run').map(({ runId }) => runId))
    expected += lines.filter(({ kind }) => kind !== 'run').length + runs.size
  }
  return until(tally, '0.0', expected)
}

const placeOf = (event: FeedEvent) => ('place' in event ? event.place : '')

describe('the feed', () => {
  it('Q4: gives every entry, receipt and evidence once, in places that ascend', async () => {
    const tally = await open()
    await did(tally, 'count', 'a')
    await did(tally, 'fail', 'b')
    const events = await allOf(tally)
    const entries = events.flatMap((event) => (event.type === 'entry' ? [event.entry] : []))
    for (const id of ['a', 'b']) {
      const journal: Json[] = []
      for await (const { value } of tally.journal(id)) journal.push(value)
      const ofRun = entries.filter((entry) => (entry as { run?: string }).run === id)
      expect(ofRun).toEqual(journal)
    }
    const leaves = events.flatMap((event) => ('line' in event ? [event.line.leaf] : []))
    expect(leaves).toEqual(leaves.map((_, place) => place))
    const { logSize, receipts } = await tally.ledger.past()
    expect(leaves).toHaveLength(logSize)
    expect(events.filter(({ type }) => type === 'evidence')).toHaveLength(logSize - receipts)
    const order = events.map((event) => placeOf(event).split('.').map(Number))
    const isAfter = ([seq = 0, line = 0]: number[], [later = 0, next = 0]: number[]) =>
      later > seq || (later === seq && next > line)
    expect(order.every((at, n) => n === 0 || isAfter(order[n - 1] ?? [], at))).toBe(true)
    const last = events.findLast(({ type }) => type === 'run')
    expect(last).toMatchObject({ run: { id: 'b', status: 'failed', failure: 'no_luck: none' } })
    await tally.close()
  })

  it('Q4: continues behind any place, and the same after the ledger was opened anew', async () => {
    const disk = await LedgerOnDisk.create()
    const tally = await disk.open({ blocks: [count, fail] })
    await did(tally, 'count', 'a')
    await did(tally, 'count', 'b')
    const events = await allOf(tally)
    const rest = async (of: WiredRuntime) => {
      for (const [n, event] of events.entries()) {
        const behind = await until(of, placeOf(event), events.length - n - 1)
        expect(behind).toEqual(events.slice(n + 1))
      }
    }
    await rest(tally)
    await tally.close()
    await rest(await disk.open({ blocks: [count, fail] }))
    await disk.remove()
  })

  it('gives what becomes durable from now on where no place is given', async () => {
    const tally = await open()
    const { iterator, first } = await listening(tally)
    await did(tally, 'count', 'b')
    expect((await first).value).toMatchObject({ type: 'entry', runId: 'b', entry: { n: 0 } })
    await iterator.return?.()
    await tally.close()
  })

  it('ends while it waits, when its reader leaves and when the ledger is closed', async () => {
    const tally = await open()
    const left = await listening(tally)
    await left.iterator.return?.()
    expect((await left.first).done).toBe(true)
    const kept = tally.queries.feed()[Symbol.asyncIterator]()
    const waiting = kept.next()
    await nextTurn()
    await tally.close()
    const types: string[] = []
    for (let next = await waiting; !next.done; next = await kept.next()) types.push(next.value.type)
    expect(types).toEqual(['mode'])
  })

  it('says reset for a place that is too far behind or of another ledger, and refuses others', async () => {
    const tally = await open()
    await did(tally, 'count', 'a')
    const { commits } = await tally.ledger.past()
    const now = `${commits}.0`
    expect(await until(tally, `${commits + 1}.1`, 1)).toEqual([{ type: 'reset', place: now }])
    for (const since of ['', 'x', '1', '1.', '-1.0', '1.5.2']) {
      await expect(until(tally, since, 1)).rejects.toMatchObject({ code: 'service.invalid_params' })
    }
    const past = await tally.ledger.past()
    const far = limits.FEED_COMMITS_BEHIND_MAX + 1
    Object.defineProperty(past, 'commits', { get: () => far + 1 })
    expect(await until(tally, '0.0', 1)).toEqual([{ type: 'reset', place: `${far + 1}.0` }])
    Reflect.deleteProperty(past, 'commits')
    await tally.close()
  })

  it('gives changes of the mode, and not that of each commit', async () => {
    const tally = await open()
    const { iterator, first } = await listening(tally)
    tally.ledger.enterSafeMode({ code: 'ledger.corrupt', message: 'it was tampered with' })
    expect((await first).value).toMatchObject({ type: 'mode', mode: 'safe' })
    await iterator.return?.()
    await tally.close()
  })

  /** A feed that gives changes once in a second of a clock that stands still. */
  function paced(tally: WiredRuntime, since: string | undefined) {
    const clock = new ManualClock()
    const deltas = new Set<(event: FeedEvent & { readonly type: 'delta' }) => void>()
    const onDelta = (listener: (event: FeedEvent & { readonly type: 'delta' }) => void) => {
      deltas.add(listener)
      return () => deltas.delete(listener)
    }
    const line = () => Promise.reject(new Error('no line is read'))
    const parts = { ledger: tally.ledger, line, onDelta, clock }
    const end = new AbortController()
    const events = feed(parts, { since, paceMs: 1_000 }, end.signal)
    const say = (text: string) => {
      const delta = { type: 'delta', runId: 'a' as never, path: 'root', text } as const
      for (const listener of deltas) listener(delta)
    }
    return { clock, events, end, say }
  }

  it('Q1, Q4: says at a pace which runs have changed, and leaves none out', async () => {
    const tally = await open()
    await did(tally, 'count', 'a')
    const { clock, events, end, say } = paced(tally, '0.0')
    const first = (await events.next()).value
    expect(first).toMatchObject({ type: 'changed', runs: ['a'], isSigned: true })
    await did(tally, 'count', 'b')
    await did(tally, 'fail', 'c')
    const next = events.next()
    await nextTurn()
    // What is no history does not wait for the pace, and does not hasten it.
    say('text')
    expect((await next).value).toMatchObject({ type: 'delta', text: 'text' })
    let isThere = false
    const both = events.next()
    both.then(() => {
      isThere = true
    })
    clock.advance(999)
    await nextTurn()
    expect(isThere).toBe(false)
    clock.advance(1)
    const second = (await both).value as FeedEvent & { readonly type: 'changed' }
    expect(second).toMatchObject({ type: 'changed', runs: ['b', 'c'], isSigned: true })
    // Its place is the last that is durable: nothing follows it, and what comes next does.
    const { commits } = await tally.ledger.past()
    expect(second.place.split('.')[0]).toBe(String(commits - 1))
    end.abort()
    await events.return(undefined)
    const again = paced(tally, second.place)
    const later = again.events.next()
    await nextTurn()
    await did(tally, 'count', 'd')
    expect((await later).value).toMatchObject({ type: 'changed', runs: ['d'] })
    again.end.abort()
    await tally.close()
  })

  it('Q4: ends at a pace when the ledger is closed, and continues where it was', async () => {
    const store = openMemoryStore()
    const kept = lasting(store)
    const tally = await openOn(kept, { blocks: [count, fail] })
    await did(tally, 'count', 'a')
    const { events } = paced(tally, '0.0')
    const first = (await events.next()).value as FeedEvent & { readonly type: 'changed' }
    await did(tally, 'count', 'b')
    const next = events.next()
    await nextTurn()
    await tally.close()
    expect((await next).value).toMatchObject({ type: 'mode', mode: 'closed' })
    expect((await events.next()).done).toBe(true)
    const again = await openOn(store, { blocks: [count, fail] })
    const rest = paced(again, first.place)
    expect((await rest.events.next()).value).toMatchObject({ type: 'changed', runs: ['b'] })
    rest.end.abort()
    await again.close()
  })

  it('Q1: names no runs where it would have to read many commits or name many', async () => {
    const tally = await open()
    await did(tally, 'count', 'a')
    const past = await tally.ledger.past()
    const { commits } = past
    const [line] = past.commit(commits - 1).lines
    let reads = 0
    const commit = (seq: number) => {
      reads += 1
      return { seq, lines: line === undefined ? [] : [line] }
    }
    Object.assign(past, { commit })
    Object.defineProperty(past, 'commits', { get: () => 100_000, configurable: true })
    const { events, end } = paced(tally, '0.0')
    const place = `99999.${line?.place}`
    const changed = { type: 'changed', place, runs: null, isSigned: true }
    expect((await events.next()).value).toEqual(changed)
    expect(reads).toBe(1)
    end.abort()
    await events.return(undefined)
    const lines = Array.from({ length: limits.FEED_CHANGED_RUNS_MAX + 1 }, (_, n) => ({
      place: n + 1,
      kind: 'run' as const,
      runId: `run-${n}` as never
    }))
    Object.assign(past, { commit: (seq: number) => ({ seq, lines }) })
    const named = paced(tally, '99999.1')
    expect((await named.events.next()).value).toMatchObject({ runs: { length: 256 } })
    const many = paced(tally, '99999.0')
    expect((await many.events.next()).value).toMatchObject({ runs: null, isSigned: false })
    for (const one of [named, many]) one.end.abort()
    Reflect.deleteProperty(past, 'commits')
    Reflect.deleteProperty(past, 'commit')
    await tally.close()
  })
})
