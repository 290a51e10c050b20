import { readdir } from 'node:fs/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { limits } from '../../../src/core/index.js'
import { checkArchive } from '../../../src/ledger/index.js'
import { FakeClock } from '../../../src/testing/index.js'
import { documentOf, openSnapshotLedger, temporaryDirectory } from '../../support/snapshots.js'

let place: Awaited<ReturnType<typeof temporaryDirectory>>
beforeEach(async () => {
  place = await temporaryDirectory('archive-policy')
})
afterEach(() => place.remove())

const DAY_MS = 86_400_000

async function opened(archive: { after: string; directory: string; every?: string }) {
  const clock = new FakeClock()
  const tally = await openSnapshotLedger(place.path('ledger'), {
    create: 'if-absent',
    clock,
    archive
  })
  const note = (text: string) => tally.begin(documentOf('note'), { inputs: { text } }).result
  return { clock, tally, note }
}

it('archives by itself what has come of age, once a day, and nothing younger', async () => {
  const directory = place.path('archives')
  const { clock, tally, note } = await opened({ after: '30d', directory })
  await note('old')
  await clock.advance(limits.ARCHIVE_FIRST_LOOK_MS)
  await tally.archives.settled()
  expect(tally.ledger.archiving.history).toBeUndefined()
  await clock.advance(30 * DAY_MS)
  await tally.archives.settled()
  await note('young')
  await clock.advance(limits.ARCHIVE_EVERY_MS * 2)
  await tally.archives.settled()
  const [file = '', ...more] = await readdir(directory)
  expect(more).toEqual([])
  expect(file).toMatch(/^[0-9a-f]{8}-0-\d+\.archive\.gz$/)
  expect((await checkArchive(place.path(`archives/${file}`))).receipts).toBeGreaterThan(0)
  expect(tally.ledger.archiving.history?.archives).toHaveLength(1)
  expect((await tally.runs({})).items.length).toBeGreaterThan(1)
  expect(tally.status().warnings).toEqual([])
  expect(await tally.verify()).toMatchObject({ ok: true })
  await tally.close()
})

it('G4: says why it could not, and goes on', async () => {
  const { writeFile, rm } = await import('node:fs/promises')
  const directory = place.path('archives')
  await writeFile(directory, 'no directory')
  const { clock, tally, note } = await opened({ after: '1d', directory, every: '2d' })
  await note('old')
  await clock.advance(4 * DAY_MS)
  await tally.archives.settled()
  expect(tally.status().warnings.join()).toMatch(/history was not archived: /)
  expect(await note('still')).toMatchObject({ status: 'done' })
  await rm(directory)
  await clock.advance(4 * DAY_MS)
  await tally.archives.settled()
  expect(tally.status().warnings).toEqual([])
  expect(tally.ledger.archiving.history?.archives.length).toBeGreaterThan(0)
  await tally.close()
})

it('refuses what is no time span, and no directory', async () => {
  for (const archive of [
    { after: 'soon', directory: 'x' },
    { after: '30d', directory: '' },
    { after: '30d', directory: 'x', every: '0s' }
  ]) {
    await expect(
      openSnapshotLedger(place.path('refused'), { create: 'if-absent', archive })
    ).rejects.toMatchObject({ code: 'runtime.invalid_archive' })
  }
})
