import { cp, readdir, rm } from 'node:fs/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { checkArchive, importSnapshot } from '../../../../src/ledger/index.js'
import { verifyLocation } from '../../../../src/runtime/index.js'
import { type PythonReport, verifiedByPython } from '../../../support/python-verifier.js'
import { documentOf, temporaryDirectory } from '../../../support/snapshots.js'
import { filesWith, fillSubject, openSubjects, planted } from '../../../support/subjects.js'

let place: Awaited<ReturnType<typeof temporaryDirectory>>
beforeEach(async () => {
  place = await temporaryDirectory('subject-copies')
})
afterEach(() => place.remove())

const subject = 'customer-17'
const open = (where = 'ledger', options = {}) => openSubjects(place.path(where), options)
const notHere = expect.stringContaining('the keys of their subjects are not here')
const wereErased = expect.stringContaining('the keys of their subjects were erased')

async function copyKeys(from: string, to: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await cp(place.path(from, name), place.path(to, name), { recursive: true })
  }
}

it('K10: a snapshot has nothing in clear, and goes on where the keys of subjects are beside it', async () => {
  const tally = await open()
  await fillSubject(tally, subject)
  await tally.export({ path: place.path('snapshot') })
  await tally.close()
  expect(await filesWith(place.path(''), planted)).toEqual([])
  expectHonest([place.path('snapshot')])
  const opened = openedByPython([place.path('snapshot')])
  expect(Object.keys(opened.notChecked)).not.toContainEqual(expect.stringContaining('subjects'))
  expect(opened.checked['texts under keys of subjects']).toBeGreaterThan(20)
  await importSnapshot(place.path('without'), { file: place.path('snapshot') })
  const read = await verifyLocation(place.path('without'), { notes: [] })
  expect(read).toMatchObject({ ok: true })
  expect(read.notChecked).toContainEqual(notHere)
  await copyKeys('ledger', 'without', ['keys'])
  const closed = await open('without', { takeOver: true })
  expect(closed.status()).toMatchObject({ mode: 'ready' })
  await expect(closed.attach(`${subject}-send`)).rejects.toMatchObject({ code: 'ledger.erased' })
  // A second key of the same subject is not taken for the first.
  await closed.begin(documentOf('send'), { inputs: { text: 'x' }, subject }).result
  const mixed = await closed.verify()
  expect(mixed).toMatchObject({ ok: true })
  expect(mixed.notChecked).toContainEqual(notHere)
  await closed.close()
  await importSnapshot(place.path('with'), { file: place.path('snapshot') })
  await copyKeys('ledger', 'with', ['keys', 'subjects'])
  const whole = await open('with', { takeOver: true })
  expect(await whole.verify()).toMatchObject({ ok: true, complete: true })
  const run = await whole.attach(`${subject}-asks`)
  const [wait] = await run.waits()
  await run.resume(wait?.token ?? '', { value: 1, digest: wait?.digest ?? ('' as never) })
  expect(await run.result).toMatchObject({ status: 'done' })
  await whole.close()
})

it('G1, G6: archives are under the same keys, and ids of erased runs are refused for ever', async () => {
  const tally = await open()
  await fillSubject(tally, subject)
  const waiting = await tally.attach(`${subject}-asks`)
  await waiting.cancel()
  expect(await waiting.result).toMatchObject({ status: 'cancelled' })
  const path = place.path('1.archive')
  await tally.archive({ path, before: Date.now() + 60_000 })
  expect((await checkArchive(path)).notChecked).toContainEqual(notHere)
  const whole = await tally.verify({ archives: [path] })
  expect(whole).toMatchObject({ ok: true, complete: true })
  expect(openedByPython([path]).checked['texts under keys of subjects']).toBeGreaterThan(20)
  expect(await tally.erase(subject)).toMatchObject({ runs: 5, archived: 5 })
  const after = await tally.verify({ archives: [path] })
  expect(after).toMatchObject({ ok: true })
  expect(after.notChecked).toContainEqual(wereErased)
  const again = tally.begin(documentOf('send'), {
    ...{ id: `${subject}-send`, inputs: { text: planted } }
  })
  await expect(again.result).rejects.toMatchObject({ code: 'ledger.erased' })
  const next = place.path('2.archive')
  await tally.archive({ path: next, before: Date.now() + 60_000 })
  expect(await tally.verify({ archives: [path, next] })).toMatchObject({ ok: true })
  const file = place.path('after')
  await tally.export({ path: file, archives: [path, next] })
  await tally.close()
  expect(await filesWith(place.path(''), planted)).toEqual([])
  expectHonest([file])
  expectHonest([path, next])
  const imported = await importSnapshot(place.path('copy'), { file })
  expect(imported.report).toMatchObject({ ok: true })
})

it('G6: a backup of the keys that comes back is destroyed again when the ledger opens', async () => {
  const tally = await open()
  await tally.begin(documentOf('send'), { inputs: { text: planted }, subject }).result
  await cp(place.path('ledger', 'subjects'), place.path('backup'), { recursive: true })
  await tally.erase(subject)
  await tally.close()
  await rm(place.path('ledger', 'subjects'), { recursive: true })
  await cp(place.path('backup'), place.path('ledger', 'subjects'), { recursive: true })
  const later = await open()
  expect(await later.verify()).toMatchObject({ ok: true })
  await later.close()
  const [identity = ''] = await readdir(place.path('ledger', 'subjects'))
  expect(await readdir(place.path('ledger', 'subjects', identity))).toEqual([])
})

/** What the verifier in Python says, which has no keys. */
function expectHonest(files: readonly string[]): void {
  const { reports } = verifiedByPython(files)
  for (const { ok, failure, notChecked } of reports) {
    expect({ ok, failure }).toEqual({ ok: true, failure: null })
    const [missing, erased] = ['under keys of subjects', 'whose keys were erased'].map(
      (which) => notChecked[`journals and bodies of runs ${which}`] ?? 0
    )
    expect((missing ?? 0) + (erased ?? 0)).toBe(5)
  }
}

/** What it says with the keys, of all files together. */
function openedByPython(files: readonly string[]): PythonReport {
  const { reports } = verifiedByPython(files, ['--subjects', place.path('ledger', 'subjects')])
  const [report] = reports
  expect(report).toMatchObject({ ok: true, failure: null })
  if (report === undefined) throw new Error('it reported nothing')
  return report
}
