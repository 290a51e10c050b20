import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { JournalEntry } from '../../../../src/block/index.js'
import { alterRecords } from '../../../../src/cli/demo/alter.js'
import { defineBlock, defineWorkflow } from '../../../../src/code/index.js'
import {
  type Json,
  type JsonObject,
  limits,
  ManualClock,
  type RunId
} from '../../../../src/core/index.js'
import { openMemoryStore, type Store } from '../../../../src/ledger/index.js'
import { Registry } from '../../../../src/runtime/code/registry.js'
import type { ActorAt, WiredRuntime } from '../../../../src/runtime/index.js'
import { ComparedRuns } from '../../../../src/runtime/queries/compared-runs.js'
import { RunCharts } from '../../../../src/runtime/queries/run-charts.js'
import {
  actorsAfter,
  type KeptPicture,
  PictureWriter,
  parsePicture,
  pictureIn,
  type WrittenPicture
} from '../../../../src/runtime/run/kept-picture.js'
import { newMoments, RunMoments } from '../../../../src/runtime/run/run-moments.js'
import type { ShownActor } from '../../../../src/runtime/run/shown-actors.js'
import { compositeDocument } from '../../../support/composites.js'
import { cases, isTaken } from '../../../support/effort.js'
import { journalScenes, sceneRegistrations } from '../../../support/journal-scenes.js'
import { lasting } from '../../../support/lasting-store.js'
import { openOn, settleDown, testKeys, until, World } from '../../../support/lives.js'
import { picturesOf } from '../../../support/recorded-pictures.js'
import { SCENARIO_RUN } from '../../../support/run-to-end.js'
import { expectVerifyFailure } from '../../../support/verified-close.js'
import '../../../support/seed.js'

afterEach(() => vi.restoreAllMocks())

const { PICTURE_ENTRIES_BETWEEN: between } = limits

/** What each run in memory says of its moments, looked at as it leaves. */
function shownIn(picture: KeptPicture | undefined): Map<number, readonly ActorAt[]> {
  const shown = new Map<number, readonly ActorAt[]>()
  if (picture === undefined) return shown
  for (let entry = picture.from; entry < picture.from + picture.entries; entry += 1) {
    shown.set(entry, actorsAfter(entry, [picture]) ?? [])
  }
  return shown
}

function watched(): Map<number, readonly ActorAt[]> {
  const seen = new Map<number, readonly ActorAt[]>()
  const { leave } = RunMoments.prototype
  vi.spyOn(RunMoments.prototype, 'leave').mockImplementation(function (this: RunMoments, ...how) {
    if (this.runId === SCENARIO_RUN)
      for (const [n, one] of shownIn(pictureIn(this.picture))) seen.set(n, one)
    return leave.apply(this, how)
  })
  return seen
}

describe('moments of a live run', () => {
  /** Scenes of which at least every second moment was known. */
  const known = new Set<string>()
  const taken = Object.keys(journalScenes).filter((_, place) => isTaken(place, 3))

  it.each(taken)('Q4: are those of a fold: %s', async (name) => {
    const seen = watched()
    const lines = (await journalScenes[name]?.play()) ?? []
    if (seen.size >= lines.length / 2) known.add(name)
    const registry = await Registry.open(sceneRegistrations(new World()))
    const right = (await picturesOf(lines, registry)) ?? []
    for (const [entry, one] of seen) {
      // What a process that was killed had not on the disk happened otherwise.
      if (entry >= right.length) continue
      expect(one, lines[entry]?.text).toEqual(right[entry]?.actors)
    }
  })

  it('are known of most scenes', () => {
    expect(known.size).toBeGreaterThan(taken.length / 2)
  })
})

const give = defineBlock({ name: 'give', version: '1.0.0', sideEffects: 'none', run: () => 1 })
const pay = defineBlock({
  name: 'pay',
  version: '1.0.0',
  sideEffects: 'idempotent',
  run: (ctx) => ctx.effect('bank', { request: 1, perform: () => 'paid' })
})
const flaky = defineBlock({
  name: 'flaky',
  version: '1.0.0',
  sideEffects: 'none',
  run: (ctx) => (ctx.random() < 0.4 ? ctx.fail('flaked') : 'well')
})
const rest = defineBlock({
  name: 'rest',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx) => {
    await ctx.sleep(60_000)
    return null
  }
})
const steps = [give, pay, flaky, rest]
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

/** As many nodes at once as `width`, of all kinds. */
function wide(width: number): Json {
  const kindsInTurn = Object.values(kinds)
  const nodes = Array.from({ length: width }, (_, n) => {
    const node = kindsInTurn[n % kindsInTurn.length]
    return { ...(node as JsonObject), id: `n${n}` }
  })
  return { schema: 'tally-plan/1', name: 'wide', version: '1.0.0', nodes }
}

/** Code that calls steps, two at once, and rests after some. */
const coded = defineWorkflow({
  name: 'coded',
  version: '1.0.0',
  blocks: steps,
  async run(ctx) {
    for (let n = 0; n < 90; n += 1) {
      await ctx.all([ctx.step('pay', pay, null), ctx.step('give', give, null)])
      if (n % 20 === 7) await ctx.sleep(60_000)
    }
    return null
  }
})

const opened = (store: Store, clock = new ManualClock(1_700_000_000_000)) =>
  openOn(lasting(store), { blocks: steps, workflows: [coded], clock })

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

const LONG = 'long' as RunId

/**
 * Drives a run over its waits, by the clock; closes and opens again after so many of them. What is
 * shown of it meanwhile is what a fold shows.
 */
async function driven(
  store: Store,
  work: Json | typeof coded,
  reopenAfter: number
): Promise<readonly number[]> {
  const clock = new ManualClock(1_700_000_000_000)
  const seen: number[] = []
  let tally = await opened(store, clock)
  if (work === coded) tally.begin(coded, null, { id: LONG })
  else tally.begin(work as Json, { id: LONG })
  await until(() => tally.run(LONG) !== undefined)
  for (let turn = 1; ; turn += 1) {
    await settleDown(() => `${tally.run(LONG)?.entries} ${tally.run(LONG)?.status}`)
    // Code that runs again takes its time, and has no short waits here.
    if (work === coded) await until(() => tally.run(LONG)?.status !== 'running')
    const status = tally.run(LONG)?.status
    if (status !== 'running' && status !== 'waiting') break
    if (turn % 8 === 0) {
      const last = await tally.queries.chartAt({ id: LONG })
      expect(last).toEqual(await folded(tally).chartAt(LONG, last.entry))
      seen.push(last.entry)
    }
    if (turn % reopenAfter === 0) {
      await tally.close()
      tally = await opened(store, clock)
      await tally.resume(LONG)
    }
    clock.advance(60_000)
  }
  await tally.close()
  return seen
}

/** Compares moments of the run with those of a fold; gives how many pictures were read. */
async function shownAlike(store: Store, every: number): Promise<readonly string[]> {
  const tally = await opened(store)
  const entries = tally.run(LONG)?.entries ?? 0
  const right = folded(tally)
  await right.chartAt(LONG, undefined)
  const read = vi.spyOn(tally.ledger.pictures, 'picture')
  for (let entry = 0; entry < entries; entry += every) {
    const moment = await right.chartAt(LONG, entry)
    expect(await tally.queries.chartAt({ id: LONG, entry })).toEqual(moment)
  }
  expect(read.mock.calls.length).toBeGreaterThanOrEqual(Math.floor((entries - between) / every))
  const texts: string[] = []
  for (let stretch = 1; stretch * between < entries; stretch += 1) {
    const text = tally.ledger.pictures.picture({ runId: LONG, stretch })
    expect(text, `stretch ${stretch}`).toBeDefined()
    texts.push(text ?? '')
  }
  await tally.close()
  return texts
}

describe('pictures that a run has kept', () => {
  it('Q4: show what a fold shows, at every entry, after waits and in later lives', async () => {
    const names = fc.array(fc.constantFrom(...Object.keys(kinds)), { minLength: 2, maxLength: 6 })
    let kept = 0
    await fc.assert(
      fc.asyncProperty(names, fc.integer({ min: 15, max: 60 }), async (some, reopenAfter) => {
        const store = openMemoryStore()
        await driven(store, circle(some, 240), reopenAfter)
        kept += (await shownAlike(store, 1)).length
      }),
      { numRuns: cases({ usual: 3, long: 8, soak: 200 }) }
    )
    expect(kept).toBeGreaterThan(0)
  })

  it('Q5: build on those before them, where there are many actors', async () => {
    const store = openMemoryStore()
    await driven(store, wide(500), 1)
    const pictures = (await shownAlike(store, 23)).map((text) => parsePicture(text)?.actors)
    expect(pictures.some((actors) => actors === null)).toBe(true)
    expect(pictures.every((actors) => actors !== undefined)).toBe(true)
  })

  it('Q4: show the children that code has called, which is run again in each life', async () => {
    const store = openMemoryStore()
    await driven(store, coded, 1)
    expect(await shownAlike(store, 7)).not.toEqual([])
  })

  it('Q4: show a run in memory as it stands', async () => {
    const seen = await driven(openMemoryStore(), circle(['give', 'rest'], 400), 1_000)
    expect(Math.max(...seen)).toBeGreaterThan(between)
  })

  it('Q4: build on none that ends elsewhere', async () => {
    const store = openMemoryStore()
    await driven(store, wide(500), 1)
    const tally = await opened(store)
    const { pictures } = tally.ledger
    const at = (stretch: number) => pictures.picture({ runId: LONG, stretch }) ?? '{}'
    const built = [1, 2, 3, 4].find((stretch) => parsePicture(at(stretch))?.actors === null) ?? 0
    // One that this ledger has written, of another history.
    const said: WrittenPicture = JSON.parse(at(built - 1))
    const states = said.states.map(([value, attempt, end]) => [value, attempt + 5, end])
    const other = { ...said, states, through: '00'.repeat(32) }
    pictures.savePicture({ runId: LONG, stretch: built - 1 }, JSON.stringify(other), 0)
    const entry = built * between
    const shown = await tally.queries.chartAt({ id: LONG, entry })
    expect(shown).toEqual(await folded(tally).chartAt(LONG, entry))
    await tally.close()
  })

  it('Q4: are not written again by a run that is rebuilt', async () => {
    const store = openMemoryStore()
    const clock = new ManualClock(1_700_000_000_000)
    const tally = await opened(store, clock)
    const saved = vi.spyOn(tally.ledger.pictures, 'savePicture')
    tally.begin(coded, null, { id: LONG })
    for (let turn = 0; turn < 4; turn += 1) {
      await until(() => tally.run(LONG)?.status === 'waiting')
      if (turn < 3) clock.advance(60_000)
      await settleDown(() => `${tally.run(LONG)?.entries}`)
    }
    await until(() => tally.run(LONG)?.status === 'waiting')
    expect(tally.run(LONG)?.entries).toBeGreaterThan(between)
    expect(saved.mock.calls.map(([{ stretch }]) => stretch)).toContain(0)
    await tally.close()
    const next = await opened(store, clock)
    const again = vi.spyOn(next.ledger.pictures, 'savePicture')
    await next.resume(LONG)
    await settleDown(() => `${next.run(LONG)?.entries}`)
    await next.close()
    expect(again.mock.calls.map(([{ stretch }]) => stretch)).not.toContain(0)
  })

  it('Q4: are given while their run only reads, and hands in what it has gathered', async () => {
    let answer: (value: Json) => void = () => undefined
    const held = new Promise<Json>((resolve) => {
      answer = resolve
    })
    const looks = defineBlock({
      name: 'looks',
      version: '1.0.0',
      sideEffects: 'none',
      run: async (ctx) => {
        for (let n = 0; n < 2 * between; n += 1) await ctx.effect('look', { perform: () => n })
        return ctx.effect('look', { perform: () => held })
      }
    })
    const tally = await openOn(openMemoryStore(), { blocks: [looks] })
    const saved = vi.spyOn(tally.ledger.pictures, 'savePicture')
    const { result } = tally.begin(
      compositeDocument({ nodes: { a: { block: 'looks' } }, transitions: {} }),
      { id: LONG }
    )
    await settleDown(() => saved.mock.calls.length)
    expect(saved.mock.calls.map(([{ stretch }]) => stretch)).toEqual([0, 1])
    answer('seen')
    expect((await result).status).toBe('done')
    await tally.close()
  })

  it('are not made of a run with a subject', () => {
    const store = { savePicture: () => undefined, picture: () => undefined }
    expect(newMoments(LONG, { pictures: store }, { subject: 'somebody' })).toBeUndefined()
    expect(newMoments(LONG, { pictures: store }, {})).toBeDefined()
  })

  it('Q4: are gone once their run is archived', async () => {
    const store = openMemoryStore()
    await driven(store, circle(['give', 'pay'], 320), 1)
    const tally = await opened(store)
    const picture = { runId: LONG, stretch: 1 }
    expect(tally.ledger.pictures.picture(picture)).toBeDefined()
    const path = join(mkdtempSync(join(tmpdir(), 'tally-pictures-')), 'a.archive')
    await tally.archive({ path, before: Date.now() + 60_000 })
    expect(tally.ledger.pictures.picture(picture)).toBeUndefined()
    await tally.close()
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

describe('a stretch that has ended', () => {
  it('Q5: is none of a run with more actors than are kept', () => {
    const moments = new RunMoments(LONG, { savePicture: () => undefined, picture: () => undefined })
    const entry = { k: 'signal', run: LONG, n: 0, at: 0 } as unknown as JournalEntry
    moments.took(entry, '', 1)
    const event = { type: 'attempt.resumed', at: 0 } as const
    for (let actor = 0; actor <= limits.PICTURE_ACTORS_MAX; actor += 1) {
      if (actor === limits.PICTURE_ACTORS_MAX) expect(moments.picture).toBeDefined()
      moments.moved(`root/${actor}`, event, { value: 'BUSY', context: { attempt: 1 } })
    }
    moments.took({ ...entry, n: 1 }, '', 1)
    expect([moments.picture, moments.save()]).toEqual([undefined, undefined])
  })

  it('Q4: waits for the position of its last entry', () => {
    const savePicture = vi.fn<WiredRuntime['ledger']['pictures']['savePicture']>()
    const moments = new RunMoments(LONG, { savePicture, picture: () => undefined })
    for (let n = 0; n <= between; n += 1) {
      const entry = { k: 'signal', run: LONG, n, at: n } as unknown as JournalEntry
      moments.took(entry, `${n}`, undefined)
    }
    expect(savePicture).not.toHaveBeenCalled()
    moments.appended(7)
    expect(savePicture).toHaveBeenCalledOnce()
    const [place, text, position] = savePicture.mock.calls[0] ?? []
    expect([place, position]).toEqual([{ runId: LONG, stretch: 0 }, 7])
    expect(parsePicture(text ?? '')).toMatchObject({ from: 0, entries: between, through: '255' })
  })
})

describe('the text of a picture', () => {
  const actor = { path: 'root', place: 0, value: 'BUSY.run', step: 1, attempt: 2 } as const
  const child = { path: 'root/a', place: 1, value: 'READY', step: 0, attempt: 0 } as const
  const written = (actors: readonly ShownActor[] | null) => {
    const begun = { from: 256, before: 'aa', status: 'running' } as const
    const writer = new PictureWriter({ ...begun, actors, named: 1 })
    writer.add(256, { ...actor, ended: 'failed' })
    writer.add(258, { ...child, ended: null })
    writer.add(258, { ...actor, attempt: 3, ended: 'succeeded' })
    return JSON.stringify(writer.written({ entries: 3, through: 'bb' }))
  }
  const whole = written([{ ...actor, ended: null }])

  it('gives back what was written', () => {
    const { path, place: _, ...state } = actor
    const busy = { value: 'BUSY.run', step: 1 }
    expect(parsePicture(whole)).toEqual({
      ...{ from: 256, entries: 3, before: 'aa', through: 'bb', status: 'running' },
      paths: [path, child.path],
      actors: [{ ...state, ended: null }],
      changes: [
        { ...busy, entry: 256, place: 0, attempt: 2, ended: 'failed' },
        { value: 'READY', entry: 258, place: 1, step: 0, attempt: 0, ended: null },
        { ...busy, entry: 258, place: 0, attempt: 3, ended: 'succeeded' }
      ]
    })
    expect(parsePicture(written(null))).toMatchObject({ paths: [child.path], actors: null })
  })

  it('shows each actor as it stood, over several pictures', () => {
    const [first, next] = [parsePicture(whole), parsePicture(written(null))]
    if (first === undefined || next === undefined) throw new Error('they are pictures')
    const shown = (entry: number) => actorsAfter(entry, [first])?.map(({ ended }) => ended)
    expect([255, 256, 257, 258].map(shown)).toEqual([
      [null],
      ['failed'],
      ['failed'],
      ['succeeded', null]
    ])
    expect(actorsAfter(258, [next])).toBeUndefined()
    // The child is the second actor of both, and has one path.
    const others = { ...next, from: 259, paths: [], entries: 3 }
    expect(actorsAfter(600, [first, others])?.map(({ path }) => path)).toEqual(['root', 'root/a'])
    expect(actorsAfter(600, [{ ...first, paths: ['root'] }, others])).toBeUndefined()
  })

  it.each([
    ['no JSON', '{'],
    ['no object', '1'],
    ['another format', '"format":9'],
    ['actors that are cut off', '"actors":[0]'],
    ['a state that it does not name', '"actors":[7,1]'],
    ['more actors than paths', '"actors":[0,1,0,1,0,1]'],
    ['a change that is cut off', '"changes":[0,0,0]'],
    ['a change of an entry that it has not', '"changes":[3,0,0,1]'],
    ['changes that are no list', '"changes":7'],
    ['a first entry that is no count', '"from":-1'],
    ['an end that is none', '"states":[["READY",1,3]]'],
    ['a state without a name', '"states":[[1,1,0]]'],
    ['a status that is none', '"status":"gone"'],
    ['paths that are no texts', '"paths":[1,2]']
  ])('is left aside with %s', (_, part) => {
    const name = /^"(\w+)":/.exec(part)?.[1]
    const said = { ...JSON.parse(whole), ...JSON.parse(name === undefined ? '{}' : `{${part}}`) }
    expect(parsePicture(name === undefined ? part : JSON.stringify(said))).toBeUndefined()
  })
})
