import { cp, readdir, rm } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { checkArchive } from '../../src/ledger/index.js'
import type { WiredRuntime } from '../../src/runtime/index.js'
import { builtModule } from '../support/built.js'
import {
  documentOf,
  fillLedger,
  openSnapshotLedger,
  temporaryDirectory
} from '../support/snapshots.js'
import { startWriter } from './crash-store/process.js'

let place: Awaited<ReturnType<typeof temporaryDirectory>>
beforeAll(async () => {
  place = await temporaryDirectory('archive-kill')
  const tally = await openSnapshotLedger(place.path('ledger'), { create: 'if-absent' })
  await fillLedger(tally)
  await note(tally, 'known', 'known')
  await tally.archive({ path: place.path('first.archive'), before: Date.now() + 60_000 })
  for (const text of ['a', 'b', 'c']) await note(tally, text, text)
  await note(tally, 'z'.repeat(80_000), 'large')
  await tally.close()
})
afterAll(() => place.remove())

const note = (tally: WiredRuntime, text: string, id: string) =>
  tally.begin(documentOf('note'), { inputs: { text }, id }).result

/** Archives in a process that dies at a step; tells how many steps there were, if it lived. */
async function dying(copy: string, step: number, side: string): Promise<number | undefined> {
  let lived: number | undefined
  const options = [builtModule('index.js'), copy, place.path('second.archive'), `${step}`, side]
  await startWriter('../archive-kill/worker.mjs', options, (line) => {
    const [kind, what] = line.split(' ')
    if (kind === 'failed') throw new Error(line)
    lived = Number(what)
  })
  return lived
}

it('G1, G2, L6: an archiving that is killed at any step loses nothing, and the next one ends it', async () => {
  const copy = place.path('copy')
  const outcomes = new Set<number>()
  let died = 0
  for (let step = 1; step < 60; step += 1) {
    const side = step % 2 === 0 ? 'before' : 'behind'
    await rm(copy, { recursive: true, force: true })
    await cp(place.path('ledger'), copy, { recursive: true })
    await rm(place.path('second.archive'), { force: true })
    const lived = await dying(copy, step, side)
    if (lived !== undefined) break
    died += 1
    outcomes.add(await judged(copy, `step ${step}`))
  }
  expect(died).toBeGreaterThan(6)
  // Before the change it is the first archive alone, behind it both.
  expect([...outcomes].sort()).toEqual([1, 2])
})

/** What a killed archiving has left: it verifies, refuses ids, and archives again. */
async function judged(copy: string, label: string): Promise<number> {
  const tally = await openSnapshotLedger(copy)
  expect(tally.status().mode, label).toBe('ready')
  const history = tally.ledger.archiving.history
  expect(history?.isSwept, label).toBe(true)
  const archives = (history?.archives ?? []).map(({ file }) => place.path(file))
  expect((await tally.verify()).failure, label).toBeUndefined()
  const whole = await tally.verify({ archives })
  expect(whole, label).toMatchObject({ ok: true, complete: true })
  for (const id of ['known', 'a', 'large']) {
    await expect(note(tally, 'other', id), label).rejects.toMatchObject({ code: 'run.id_reused' })
  }
  for (const path of archives) await checkArchive(path)
  expect(
    (await tally.waits()).items.map(({ runId }) => runId),
    label
  ).toEqual(['open-run'])
  const next = place.path(`next-${label.replace(' ', '-')}.archive`)
  await note(tally, 'later', 'later')
  await tally.archive({ path: next, before: Date.now() + 60_000 })
  const all = [...archives, next]
  expect(await tally.verify({ archives: all }), label).toMatchObject({ ok: true, complete: true })
  await tally.close()
  const parts = (await readdir(place.path(''))).filter((name) => name.endsWith('.part'))
  for (const part of parts) await rm(place.path(part))
  return archives.length
}
