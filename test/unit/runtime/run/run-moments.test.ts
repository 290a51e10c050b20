import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { defineBlock } from '../../../../src/block/index.js'
import { alterRecords } from '../../../../src/cli/demo/alter.js'
import { type Json, limits, ManualClock, type RunId } from '../../../../src/core/index.js'
import { openMemoryStore, type Store } from '../../../../src/ledger/index.js'
import { Registry } from '../../../../src/runtime/code/registry.js'
import type { ChartAt, WiredRuntime } from '../../../../src/runtime/index.js'
import { ComparedRuns } from '../../../../src/runtime/queries/compared-runs.js'
import { RunCharts } from '../../../../src/runtime/queries/run-charts.js'
import { encodePicture, parsePicture } from '../../../../src/runtime/run/kept-picture.js'
import { RunMoments } from '../../../../src/runtime/run/run-moments.js'
import { cases } from '../../../support/effort.js'
import { journalScenes, sceneRegistrations } from '../../../support/journal-scenes.js'
import { lasting } from '../../../support/lasting-store.js'
import { openOn, settleDown, testKeys, World } from '../../../support/lives.js'
import { picturesOf } from '../../../support/recorded-pictures.js'
import { SCENARIO_RUN } from '../../../support/run-to-end.js'
import { expectVerifyFailure } from '../../../support/verified-close.js'
import '../../../support/seed.js'

afterEach(() => vi.restoreAllMocks())

const { PICTURE_ENTRIES_BETWEEN: between } = limits

/** What each run in memory says of its moments, looked at as it leaves. */
function watched(): Map<number, ChartAt> {
  const seen = new Map<number, ChartAt>()
  const { leave } = RunMoments.prototype
  vi.spyOn(RunMoments.prototype, 'leave').mockImplementation(function (this: RunMoments, ...how) {
    for (let entry = 0; this.runId === SCENARIO_RUN && entry < 1_000; entry += 1) {
      const one = this.at(entry)
      if (one !== undefined) seen.set(entry, one)
    }
    return leave.apply(this, how)
  })
  return seen
}

describe('moments of a live run', () => {
  it.each(Object.keys(journalScenes))('Q4: are those of a fold: %s', async (name) => {
    const seen = watched()
    const lines = (await journalScenes[name]?.play()) ?? []
    const registry = await Registry.open(sceneRegistrations(new World()))
    const right = (await picturesOf(lines, registry)) ?? []
    for (const [entry, one] of seen) {
      // What a process that was killed had not on the disk happened otherwise.
      if (one.at !== right[entry]?.at && one.entry >= right.length) continue
      expect(one, lines[entry]?.text).toEqual(right[entry])
    }
  })

  it('are known of most scenes', async () => {
    let known = 0
    for (const scene of Object.values(journalScenes)) {
      const seen = watched()
      const lines = await scene.play()
      if (seen.size >= lines.length / 2) known += 1
      vi.restoreAllMocks()
    }
    expect(known).toBeGreaterThan(Object.keys(journalScenes).length / 2)
  })
})

const steps = [
  defineBlock({ name: 'give', version: '1.0.0', sideEffects: 'none', run: () => 1 }),
  defineBlock({
    name: 'pay',
    version: '1.0.0',
    sideEffects: 'idempotent',
    run: (ctx) => ctx.effect('bank', { request: 1, perform: () => 'paid' })
  }),
  defineBlock({
    name: 'flaky',
    version: '1.0.0',
    sideEffects: 'none',
    run: (ctx) => (ctx.random() < 0.4 ? ctx.fail('flaked') : 'well')
  }),
  defineBlock({
    name: 'rest',
    version: '1.0.0',
    sideEffects: 'none',
    run: async (ctx) => {
      await ctx.sleep(60_000)
      return null
    }
  })
]
const retries = { recovery: [{ retry: { max_attempts: 9 } }] }
const kinds: Readonly<Record<string, Json>> = {
  give: { block: 'give' },
  pay: { block: 'pay' },
  flaky: { block: 'flaky', ...retries },
  rest: { block: 'rest' },
  inner: { composite: { entry_point: 'p', nodes: { p: { block: 'pay' }, g: { block: 'give' } } } },
  whole: { composite: { entry_point: 'g', atomic: true, nodes: { g: { block: 'give' } } } }
}

/** Nodes in a circle, until the run has had as many steps as it may. */
function circle(names: readonly string[], max_steps: number): Json {
  const nodes = names.map((name, n) => [`n${n}`, kinds[name] ?? null] as const)
  const ways = names.map((_, n) => [`n${n}`, `n${(n + 1) % names.length}`] as const)
  return {
    schema: 'tally-composite/1',
    name: 'circle',
    version: '1.0.0',
    entry_point: 'n0',
    max_steps,
    nodes: Object.fromEntries(nodes) as Json,
    transitions: Object.fromEntries(ways)
  }
}

const opened = (store: Store, clock = new ManualClock(1_700_000_000_000)) =>
  openOn(lasting(store), { blocks: steps, clock })

/** A moment folded from the beginning, without what was kept. */
function folded({ ledger, registry }: WiredRuntime): RunCharts {
  const pictures = { savePicture: () => undefined, picture: () => undefined }
  const bare = new Proxy(ledger, {
    get: (target, name) => {
      const value: unknown = name === 'pictures' ? pictures : Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    }
  })
  const compared = new ComparedRuns({ ledger: bare, isLive: () => false })
  return new RunCharts({ ledger: bare, registry, compared })
}

/** Drives a run over its waits, by the clock; closes and opens again after so many of them. */
async function driven(store: Store, document: Json, reopenAfter: number): Promise<void> {
  const clock = new ManualClock(1_700_000_000_000)
  let tally = await opened(store, clock)
  tally.begin(document, { id: 'long' })
  for (let turn = 1; ; turn += 1) {
    await settleDown(() => `${tally.run('long')?.entries} ${tally.run('long')?.status}`)
    const status = tally.run('long')?.status
    if (status !== 'running' && status !== 'waiting') break
    if (turn % reopenAfter === 0) {
      await tally.close()
      tally = await opened(store, clock)
      await tally.resume('long')
    }
    clock.advance(60_000)
  }
  await tally.close()
}

describe('pictures that a run has kept', () => {
  it('Q4: show what a fold shows, at every entry, after waits and in later lives', async () => {
    const names = fc.array(fc.constantFrom(...Object.keys(kinds)), { minLength: 2, maxLength: 6 })
    let read = 0
    await fc.assert(
      fc.asyncProperty(names, fc.integer({ min: 15, max: 60 }), async (some, reopenAfter) => {
        const store = openMemoryStore()
        await driven(store, circle(some, 240), reopenAfter)
        const tally = await opened(store)
        const entries = tally.run('long')?.entries ?? 0
        const pictures = vi.spyOn(tally.ledger.pictures, 'picture')
        const right = folded(tally)
        await right.chartAt('long' as RunId, undefined)
        for (let entry = 0; entry < entries; entry += 1) {
          const moment = await right.chartAt('long' as RunId, entry)
          expect(await tally.queries.chartAt({ id: 'long', entry })).toEqual(moment)
        }
        for (let stretch = 1; stretch * between < entries; stretch += 1) {
          expect(tally.ledger.pictures.picture({ runId: 'long' as RunId, stretch })).toBeDefined()
        }
        read += pictures.mock.calls.length
        await tally.close()
      }),
      { numRuns: cases({ usual: 3, long: 12, soak: 200 }) }
    )
    expect(read).toBeGreaterThan(0)
  })

  it('Q4: are shown of the entries that they were made of, and of no others', async () => {
    expectVerifyFailure('journal.code')
    const store = openMemoryStore()
    await driven(store, circle(['give', 'pay'], 320), 1)
    const honest = await opened(store)
    const right = await honest.queries.chartAt({ id: 'long', entry: 400 })
    await honest.close()
    const later = (text: string) =>
      text.replace(/(\nJ\{"at":)(\d+)(,[^\n]*"n":300,)/, (_, before, at, after) => {
        return `${before}${Number(at) + 1}${after}`
      })
    expect(await alterRecords(store, testKeys.identity, later)).toBe(1)
    const tally = await opened(store)
    const { chartAt } = tally.queries
    const forged = { code: 'run.journal_forged' }
    for (const entry of [300, 400, 511]) {
      await expect(chartAt({ id: 'long', entry }), `${entry}`).rejects.toMatchObject(forged)
    }
    // Another stretch says nothing of it.
    expect(await chartAt({ id: 'long', entry: 600 })).toMatchObject({ entry: 600 })
    expect(await chartAt({ id: 'long', entry: 100 })).toMatchObject({ entry: 100 })
    expect(right.entry).toBe(400)
    await tally.close()
  })

  it('L12: are left aside without the code of the ledger, which a verification misses', async () => {
    expectVerifyFailure('derived.code')
    const store = openMemoryStore()
    await driven(store, circle(['give', 'pay'], 320), 1)
    const honest = await opened(store)
    const right = await honest.queries.chartAt({ id: 'long', entry: 400 })
    await honest.close()
    const puts: (readonly [string, Uint8Array])[] = []
    for await (const [key, value] of store.entries({ gte: '', lt: '\uffff' })) {
      if (!key.includes('/picture/')) continue
      const altered = Buffer.from(value)
      altered.writeUInt8((altered.at(-1) ?? 0) ^ 1, altered.length - 1)
      puts.push([key, altered])
    }
    expect(puts.length).toBeGreaterThan(1)
    await store.commit([{ puts, deletes: [] }])
    const tally = await opened(store)
    expect(await tally.queries.chartAt({ id: 'long', entry: 400 })).toEqual(right)
    await tally.close()
  })
})

describe('the text of a picture', () => {
  const actor = { path: 'root', mark: 'BUSY', value: 'BUSY.run', step: 1, attempt: 2 } as const
  const picture = {
    from: 256,
    before: 'aa',
    through: 'bb',
    actors: [{ ...actor, ended: null }],
    moments: [
      { at: 1, status: 'running', changed: [{ ...actor, ended: 'failed' }] },
      { at: 2, status: 'waiting', changed: [] }
    ]
  } as const

  it('gives back what was written', () => {
    expect(parsePicture(encodePicture(picture))).toEqual(picture)
  })

  it.each([
    ['no JSON', '{'],
    ['no object', '1'],
    ['another format', '"format":9'],
    ['an actor that is cut off', '"actors":[0,0,1,2]'],
    ['a path that it does not name', '"actors":[7,0,1,2,0]'],
    ['a status that is none', '"moments":[[1,9]]'],
    ['a moment that is no list', '"moments":[1]'],
    ['a first entry that is no count', '"from":-1']
  ])('is left aside with %s', (_, part) => {
    const [name = ''] = /^"\w+":/.exec(part) ?? []
    const text = encodePicture(picture)
    const altered =
      name === '' ? part : text.replace(new RegExp(`${name}(\\[.*?\\](?=,")|\\d+)`), part)
    expect(altered).not.toBe(text)
    expect(parsePicture(altered)).toBeUndefined()
  })
})
