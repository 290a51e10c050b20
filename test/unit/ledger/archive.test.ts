import { readFile, rm, writeFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ledgerError, limits, type PublicKey, type RunId } from '../../../src/core/index.js'
import { firstBoundary } from '../../../src/ledger/archive/boundary.js'
import { chosenEnd } from '../../../src/ledger/archive/choose.js'
import { BoundaryWalk } from '../../../src/ledger/archive/walk.js'
import {
  type ArchiveProgress,
  checkArchive,
  importSnapshot,
  openLevelStore,
  openMemoryStore,
  storeAround
} from '../../../src/ledger/index.js'
import { StoreKeys } from '../../../src/ledger/keys.js'
import type { WiredRuntime } from '../../../src/runtime/index.js'
import { openOn } from '../../support/lives.js'
import {
  documentOf,
  fillLedger,
  LARGE_LENGTH,
  openSnapshotLedger,
  temporaryDirectory
} from '../../support/snapshots.js'

let place: Awaited<ReturnType<typeof temporaryDirectory>>
beforeEach(async () => {
  place = await temporaryDirectory('archive')
})
afterEach(() => place.remove())

const open = () => openSnapshotLedger(place.path('ledger'), { create: 'if-absent' })
const note = (tally: WiredRuntime, text: string, id?: string) =>
  tally.begin(documentOf('note'), { inputs: { text }, ...(id === undefined ? {} : { id }) }).result
const later = () => Date.now() + 10_000

/** A ledger with two archives, an open run that began before both, and history behind them. */
async function archivedTwice(): Promise<{ tally: WiredRuntime; paths: readonly string[] }> {
  const tally = await open()
  await fillLedger(tally)
  await note(tally, 'known', 'known')
  const paths = [place.path('1.archive.gz'), place.path('2.archive')]
  await tally.archive({ path: paths[0] ?? '', before: later() })
  await note(tally, 'between', 'between')
  await note(tally, 'y'.repeat(LARGE_LENGTH), 'large')
  await tally.archive({ path: paths[1] ?? '', before: later() })
  await note(tally, 'behind')
  return { tally, paths }
}

it('G1, P1: a ledger verifies without its archives as far as it goes, and whole with them', async () => {
  const { tally, paths } = await archivedTwice()
  const alone = await tally.verify()
  expect(alone.failure).toBeUndefined()
  expect(alone).toMatchObject({ ok: true, complete: false, reexecuted: 0 })
  expect(alone.archived?.archives.map(({ file }) => file)).toEqual(['1.archive.gz', '2.archive'])
  expect(alone.notChecked.join()).toMatch(/receipts in \d+ commits: archived in 2 archives/)
  const whole = await tally.verify({ archives: paths })
  expect(whole.failure).toBeUndefined()
  expect(whole).toMatchObject({ ok: true, complete: true, receipts: alone.receipts })
  expect(whole.archived).toBeUndefined()
  expect(whole.reexecuted).toBeGreaterThan(5)
  await tally.close()
})

it('G2: what was archived is removed, and open runs keep what they need', async () => {
  const tally = await open()
  await fillLedger(tally)
  await tally.close()
  const before = await storedKeys()
  const archiving = await open()
  await archiving.archive({ path: place.path('1.archive'), before: later() })
  expect((await archiving.waits()).items[0]?.runId).toBe('open-run')
  await archiving.close()
  const after = await storedKeys()
  const commits = (keys: readonly string[]) => keys.filter((key) => key.includes('/commit/'))
  expect(commits(before).length - commits(after).length).toBeGreaterThan(3)
  expect(after.some((key) => key.includes('/blob/'))).toBe(false)
  const again = await open()
  const handle = await again.resume('open-run')
  const [asked] = await handle.waits()
  await handle.resume(asked?.token ?? '', { digest: asked?.digest ?? ('' as never), value: 'it' })
  expect(await handle.result).toMatchObject({ status: 'done' })
  expect(await again.verify()).toMatchObject({ ok: true })
  await again.close()
})

it('G3, L6: an archived id is its run, with its result for the same work, and no other', async () => {
  const { tally } = await archivedTwice()
  expect(await note(tally, 'known', 'known')).toMatchObject({
    status: 'done',
    response: { data: { text: 'known' } }
  })
  await expect(note(tally, 'other', 'known')).rejects.toMatchObject({ code: 'run.id_reused' })
  await tally.close()
  const again = await open()
  await expect(note(again, 'other', 'between')).rejects.toMatchObject({ code: 'run.id_reused' })
  expect(await again.ledger.hasUnit(await unitOf('between'))).toBe(true)
  const ids = ['known', 'between', 'never'] as RunId[]
  expect(ids.map((id) => again.ledger.hasRun(id))).toEqual([true, true, false])
  expect(ids.map((id) => again.ledger.run(id)?.runId)).toEqual(['known', 'between', undefined])
  await again.close()
})

it('W10: an archived run has ended for each signal, also for one that it was sent before', async () => {
  const { tally } = await archivedTwice()
  for (const id of ['one', 'one']) {
    const outcome = await tally.signal('known', 'go', null, { id })
    expect(outcome).toEqual({ accepted: false, reason: 'run_ended' })
  }
  await tally.close()
})

it('says of everything that is archived in which archive it stands', async () => {
  const { tally } = await archivedTwice()
  const isNamed = { code: 'ledger.archived', message: expect.stringMatching(/[12]\.archive/) }
  const journal = async (id: string) => {
    for await (const _ of tally.journal(id)) return
  }
  await expect(journal('known')).rejects.toMatchObject({
    ...isNamed,
    message: expect.stringMatching(/^Run known is archived: it stands in 1\.archive\.gz/)
  })
  await expect(journal('between')).rejects.toMatchObject({
    message: expect.stringMatching(/2\.archive /)
  })
  await expect(tally.receipt(1)).rejects.toMatchObject(isNamed)
  await expect(tally.reconstructState(3)).rejects.toMatchObject({ code: 'ledger.archived' })
  await expect(tally.replayReceipt(1)).rejects.toMatchObject({ code: 'ledger.archived' })
  const listed: number[] = []
  for await (const { index } of tally.receipts()) listed.push(index)
  expect(listed[0]).toBeGreaterThan(5)
  const lines = (await tally.runs({})).items
  expect(lines.map(({ id }) => id)).toContain('known')
  const log = await tally.queries.log({ limit: 100 })
  expect(log.items.length).toBeGreaterThan(0)
  expect(log.next).toBeNull()
  await tally.close()
})

it('exports with its archives what an import makes whole again, and not without', async () => {
  const { tally, paths } = await archivedTwice()
  const path = place.path('whole.snapshot')
  await expect(tally.export({ path })).rejects.toMatchObject({ code: 'ledger.archived' })
  const report = await tally.export({ path, archives: paths })
  expect(report.failure).toBeNull()
  await tally.close()
  const made = await importSnapshot(place.path('copy'), { file: path })
  expect(made.report).toMatchObject({ ok: true, receipts: report.receipts })
  expect(made.report.archived).toBeUndefined()
  await expect(importSnapshot(place.path('ledger'), { file: path })).rejects.toMatchObject({
    code: 'snapshot.over_archives',
    fix: expect.stringContaining('--dir'),
    cause: { code: 'ledger.archived' }
  })
})

it('keeps an index of writes that was made, and past states behind the end', async () => {
  const tally = await open()
  await fillLedger(tally)
  await tally.queries.stateHistory({ key: 'texts/small' })
  await tally.archive({ path: place.path('1.archive'), before: later() })
  await note(tally, 'small')
  const { items } = await tally.queries.state({ prefix: 'texts/' })
  expect(items.map(({ key }) => key)).toContain('texts/small')
  expect(await tally.verify()).toMatchObject({ ok: true })
  await tally.close()
})

it('ARCHIVE_RECORD_BYTES_MAX, ARCHIVE_REMOVED_AT_ONCE: bound a file, and what is removed at once', async () => {
  expect(limits.ARCHIVE_RECORD_BYTES_MAX).toBeLessThan(limits.SNAPSHOT_BYTES_MAX)
  const inner = openMemoryStore()
  const removed: number[] = []
  const store = storeAround(inner, {
    commit: (items) => {
      removed.push(
        ...items.map(({ deletes }) => deletes.filter((key) => key.includes('/commit/')).length)
      )
      return inner.commit(items)
    }
  })
  const tally = await openOn(store, {})
  const payload = { publicKey: 'a'.repeat(64), isApprover: false }
  const wanted = limits.ARCHIVE_REMOVED_AT_ONCE + 20
  for (let at = 0; at < wanted; at += 1) {
    await tally.intent({ id: `asked-${at}`, action: 'system.approver', payload })
    await tally.ledger.logHashes()
  }
  const keys = new StoreKeys(tally.identity)
  const walk = () =>
    new BoundaryWalk(tally.identity, firstBoundary, tally.identity as string as PublicKey)
  const all = { store, keys, walk: walk(), commits: wanted }
  const end = { throughCommit: wanted - 1 }
  expect((await chosenEnd(all, end)).commits).toBe(wanted)
  expect((await chosenEnd({ ...all, walk: walk() }, end, 10_000)).commits).toBeLessThan(20)
  removed.length = 0
  const archiving = { path: place.path('1.archive'), through: wanted - 1 }
  const reply = await tally.intent({
    id: 'archiving',
    action: 'system.archive',
    payload: archiving
  })
  expect(reply).toMatchObject({ type: 'dapp' })
  expect(Math.max(...removed)).toBe(limits.ARCHIVE_REMOVED_AT_ONCE)
  expect(removed.reduce((sum, one) => sum + one, 0)).toBeGreaterThanOrEqual(wanted)
  expect(await tally.verify()).toMatchObject({ ok: true })
  await tally.close()
})

it('archives nothing twice, and refuses what is no end', async () => {
  const tally = await open()
  await note(tally, 'one')
  const path = place.path('1.archive')
  await expect(tally.archive({ path, before: 0 })).rejects.toMatchObject({
    code: 'archive.nothing'
  })
  await expect(tally.archive({ path, before: 'never' })).rejects.toMatchObject({
    code: 'archive.nothing'
  })
  await expect(tally.archive({ path, through: 99 })).rejects.toMatchObject({
    code: 'receipt.not_found'
  })
  await expect(tally.archive({ path })).rejects.toThrow(/one of \{ before \} and \{ through \}/)
  await tally.archive({ path, through: 0 })
  expect(tally.ledger.archiving.history?.boundary.receipts).toBeGreaterThan(0)
  await expect(tally.archive({ path, before: Date.now() + 10_000 })).rejects.toMatchObject({
    code: 'archive.unwritable'
  })
  expect(await tally.verify()).toMatchObject({ ok: true })
  await tally.close()
})

it('G1: calls off what was begun, and the ledger is whole', async () => {
  const tally = await open()
  await note(tally, 'one')
  const calling = new AbortController()
  const archived = tally.archive({
    path: place.path('1.archive'),
    before: later(),
    signal: calling.signal,
    onProgress: ({ phase }) => phase === 'checking' && calling.abort()
  })
  await expect(archived).rejects.toThrow(/abort/i)
  expect(tally.ledger.archiving.history).toBeUndefined()
  expect(await tally.verify()).toMatchObject({ ok: true, complete: true })
  await tally.close()
})

it('G1: without its receipt an archive is only a file', async () => {
  const tally = await open()
  await note(tally, 'one')
  const append = vi.spyOn(tally.ledger, 'append').mockImplementation(() => {
    throw ledgerError('ledger.read_only', {})
  })
  const path = place.path('1.archive')
  await expect(tally.archive({ path, before: later() })).rejects.toThrow()
  append.mockRestore()
  expect(await checkArchive(path)).toMatchObject({ identity: tally.identity })
  expect(tally.ledger.archiving.history).toBeUndefined()
  expect(await tally.verify()).toMatchObject({ ok: true, complete: true })
  await tally.close()
  const again = await open()
  expect(again.ledger.archiving.history).toBeUndefined()
  expect(await again.verify()).toMatchObject({ ok: true, complete: true })
  await again.close()
})

it('G2: what was not removed is removed at the next opening', async () => {
  const tally = await open()
  await note(tally, 'one')
  const path = place.path('1.archive')
  const onProgress = ({ phase }: ArchiveProgress) => {
    if (phase === 'removing') throw new RangeError('no room')
  }
  await expect(tally.archive({ path, before: later(), onProgress })).rejects.toThrow(RangeError)
  expect(tally.ledger.archiving.history).toMatchObject({ isSwept: false })
  expect(await tally.verify()).toMatchObject({ ok: true })
  await tally.close()
  const again = await open()
  expect(again.ledger.archiving.history).toMatchObject({ isSwept: true })
  expect(await again.verify({ archives: [path] })).toMatchObject({ ok: true, complete: true })
  await again.close()
})

it('an archive verifies alone, and says what it does not show', async () => {
  const { tally, paths } = await archivedTwice()
  await tally.close()
  const [first, second] = await Promise.all(paths.map((path) => checkArchive(path)))
  expect(first).toMatchObject({ identity: tally.identity, from: { commits: 0 } })
  expect(first?.to.rotations).toHaveLength(1)
  expect(second?.from).toEqual(first?.to)
  expect(second?.notChecked.join()).toMatch(/state roots/)
})

it('a forged archive is refused before anything of it is given', async () => {
  const { tally, paths } = await archivedTwice()
  const [first = '', second = ''] = paths
  const text = gunzipSync(await readFile(first)).toString()
  const forged = place.path('forged.archive')
  const lines = text.split('\n')
  const forgeries: readonly (readonly [string, string])[] = [
    ['cut', lines.slice(0, -3).join('\n')],
    ['cut in a line', text.slice(0, text.length / 2)],
    ['a body', text.replace('xxxx', 'xxxy')],
    ['a journal', text.replace('small', 'smell')],
    ['a count', text.replace(/"blobs":\d+/, '"blobs":9')],
    ['an end', text.replace(/"receipts":(\d+),"rotations"/, '"receipts":1,"rotations"')],
    ['a swapped line', swapped(lines, 1, 2).join('\n')],
    ['a signature', text.replace(/"signature":"([0-9a-f])/, '"signature":"00')],
    ['something behind it', `${text}{}\n`],
    ['nothing', '']
  ]
  for (const [name, forgery] of forgeries) {
    await writeFile(forged, forgery)
    await expect(checkArchive(forged), name).rejects.toMatchObject({
      code: expect.stringMatching(/^archive\.(malformed|not_verified)$/)
    })
    await expect(tally.verify({ archives: [forged, second] }), name).rejects.toMatchObject({
      code: expect.stringMatching(/^archive\.(malformed|not_verified)$/)
    })
    await rm(forged)
  }
  await expect(tally.verify({ archives: [first] })).rejects.toMatchObject({
    code: 'archive.other_ledger'
  })
  await expect(checkArchive(place.path('none'))).rejects.toMatchObject({
    code: 'archive.unreadable'
  })
  await writeFile(forged, text.replace('"archive":1', '"archive":2'))
  await expect(checkArchive(forged)).rejects.toMatchObject({ code: 'archive.unknown_version' })
  await tally.close()
})

it('G1: an archive of another ledger of the same form is none of this one', async () => {
  const { tally, paths } = await archivedTwice()
  const other = await openSnapshotLedger(place.path('other'), { create: 'if-absent' })
  await note(other, 'elsewhere')
  const path = place.path('other.archive')
  await other.archive({ path, before: later() })
  await other.close()
  await expect(tally.verify({ archives: [...paths, path] })).rejects.toMatchObject({
    code: 'archive.other_ledger'
  })
  await tally.close()
})

function swapped(lines: readonly string[], one: number, other: number): readonly string[] {
  const copy = [...lines]
  copy[one] = lines[other] ?? ''
  copy[other] = lines[one] ?? ''
  return copy
}

async function storedKeys(): Promise<readonly string[]> {
  const keys: string[] = []
  const store = await openLevelStore({ path: place.path('ledger/data-1'), create: false })
  for await (const [key] of store.entries({ gte: '', lt: '\u{10ffff}' })) keys.push(key)
  await store.close()
  return keys
}

async function unitOf(id: string) {
  const { runUnitId } = await import('../../../src/block/index.js')
  return runUnitId(id as never)
}
