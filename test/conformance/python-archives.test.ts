import { readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { verifiedByPython } from '../support/python-verifier.js'
import {
  documentOf,
  fillLedger,
  LARGE_LENGTH,
  openSnapshotLedger,
  temporaryDirectory
} from '../support/snapshots.js'

let place: Awaited<ReturnType<typeof temporaryDirectory>>
let paths: readonly string[]
let identity: string
beforeAll(async () => {
  place = await temporaryDirectory('python-archives')
  const tally = await openSnapshotLedger(place.path('ledger'), { create: 'if-absent' })
  identity = tally.identity
  await fillLedger(tally)
  paths = [place.path('1.archive.gz'), place.path('2.archive')]
  await tally.archive({ path: paths[0] ?? '', before: Date.now() + 10_000 })
  for (const text of ['between', 'y'.repeat(LARGE_LENGTH)]) {
    await tally.begin(documentOf('note'), { inputs: { text } }).result
  }
  await tally.intent({ action: 'system.key.rotate' })
  await tally.archive({ path: paths[1] ?? '', before: Date.now() + 10_000 })
  await tally.close()
})
afterAll(() => place.remove())

it('P1: the verifier in Python verifies the archives of a ledger in their order', () => {
  const { code, reports } = verifiedByPython(paths, ['--identity', identity])
  expect(reports[0]?.failure).toBeNull()
  expect(code).toBe(0)
  expect(reports).toHaveLength(1)
  expect(reports[0]?.checked).toMatchObject({ archives: 2, 'key rotations': 2 })
  expect(reports[0]?.checked['bodies of their own']).toBe(2)
})

it('P1: it refuses archives that are out of order, cut, or altered', async () => {
  const [first = '', second = ''] = paths
  const failed = (files: readonly string[]) => verifiedByPython(files).reports[0]?.failure?.field
  expect(failed([second])).toMatch(/^from /)
  expect(failed([second, first])).toMatch(/^from /)
  const text = await readFile(second, 'utf8')
  const forged = place.path('forged.archive')
  const lines = text.split('\n')
  const digit = (found: string) => found.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
  for (const forgery of [
    lines.slice(0, -3).join('\n'),
    text.replace('between', 'betweeh'),
    text.replace(/"signature":"[0-9a-f]{127}[0-9a-f](?="}\n$)/, digit),
    text.replace(/"sha256":"[0-9a-f]{64}/, digit),
    `${text}{}\n`
  ]) {
    expect(forgery).not.toBe(text)
    await writeFile(forged, forgery)
    expect(failed([first, forged])).toBeDefined()
  }
})
