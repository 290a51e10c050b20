import { readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { importSnapshot } from '../../../../src/ledger/index.js'
import { fillLedger, openSnapshotLedger, temporaryDirectory } from '../../../support/snapshots.js'
import { TamperedSnapshot } from '../../../support/tampered-snapshot.js'

let place: Awaited<ReturnType<typeof temporaryDirectory>>
let text: string
beforeAll(async () => {
  place = await temporaryDirectory('journal-hashes')
  const tally = await openSnapshotLedger(place.path('ledger'), { create: 'if-absent' })
  await fillLedger(tally)
  await tally.export({ path: place.path('honest') })
  await tally.close()
  text = await readFile(place.path('honest'), 'utf8')
})
afterAll(() => place.remove())

/** Lines of runs that have ended, but the last ones, which no hash covers. */
function coveredLines(snapshot: TamperedSnapshot) {
  return snapshot.lines.flatMap(({ commit = '' }, number) => {
    let run = ''
    return commit.split('\n').flatMap((line, at) => {
      if (line.startsWith('I')) run = line
      const isCovered = line.startsWith('J') && !line.includes('"k":"run.finished"')
      if (!isCovered || run.includes('open-run') || !/"at":\d/.test(line)) return []
      return [{ commit: number, line: at }]
    })
  })
}

it('L12: an import refuses each journal line that was altered with counts and hash of the file mended', async () => {
  const places = coveredLines(new TamperedSnapshot(text))
  expect(places.length).toBeGreaterThan(3)
  for (const [n, at] of places.entries()) {
    const snapshot = new TamperedSnapshot(text)
    snapshot.change(at, (line) => line.replace(/"at":\d/, '"at":3'))
    const file = place.path(`altered-${n}`)
    await writeFile(file, snapshot.encoded())
    const refused = importSnapshot(place.path(`copy-${n}`), { file })
    await expect(refused).rejects.toThrow(/journalHash: signed .* computed/)
  }
})
