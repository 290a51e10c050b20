import { cp, readdir, readFile, rm, truncate } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { repairLocation } from '../../src/runtime/index.js'
import { isTaken } from '../support/effort.js'
import {
  documentOf,
  fillLedger,
  openSnapshotLedger,
  receiptsOf,
  temporaryDirectory
} from '../support/snapshots.js'

/** Each opening and closing leaves a table. */
const OPENINGS = 4

const cut = { notes: [], allowCut: true, acknowledgeNotes: false }

let place: Awaited<ReturnType<typeof temporaryDirectory>>
let files: readonly string[]
let receipts: readonly string[]

beforeAll(async () => {
  place = await temporaryDirectory('any-file')
  const location = place.path('sound')
  for (let opening = 0; opening < OPENINGS; opening += 1) {
    const tally = await openSnapshotLedger(location, { create: 'if-absent' })
    if (opening === 0) await fillLedger(tally)
    else await note(tally, `${opening}`)
    receipts = (await receiptsOf(tally)).map(({ receiptHash }) => receiptHash)
    await tally.close()
  }
  const needed = /^(CURRENT|MANIFEST-\d+|\d+\.ldb)$/
  files = (await readdir(place.path('sound/data-1'))).filter((file) => needed.test(file))
})
afterAll(() => place.remove())

type Tally = Awaited<ReturnType<typeof openSnapshotLedger>>
const note = (tally: Tally, text: string) =>
  tally.begin(documentOf('note'), { inputs: { text } }).result

const damages = {
  'is missing': (path: string) => rm(path),
  'is cut': async (path: string) => truncate(path, (await readFile(path)).length >> 1),
  'is empty': (path: string) => truncate(path, 0)
}

describe.each(Object.entries(damages))('where any one file of the database %s', (how, damage) => {
  it('K2: recover makes it again of what is left, from the first receipt on', async () => {
    expect(files.filter((file) => file.endsWith('.ldb')).length).toBeGreaterThan(1)
    for (const [at, file] of files.entries()) {
      if (!isTaken(at, 2)) continue
      const what = `${file} ${how}`
      const location = place.path(`${file} ${how}`)
      await cp(place.path('sound'), location, { recursive: true })
      await damage(`${location}/data-1/${file}`)
      const before = await readdir(`${location}/data-1`)
      await expect(
        repairLocation(location, { ...cut, allowCut: false }),
        what
      ).rejects.toMatchObject({
        code: 'ledger.not_recoverable',
        message: expect.stringContaining('tally recover --cut')
      })
      const { recovery, live, kept, causes } = await repairLocation(location, cut)
      expect(recovery.kind, what).toBe('cut')
      expect({ live, kept }, what).toEqual({ live: 'data-2', kept: 'data-1' })
      expect(causes[0], what).toMatchObject({ consent: 'cut' })
      const tables = (names: readonly string[]) => names.filter((name) => name.endsWith('.ldb'))
      // LevelDB may have made more of its log.
      expect(await readdir(`${location}/data-1`), what).toEqual(
        expect.arrayContaining(tables(before))
      )
      const tally = await openSnapshotLedger(location)
      expect(tally.status().mode, what).toBe('ready')
      const left = (await receiptsOf(tally)).map(({ receiptHash }) => receiptHash)
      expect(left, what).toEqual(receipts.slice(0, left.length))
      // What only says where records lie costs none.
      if (!file.endsWith('.ldb')) expect(left, what).toEqual(receipts)
      await tally.close()
    }
  })
})
