import { cp, rm } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { builtModule } from '../support/built.js'
import { testMs } from '../support/effort.js'
import { documentOf, temporaryDirectory } from '../support/snapshots.js'
import { filesWith, fillSubject, openSubjects, planted, subjectJob } from '../support/subjects.js'
import { startWriter } from './crash-store/process.js'

const subject = 'customer-17'
let place: Awaited<ReturnType<typeof temporaryDirectory>>
beforeAll(async () => {
  place = await temporaryDirectory('erase-kill')
  const tally = await openSubjects(place.path('ledger'))
  await fillSubject(tally, subject)
  for (const name of ['keeps', 'removes']) {
    await tally.begin(documentOf(name), { id: name, inputs: { text: planted }, subject }).result
  }
  const asked = { id: `${subject}-asked`, action: 'send.it', payload: { text: planted } }
  await tally.intent({ ...asked, raw: planted, subject })
  const begun = { workflow: subjectJob, input: { text: planted }, tags: [planted], subject }
  await tally.schedule({ name: 'yearly', cron: '0 0 1 1 *', ...begun })
  const waiting = await tally.attach(`${subject}-asks`)
  await waiting.cancel()
  await waiting.result
  await fillSubject(tally, 'other', 'kept-Zr5Tn8Wd')
  await tally.close()
})
afterAll(() => place.remove())

/** Erases in a process that dies at a step; tells how many steps there were, if it lived. */
async function dying(copy: string, step: number, side: string): Promise<number | undefined> {
  let lived: number | undefined
  const options = [builtModule('index.js'), copy, subject, `${step}`, side]
  await startWriter('../erase-kill/worker.mjs', options, (line) => {
    const [kind, what] = line.split(' ')
    if (kind === 'failed') throw new Error(line)
    lived = Number(what)
  })
  return lived
}

it('G6: an erasing that is killed at any step has not begun, or the next opening ends it', {
  timeout: testMs(240_000)
}, async () => {
  const copy = place.path('copy')
  const outcomes = new Set<string>()
  let died = 0
  for (let step = 1; step < 60; step += 1) {
    for (const side of ['before', 'behind']) {
      await rm(copy, { recursive: true, force: true })
      await cp(place.path('ledger'), copy, { recursive: true })
      const lived = await dying(copy, step, side)
      if (lived !== undefined) {
        expect(died).toBeGreaterThan(6)
        expect([...outcomes].sort()).toEqual(['erased', 'whole'])
        return
      }
      died += 1
      outcomes.add(await judged(copy, `step ${step}, ${side}`))
    }
  }
  expect.fail('it never came to its end')
})

/** What a killed erasing has left: nothing is erased, or all of it once the ledger was opened. */
async function judged(copy: string, label: string): Promise<string> {
  const tally = await openSubjects(copy)
  expect(tally.status().mode, label).toBe('ready')
  const report = await tally.verify()
  expect(report, label).toMatchObject({ ok: true })
  const kept = await (await tally.attach('other-send')).result
  expect(kept, label).toMatchObject({ response: { data: { text: 'kept-Zr5Tn8Wd' } } })
  const isErased = report.notChecked.some((what) => what.includes('were erased'))
  const read = await (await tally.attach(`${subject}-send`).catch(() => undefined))?.result
  if (isErased) expect(read, label).toBeUndefined()
  else expect(read, label).toMatchObject({ response: { data: { text: planted } } })
  expect(await tally.erase(subject), label).toMatchObject({ runs: 8, schedules: ['yearly'] })
  expect(await tally.verify(), label).toMatchObject({ ok: true })
  await tally.close()
  expect(await filesWith(copy, planted), label).toEqual([])
  return isErased ? 'erased' : 'whole'
}
