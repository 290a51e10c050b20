import { describe, expect, it } from 'vitest'
import { defineWorkflow, type Workflow } from '../../../../src/code/index.js'
import { systemRandom } from '../../../../src/core/index.js'
import { openMemoryStore, type Store } from '../../../../src/ledger/index.js'
import { runtimeOn } from '../../../../src/runtime/index.js'
import type { ScheduleOptions } from '../../../../src/runtime/schedule/schedule-options.js'
import { FakeClock } from '../../../../src/testing/fake-clock.js'
import { lasting } from '../../../support/lasting-store.js'
import { codeOf, inlineSigner, testKeys } from '../../../support/lives.js'

/** Q10, Q11: runs that begin by time, over restarts and whatever the clock does. */

const START = Date.parse('2026-06-01T00:00:00Z')

function logged() {
  const seen: string[] = []
  const job = defineWorkflow({
    name: 'job',
    version: '1.0.0',
    run: async (ctx, input: { readonly word: string }) => {
      await ctx.step('say', () => seen.push(input.word), null, { sideEffects: 'idempotent' })
      return ctx.runId
    }
  })
  return { seen, job }
}

/** Open until the test lets it go. */
const slow = defineWorkflow({
  name: 'slow',
  version: '1.0.0',
  run: (ctx, _input: null) => ctx.signal('go')
})

async function open(given: {
  readonly clock: FakeClock
  readonly workflows: readonly Workflow[]
  readonly store?: Store
  readonly schedules?: readonly ScheduleOptions[]
}) {
  const { clock, workflows, store = openMemoryStore(), schedules = [] } = given
  const kept = lasting(store)
  const tally = await runtimeOn({
    ...{ clock, workflows, store: kept, keys: testKeys, signer: inlineSigner() },
    ...{ random: systemRandom, durability: 'output' }
  })
  await tally.schedules.prepare()
  await tally.resumeAll()
  await tally.schedules.begin(schedules)
  return tally
}

type Opened = Awaited<ReturnType<typeof open>>

async function runsOf(tally: Opened, name: string): Promise<readonly string[]> {
  const found: string[] = []
  for await (const { runId, status } of tally.runs()) {
    if (runId.startsWith(`schedule:${name}:`)) found.push(`${runId.slice(-13, -5)} ${status}`)
  }
  return found.sort()
}

describe('a schedule', () => {
  it('begins a run at each of its times, and leaves one receipt where it is registered', async () => {
    const clock = new FakeClock({ at: START })
    const { seen, job } = logged()
    const every = { name: 'hourly', cron: '0 * * * *', workflow: job, input: { word: 'hi' } }
    const tally = await open({ clock, workflows: [job] })
    const reply = await tally.schedule(every)
    expect(reply).toMatchObject({ type: 'dapp', name: 'hourly', replaced: false })
    expect(await tally.schedule(every)).toMatchObject({ receipt: null })
    await clock.advance(3 * 3_600_000)
    expect(seen).toEqual(['hi', 'hi', 'hi'])
    expect(await runsOf(tally, 'hourly')).toEqual([
      '01:00:00 done',
      '02:00:00 done',
      '03:00:00 done'
    ])
    const { items } = await tally.runs({ tag: 'schedule:hourly' })
    expect(items.length).toBe(3)
    expect(items[0]?.principal).toMatchObject({ kind: 'owner' })
    const { schedules } = await tally.queries.schedules({ times: 2 })
    expect(schedules).toMatchObject([
      {
        ...{ name: 'hourly', cron: '0 * * * *', everyMs: null, timeZone: 'UTC', workflow: 'job' },
        ...{ overlap: 'skip', catchUp: 'last', isPaused: false, problem: null },
        next: [START + 4 * 3_600_000, START + 5 * 3_600_000],
        lastRun: 'schedule:hourly:2026-06-01T03:00:00.000Z'
      }
    ])
    expect((await tally.verify()).ok).toBe(true)
    await tally.close()
  })

  it('B14, Q10: begins a time once, in whatever process, and continues after a restart', async () => {
    const clock = new FakeClock({ at: START })
    const store = openMemoryStore()
    const { seen, job } = logged()
    const schedules = [{ name: 'm', every: '1m', workflow: job, input: { word: 'x' } }]
    const opened = { clock, workflows: [job], store, schedules }
    for (let life = 1; life <= 5; life += 1) {
      const tally = await open(opened)
      await clock.advance(60_000)
      expect(seen.length).toBe(life)
      await tally.close()
    }
    const last = await open(opened)
    await clock.settle()
    expect(seen.length).toBe(5)
    await last.close()
  })

  it('B14, Q10: a clock that was set back begins nothing a second time', async () => {
    const store = openMemoryStore()
    const { seen, job } = logged()
    const schedules = [{ name: 'm', cron: '* * * * *', workflow: job, input: { word: 'x' } }]
    const first = new FakeClock({ at: START })
    const before = await open({ clock: first, workflows: [job], store, schedules })
    await first.advance(3 * 60_000)
    expect(seen.length).toBe(3)
    await before.close()
    const second = new FakeClock({ at: START })
    const after = await open({ clock: second, workflows: [job], store, schedules })
    await second.advance(3 * 60_000)
    expect(seen.length).toBe(3)
    // Removed and registered again, its times are still those of runs that have begun.
    await after.intent({ action: 'system.schedule.remove', payload: { name: 'm' } })
    await after.close()
    const third = new FakeClock({ at: START })
    const again = await open({ clock: third, workflows: [job], store, schedules })
    await third.advance(3 * 60_000)
    expect(seen.length).toBe(3)
    await third.advance(60_000)
    expect(seen.length).toBe(4)
    await again.close()
  })

  it.each([
    { catchUp: 'none' as const, caught: [] },
    { catchUp: 'last' as const, caught: ['04:00:00 done'] },
    { catchUp: { all: 2 }, caught: ['03:00:00 done', '04:00:00 done'] },
    {
      catchUp: { all: 9 },
      caught: ['02:00:00', '03:00:00', '04:00:00'].map((one) => `${one} done`)
    }
  ])('catches up as its rule says: $catchUp', async ({ catchUp, caught }) => {
    const clock = new FakeClock({ at: START })
    const store = openMemoryStore()
    const { job } = logged()
    const input = { word: 'x' }
    const overlap = 'allow' as const
    const schedules = [{ name: 'h', cron: '0 * * * *', workflow: job, input, catchUp, overlap }]
    const opened = { clock, workflows: [job], store, schedules }
    const before = await open(opened)
    await clock.advance(3_600_000)
    await before.close()
    await clock.advance(3.5 * 3_600_000)
    const after = await open(opened)
    await clock.settle()
    expect(await runsOf(after, 'h')).toEqual(['01:00:00 done', ...caught])
    await clock.advance(1_800_000)
    expect((await runsOf(after, 'h')).at(-1)).toBe('05:00:00 done')
    await after.close()
  })

  it.each([
    { overlap: 'skip' as const, found: ['01:00:00 waiting'] },
    {
      overlap: 'allow' as const,
      found: ['01:00:00 waiting', '02:00:00 waiting', '03:00:00 waiting']
    },
    {
      overlap: 'cancel' as const,
      found: ['01:00:00 cancelled', '02:00:00 cancelled', '03:00:00 waiting']
    },
    {
      overlap: 'queue' as const,
      found: ['01:00:00 waiting', '02:00:00 running', '03:00:00 running']
    }
  ])('while an earlier run is open: $overlap', async ({ overlap, found }) => {
    const clock = new FakeClock({ at: START })
    const store = openMemoryStore()
    const schedules = [{ name: 's', cron: '0 * * * *', workflow: slow, overlap }]
    const opened = { clock, workflows: [slow], store, schedules }
    const tally = await open(opened)
    await clock.advance(3 * 3_600_000)
    expect(await runsOf(tally, 's')).toEqual(found)
    await tally.close()
    const again = await open(opened)
    await clock.settle()
    expect(await runsOf(again, 's')).toEqual(found)
    if (overlap === 'queue') {
      const [queue] = await again.queues('schedule:s')
      expect(queue).toMatchObject({ running: 1, waiting: 2 })
      for (const hour of ['01', '02', '03']) {
        const id = `schedule:s:2026-06-01T${hour}:00:00.000Z`
        await again.signal(id, 'go', hour)
        expect((await (await again.attach(id)).result).response.data).toBe(hour)
      }
    }
    expect((await again.verify()).ok).toBe(true)
    await again.close()
  })

  it('is paused, continues without what fell due meanwhile, and is removed', async () => {
    const clock = new FakeClock({ at: START })
    const { seen, job } = logged()
    const schedules = [{ name: 'm', every: '1m', workflow: job, input: { word: 'x' } }]
    const tally = await open({ clock, workflows: [job], schedules })
    const change = (action: string) => tally.intent({ action, payload: { name: 'm' } })
    await clock.advance(60_000)
    await change('system.schedule.pause')
    await clock.advance(5 * 60_000)
    expect(seen.length).toBe(1)
    expect((await tally.queries.schedules()).schedules).toMatchObject([
      { isPaused: true, next: [] }
    ])
    await change('system.schedule.resume')
    await clock.settle()
    expect(seen.length).toBe(1)
    await clock.advance(60_000)
    expect(seen.length).toBe(2)
    await change('system.schedule.remove')
    await clock.advance(5 * 60_000)
    expect(seen.length).toBe(2)
    expect((await tally.queries.schedules()).schedules).toEqual([])
    expect(await change('system.schedule.remove')).toMatchObject({ reason: 'not_scheduled' })
    await tally.close()
  })

  it('B14, Q11: is the owner’s alone, and no step of a document', async () => {
    const clock = new FakeClock({ at: START })
    const { job } = logged()
    const tally = await open({ clock, workflows: [job] })
    const spec = {
      ...{ cron: '* * * * *', timeZone: 'UTC', overlap: 'skip', catchUp: 'last' },
      ...{ workflow: 'job', input: { word: 'x' } }
    }
    const payload = { name: 'm', spec }
    const asAgent = { action: 'system.schedule', payload, agent: 'bot' }
    const reply = await tally.service({
      ...{ method: 'intent', params: asAgent, signal: new AbortController().signal }
    })
    expect(reply).toMatchObject({ type: 'error', reason: 'not_permitted' })
    const document = {
      ...{ schema: 'tally-composite/1', name: 'd', version: '1.0.0', entry_point: 'a' },
      nodes: { a: { block: 'intent', payload: { action: 'system.schedule', payload } } }
    }
    const { response } = await tally.begin(document).result
    expect(response.success).toBe(false)
    expect((await tally.queries.schedules()).schedules).toEqual([])
    await tally.close()
  })

  it('reports a run that cannot begin, and continues', async () => {
    const clock = new FakeClock({ at: START })
    const store = openMemoryStore()
    const { job } = logged()
    const schedules = [{ name: 'm', every: '1m', workflow: job, input: { word: 'x' } }]
    await (await open({ clock, workflows: [job], store, schedules })).close()
    const tally = await open({ clock, workflows: [], store })
    await clock.advance(120_000)
    const [line] = (await tally.queries.schedules()).schedules
    expect(line?.problem).toContain('job')
    expect(tally.status().warnings).toContainEqual(expect.stringContaining('schedule m'))
    await tally.close()
  })

  it('is refused where it cannot hold', async () => {
    const clock = new FakeClock({ at: START })
    const { job } = logged()
    const tally = await open({ clock, workflows: [job] })
    const bad = (given: object) => codeOf(tally.schedule(given as ScheduleOptions))
    const good = { name: 'm', cron: '* * * * *', workflow: 'job' }
    for (const given of [
      { ...good, name: 'a b' },
      { ...good, every: '1m' },
      { ...good, cron: 'whenever' },
      { ...good, timeZone: 'Mars/Olympus' },
      { ...good, document: '{}' },
      { name: 'm', every: 1, workflow: 'job' },
      { ...good, overlap: 'maybe' },
      { ...good, catchUp: { all: 0 } },
      { ...good, overlap: 'queue', queue: 'orders' }
    ]) {
      expect(await bad(given)).toBe('runtime.invalid_schedule')
    }
    expect(await bad({ ...good, workflow: 'other' })).toBe('runtime.workflow_not_registered')
    await tally.close()
  })
})
