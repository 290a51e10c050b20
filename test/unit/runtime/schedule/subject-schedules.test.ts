import { afterEach, beforeEach, expect, it } from 'vitest'
import { FakeClock } from '../../../../src/testing/fake-clock.js'
import { temporaryDirectory } from '../../../support/snapshots.js'
import { filesWith, openSubjects, planted, subjectJob } from '../../../support/subjects.js'

let place: Awaited<ReturnType<typeof temporaryDirectory>>
beforeEach(async () => {
  place = await temporaryDirectory('subject-schedules')
})
afterEach(() => place.remove())

const START = Date.parse('2026-06-01T00:00:00Z')
const HOUR_MS = 3_600_000
const subject = 'customer-17'
const hourly = {
  ...{ name: 'hourly', every: '1h', workflow: subjectJob, input: { text: planted } },
  ...{ tags: [planted], subject }
} as const
const other = {
  ...{ name: 'other', every: '1h', workflow: subjectJob, input: { text: 'kept-Zr5Tn8Wd' } }
} as const

async function open(clock: FakeClock, schedules: readonly object[] = [hourly, other]) {
  return openSubjects(place.path('ledger'), { clock, schedules: schedules as never })
}

type Opened = Awaited<ReturnType<typeof open>>

async function idsOf(tally: Opened, name: string): Promise<readonly string[]> {
  const ids: string[] = []
  for await (const { runId, status } of tally.runs()) {
    if (runId.startsWith(`schedule:${name}:`)) ids.push(`${runId.slice(-13, -8)} ${status}`)
  }
  return ids.sort()
}

it('G5, G6: what a schedule with a subject begins is under the key, and it ends with the key', async () => {
  const clock = new FakeClock({ at: START })
  const tally = await open(clock)
  await clock.advance(2 * HOUR_MS)
  expect(await idsOf(tally, 'hourly')).toEqual(['01:00 done', '02:00 done'])
  const run = await tally.attach('schedule:hourly:2026-06-01T01:00:00.000Z')
  expect(await run.result).toMatchObject({ response: { data: { said: planted } } })
  expect((await tally.runs({ tag: planted })).items).toHaveLength(2)
  // As it is registered already, it leaves nothing new.
  const { receipts } = tally.status()
  await tally.schedule(hourly)
  expect(tally.status().receipts).toBe(receipts)
  expect(await tally.verify()).toMatchObject({ ok: true, complete: true })
  await tally.close()
  expect(await filesWith(place.path('ledger'), planted)).toEqual([])
  const again = await open(clock)
  expect(await again.erase(subject, { dryRun: true })).toMatchObject({ schedules: ['hourly'] })
  expect(await again.erase(subject)).toMatchObject({ runs: 2, schedules: ['hourly'] })
  await clock.advance(HOUR_MS)
  const expectEnded = async (one: Opened, last: string) => {
    expect(await idsOf(one, 'hourly')).toEqual(['01:00 done', '02:00 done'])
    expect((await idsOf(one, 'other')).at(-1)).toBe(`${last} done`)
    const { schedules } = await one.queries.schedules({ times: 1 })
    const wasErased = expect.stringContaining('its subject was erased')
    expect(schedules.map(({ name, next, problem }) => [name, next.length, problem])).toEqual([
      ['hourly', 0, wasErased],
      ['other', 1, null]
    ])
    expect(one.status().warnings).toContainEqual(wasErased)
    expect(await one.verify()).toMatchObject({ ok: true })
  }
  await expectEnded(again, '03:00')
  expect(await again.schedule(hourly)).toMatchObject({ type: 'error', reason: 'subject_erased' })
  await again.close()
  expect(await filesWith(place.path('ledger'), planted)).toEqual([])
  // A program that still names it opens, and what fell due meanwhile is not begun.
  await clock.advance(HOUR_MS)
  const later = await open(clock)
  await clock.advance(0)
  await expectEnded(later, '04:00')
  await later.intent({ action: 'system.schedule.remove', payload: { name: 'hourly' } })
  expect((await later.queries.schedules({})).schedules.map(({ name }) => name)).toEqual(['other'])
  await later.close()
})

it('G5: a schedule is sealed or in clear, and none begins under another name', async () => {
  const clock = new FakeClock({ at: START })
  const tally = await open(clock, [])
  await tally.schedule(hourly)
  const entry = await tally.state.get('system/schedules/hourly')
  const { spec } = entry as { readonly spec: { readonly sealed: string } }
  expect(Object.keys(spec).sort()).toEqual(
    ['catchUp', 'everyMs', 'overlap', 'sealed', 'timeZone', 'workflow'].sort()
  )
  const ask = (name: string, more: object) =>
    tally.intent({ action: 'system.schedule', payload: { name, spec: { ...spec, ...more } } })
  expect(await ask('both', { input: 1 })).toMatchObject({ type: 'error' })
  expect(await ask('none', { sealed: 'nothing' })).toMatchObject({ type: 'error' })
  expect(await ask('moved', {})).toMatchObject({ type: 'dapp' })
  await clock.advance(HOUR_MS)
  expect(await idsOf(tally, 'moved')).toEqual([])
  expect(tally.status().warnings).toContainEqual(expect.stringContaining('schedule moved'))
  await expect(tally.schedule({ ...hourly, subject: '' })).rejects.toMatchObject({
    code: 'runtime.invalid_schedule'
  })
  await tally.close()
})
