import { readdir } from 'node:fs/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { JsonObject } from '../../../../src/core/index.js'
import { checkArchive } from '../../../../src/ledger/index.js'
import { connectOwner } from '../../../../src/owner/index.js'
import { fillLedger, openSnapshotLedger, temporaryDirectory } from '../../../support/snapshots.js'

let place: Awaited<ReturnType<typeof temporaryDirectory>>
beforeEach(async () => {
  place = await temporaryDirectory('archiving')
})
afterEach(() => place.remove())

const action = 'system.archive'
const open = (options = {}) =>
  openSnapshotLedger(place.path('ledger'), { create: 'if-absent', ...options })

it('K13: it is the owner’s alone, by no step of a document and with no payload of one’s own', async () => {
  const tally = await open({ serve: true })
  await fillLedger(tally)
  const path = place.path('stolen.archive')
  const payload = { path, before: Date.now() + 10_000 }
  const signed = { archive: {}, boundary: {} }
  const client = await connectOwner(place.path('ledger'))
  if (client === undefined) throw new Error('nothing answers')
  for (const given of [payload, signed] as readonly JsonObject[]) {
    const asked = { action, payload: given, agent: 'clever' }
    const reply = await client.request('intent', asked).catch((error: unknown) => error)
    expect(reply).not.toMatchObject({ type: 'dapp' })
  }
  await client.close()
  const step = {
    schema: 'tally-composite/1',
    name: 'lone',
    version: '1',
    entry_point: 'only',
    nodes: { only: { block: 'intent', input: { lit: { action, payload } } } }
  }
  expect(await tally.begin(step).result).toMatchObject({ status: 'failed' })
  for (const given of [{}, signed, { path }, { ...payload, through: 0 }, { path: '', before: 1 }]) {
    expect(await tally.intent({ action, payload: given })).toMatchObject({ type: 'error' })
  }
  expect(tally.ledger.archiving.history).toBeUndefined()
  expect((await readdir(place.path(''))).filter((name) => name.includes('archive'))).toEqual([])
  await tally.close()
})

it('L6: the same intent id is the same archive, and another intent’s id is none', async () => {
  const tally = await open()
  await fillLedger(tally)
  const payload = { path: place.path('1.archive'), before: Date.now() + 10_000 }
  const first = await tally.intent({ id: 'archive-1', action, payload })
  expect(first).toMatchObject({ type: 'dapp', file: '1.archive' })
  const again = await tally.intent({ id: 'archive-1', action, payload })
  expect(again).toMatchObject({ type: 'dapp', file: '1.archive' })
  expect(tally.ledger.archiving.history?.archives).toHaveLength(1)
  const other = await tally.intent({ id: 'open-run', action, payload })
  expect(other).toMatchObject({ type: 'error', reason: 'id_reused' })
  await tally.close()
})

it('K2: an archive is signed by the key in force, whatever was rotated before, in it, and behind it', async () => {
  const tally = await open()
  await fillLedger(tally)
  await tally.intent({ action: 'system.key.rotate' })
  const path = place.path('1.archive')
  await tally.archive({ path, through: 0 })
  const report = await checkArchive(path)
  expect(report.to.rotations).toEqual([])
  await tally.intent({ action: 'system.key.rotate' })
  const next = place.path('2.archive')
  await tally.archive({ path: next, before: Date.now() + 10_000 })
  expect((await checkArchive(next)).to.rotations).toHaveLength(3)
  const archives = [path, next]
  expect(await tally.verify({ archives })).toMatchObject({ ok: true, complete: true })
  await tally.close()
  const again = await open()
  expect(await again.verify()).toMatchObject({ ok: true })
  await again.close()
})

it('G2: a runtime that closes meanwhile ends it: before the receipt, or removing later', async () => {
  const begun = await open()
  await fillLedger(begun)
  await begun.close()
  for (const [name, at] of [
    ['1.archive', 'checking'],
    ['2.archive', 'removing']
  ] as const) {
    const tally = await open()
    let closed: Promise<void> | undefined
    const archived = tally
      .archive({
        path: place.path(name),
        before: Date.now() + 10_000,
        onProgress: ({ phase }) => {
          if (phase === at) closed ??= tally.close()
        }
      })
      .catch((error: unknown) => error)
    const outcome = await archived
    await closed
    if (at === 'checking') expect(outcome).toMatchObject({ code: 'runtime.closed' })
    else expect(outcome).toMatchObject({ file: name })
  }
  const again = await open()
  expect(again.ledger.archiving.history).toMatchObject({ isSwept: true })
  expect(await again.verify({ archives: [place.path('2.archive')] })).toMatchObject({ ok: true })
  await again.close()
})

it('keeps runs in quarantine, and notes of archived history hold', async () => {
  const tally = await open()
  await fillLedger(tally)
  const note = await tally.note()
  await tally.begin(documentOfNote, { id: 'suspect', inputs: { text: 'x' } }).result
  const mark = { run: 'suspect', receipt: null, provider: null, field: 'journal' }
  const marked = await tally.intent({ action: 'system.quarantine', payload: mark })
  expect(marked).toMatchObject({ type: 'dapp' })
  await tally.archive({ path: place.path('1.archive'), before: Date.now() + 10_000 })
  let entries = 0
  for await (const _ of tally.journal('suspect')) entries += 1
  expect(entries).toBeGreaterThan(0)
  const report = await tally.verify({ notes: [note] })
  expect(report.failure).toBeUndefined()
  expect(report.anchored.upTo).toBeGreaterThan(0)
  await tally.close()
})

const documentOfNote = `schema: tally-composite/1
name: note
version: "1"
entry_point: first
nodes:
  first:
    block: note
    input: { ref: request.payload }
`
