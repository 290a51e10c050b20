import { readdir } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { crc32 } from '../../../src/core/index.js'
import { importSnapshot, openLevelStore } from '../../../src/ledger/index.js'
import {
  openReader,
  repairLocation,
  verifyLocation,
  type WiredRuntime
} from '../../../src/runtime/index.js'
import { isTaken } from '../../support/effort.js'
import {
  documentOf,
  fillLedger,
  openSnapshotLedger,
  temporaryDirectory
} from '../../support/snapshots.js'
import { expectVerifyFailure } from '../../support/verified-close.js'

let place: Awaited<ReturnType<typeof temporaryDirectory>>
beforeEach(async () => {
  place = await temporaryDirectory('archived-damage')
  const tally = await openSnapshotLedger(place.path('ledger'), { create: 'if-absent' })
  await fillLedger(tally)
  await note(tally, 'known')
  await tally.archive({ path: path(), before: Date.now() + 10_000 })
  await note(tally, 'behind')
  await tally.close()
})
afterEach(() => place.remove())

const path = () => place.path('1.archive')
const note = (tally: WiredRuntime, text: string) =>
  tally.begin(documentOf('note'), { id: text, inputs: { text } }).result

/** Where the body of a record with a code begins. */
const CODED_AT = 27
const everything = { gte: '', lt: '\u{10ffff}' }

/** Changes the first value whose key has this part, as one who has not the key of the ledger. */
async function altered(part: string, how: 'altered' | 'removed'): Promise<boolean> {
  const store = await openLevelStore({ path: place.path('ledger/data-1'), create: false })
  try {
    for await (const [key, value] of store.entries(everything)) {
      if (!key.includes(part)) continue
      const bytes = Buffer.from(value)
      const at = /\/(tile|index|chain|archived-runs)\//.test(key)
        ? CODED_AT
        : bytes.lastIndexOf('"') - 2
      bytes[at] = (bytes[at] ?? 0) ^ 1
      bytes.writeUInt32BE(crc32(bytes.subarray(5), crc32(key)), 1)
      const change = how === 'removed' ? { puts: [], deletes: [key] } : alteredPut(key, bytes)
      await store.commit([change])
      return true
    }
    return false
  } finally {
    await store.close()
  }
}

function alteredPut(key: string, value: Buffer) {
  return { puts: [[key, value] as const], deletes: [] }
}

const parts = [
  ...['/archived', '/archived-run/known', '/archived-runs/', '/commit/', '/tile/0/'],
  ...['/run/behind', '/index/', '/chain/', '/state/']
]
const damages = parts.flatMap((part) => [[part, 'altered'] as const, [part, 'removed'] as const])

it.each(damages)('P1, L12: finds that %s was %s', async (part, how) => {
  expect(await altered(part, how)).toBe(true)
  const tally = await openSnapshotLedger(place.path('ledger'))
  const { failure } = await tally.verify()
  expect(failure?.field).toMatch(/^(archived|commit|derived|journal|store|previousStateRoot)(\.|$)/)
  expectVerifyFailure(failure?.field ?? '')
  await tally.close()
})

/** Records of which another copy is nowhere: what follows the last sound one is lost. */
const isOnlyCopy = (part: string) => part === '/commit/'

const recovered = [...damages, ['/head', 'altered'] as const, ['/head', 'removed'] as const]

it.each(recovered.filter((_, place) => isTaken(place, 5)))(
  'K2: where %s was %s, recover makes the ledger again of what is left and its archives',
  async (part, how) => {
    expect(await altered(part, how)).toBe(true)
    const location = place.path('ledger')
    const consents = { notes: [], allowCut: true, acknowledgeNotes: true, acceptLock: true }
    await expect(repairLocation(location, consents)).rejects.toMatchObject({
      code: 'ledger.not_recoverable',
      message: expect.stringContaining('--archive FILE')
    })
    const { recovery } = await repairLocation(location, { ...consents, archives: [path()] })
    expect(recovery).toMatchObject({ kind: 'cut' })
    if (!isOnlyCopy(part)) expect(recovery).toMatchObject({ lostCommits: 0 })
    const tally = await openSnapshotLedger(location)
    expect(tally.status()).toMatchObject({ mode: 'ready' })
    const before = tally.status().receipts
    expect((await note(tally, 'known')).status).toBe('done')
    expect(tally.status().receipts).toBe(before)
    expect((await note(tally, 'another')).status).toBe('done')
    const report = await tally.verify()
    expect(report.ok).toBe(true)
    expect(report.archived).toBeUndefined()
    await tally.close()
  }
)

it('K2: recover takes no archive of another ledger, and changes nothing', async () => {
  expectVerifyFailure('derived.archivedRuns')
  await altered('/archived-run/known', 'removed')
  const other = await openSnapshotLedger(place.path('other'), { create: 'if-absent' })
  await note(other, 'theirs')
  await other.archive({ path: place.path('other.archive'), before: Date.now() + 10_000 })
  await other.close()
  const consents = { notes: [], allowCut: true, acknowledgeNotes: true }
  const archives = [place.path('other.archive')]
  await expect(
    repairLocation(place.path('ledger'), { ...consents, archives })
  ).rejects.toMatchObject({ code: 'archive.other_ledger' })
  expect(await readdir(place.path('ledger'))).not.toContain('data-2')
})

it('P1: without the key, finds that the end of its archives was altered', async () => {
  expectVerifyFailure('store')
  expect(await altered('/archived', 'altered')).toBe(true)
  expect(await verifyLocation(place.path('ledger'), { notes: [] })).toMatchObject({ ok: false })
})

it('L6: lost records of open history are safe mode, and the archive makes the ledger again', async () => {
  expectVerifyFailure('derived.runs')
  await altered('/run/behind', 'removed')
  const tally = await openSnapshotLedger(place.path('ledger'))
  expect(tally.status()).toMatchObject({ mode: 'safe', cause: { code: 'ledger.corrupt' } })
  await tally.close()
  await isMadeAgain()
})

it('L4, L12: of a state that lost a value, which no receipt here names, no list is given', async () => {
  expectVerifyFailure('previousStateRoot')
  expect(await altered('/state/', 'removed')).toBe(true)
  const tally = await openSnapshotLedger(place.path('ledger'))
  const list = tally.state.list()
  await expect(list).rejects.toMatchObject({ code: 'ledger.corrupt', message: /1 of its values/ })
  await expect(tally.state.list()).rejects.toMatchObject({ code: 'ledger.corrupt' })
  await tally.close()
})

describe('the id of an archived run (L6)', () => {
  it('begins nothing where its record was removed: that is safe mode', async () => {
    expectVerifyFailure('derived.archivedRuns')
    await altered('/archived-run/known', 'removed')
    await isRefused('known')
    await isMadeAgain()
  })

  it('begins nothing where its record was altered', async () => {
    expectVerifyFailure('store')
    await altered('/archived-run/known', 'altered')
    await isRefused('known')
  })

  const damaged = ['removed', 'altered'] as const
  it.each(damaged)(
    'is looked up in an index: no run begins where a page of it was %s',
    async (how) => {
      expectVerifyFailure(how === 'removed' ? 'store' : 'derived.archivedRuns')
      await altered('/archived-runs/', how)
      await isRefused('another')
      await isMadeAgain()
    }
  )

  it('begins nothing where the record is one of another run', async () => {
    expectVerifyFailure('store')
    const store = await openLevelStore({ path: place.path('ledger/data-1'), create: false })
    const records: (readonly [string, Uint8Array])[] = []
    for await (const found of store.entries(everything)) {
      if (found[0].includes('/archived-run/')) records.push(found)
    }
    const known = records.find(([key]) => key.endsWith('/known'))
    const other = records.find(([key]) => !key.endsWith('/known'))
    if (known === undefined || other === undefined) throw new Error('two runs are archived')
    await store.commit([{ puts: [[known[0], other[1]]], deletes: [] }])
    await store.close()
    await isRefused('known')
  })
})

/** A run of this id does not begin: its ledger is opened, and is in safe mode from then on. */
async function isRefused(id: string): Promise<void> {
  const tally = await openSnapshotLedger(place.path('ledger'))
  const { mode, receipts } = tally.status()
  expect(mode).toBe('ready')
  await expect(note(tally, id)).rejects.toMatchObject({ code: 'ledger.corrupt' })
  expect(tally.status()).toMatchObject({ mode: 'safe', receipts })
  await tally.close()
}

/** With the archive, the ledger is made again elsewhere, and verifies. */
async function isMadeAgain(): Promise<void> {
  const tally = await openSnapshotLedger(place.path('ledger'))
  const file = place.path('all.snapshot')
  const report = await tally.export({ path: file, archives: [path()], damaged: true })
  expect(report.commits).toBeGreaterThan(4)
  await tally.close()
  const made = await importSnapshot(place.path('again'), { file })
  expect(made.report).toMatchObject({ ok: true })
}

it('L12: a reader without the key sees what is open and behind, and where the rest is', async () => {
  const reader = await openReader(place.path('ledger'))
  const { signal } = new AbortController()
  const request = async (method: string, params = {}) => reader.service({ method, params, signal })
  const { items } = (await request('find')) as { items: readonly { id: string; status: string }[] }
  const ids = items.map(({ id }) => id)
  expect(ids).toContain('behind')
  expect(ids).toContain('open-run')
  await expect(request('show', { id: 'known' })).rejects.toMatchObject({
    code: 'ledger.archived'
  })
  await expect(request('show', { id: 'none' })).rejects.toMatchObject({ code: 'run.not_found' })
  await expect(request('receipt', { index: 1 })).rejects.toMatchObject({ code: 'ledger.archived' })
  expect(await request('verify')).toMatchObject({ ok: true, archived: { archives: [{}] } })
  expect(await request('verify', { archives: [path()] })).toMatchObject({ ok: true })
  await reader.close()
})
