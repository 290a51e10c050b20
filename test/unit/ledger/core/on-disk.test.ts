import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { alterRecords } from '../../../../src/cli/demo/alter.js'
import type { RunId, UnitId } from '../../../../src/core/index.js'
import { newKeyFor } from '../../../../src/identity/index.js'
import {
  holdStore,
  type Ledger,
  openLevelStore,
  ROTATION_ACTION,
  type Store,
  verifyLedger
} from '../../../../src/ledger/index.js'
import { inspectLocation } from '../../../../src/ledger/location/index.js'
import { repairLocation } from '../../../../src/runtime/index.js'
import { createLedger, openLedger } from '../../../support/ledgers.js'
import { expectVerifyFailure } from '../../../support/verified-close.js'
import {
  collect,
  commit,
  entry,
  fixedIdentity,
  ledgerOptions,
  loneItem,
  START_AT,
  unit
} from './support.js'

const keys = fixedIdentity()
const { identity } = keys
let directory: string
let path: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tally-on-disk-'))
  path = join(directory, 'ledger')
  await (await holdStore(path, { create: { identities: [identity] } })).close()
  await within(async (store) => (await createLedger(ledgerOptions(store, keys))).close())
})
afterEach(() => rm(directory, { recursive: true, force: true }))

async function within<Result>(
  use: (store: Store) => Promise<Result>,
  location = path
): Promise<Result> {
  const held = await holdStore(location)
  try {
    return await use(held.store)
  } finally {
    await held.close()
  }
}

function withLedger<Result>(
  use: (ledger: Ledger, store: Store) => Promise<Result>,
  holder = keys
): Promise<Result> {
  return within(async (store) => {
    const ledger = await openLedger(ledgerOptions(store, holder))
    const result = await use(ledger, store)
    await ledger.close()
    return result
  })
}

async function entriesAt(data: string): Promise<readonly (readonly [string, Uint8Array])[]> {
  const store = await openLevelStore({ path: data, create: false })
  const entries = await collect(store.entries({ gte: '', lt: '\u{10ffff}' }))
  await store.close()
  return entries
}

const denial = {
  runId: 'denied' as RunId,
  entries: [entry('denied', 0, { k: 'run.started', status: 'failed' })],
  evidence: {
    type: 'denial',
    unitId: 'denied' as UnitId,
    action: 'wallet.send',
    payloadText: '{}',
    landed: [],
    code: 'denied',
    details: { why: 'no' },
    at: START_AT
  }
} as const

/** Six receipts, one piece of evidence, and a note over the first four records. */
async function fill(): Promise<string> {
  return withLedger(async (ledger) => {
    for (let n = 0; n < 3; n += 1) await commit(ledger, loneItem({ id: `u${n}`, writes: { n } }))
    await commit(ledger, denial)
    const note = await ledger.note()
    for (let n = 3; n < 6; n += 1) await commit(ledger, loneItem({ id: `u${n}`, writes: { n } }))
    return note
  })
}

/** Changes what unit `id` was asked, checksums and all. */
function forge(id: string): Promise<number> {
  return within((store) =>
    alterRecords(store, identity, (text) =>
      text.includes(`"id":"${id}"`) ? text.replace('"amount":"10"', '"amount":"99"') : text
    )
  )
}

const cut = { notes: [], allowCut: true, acknowledgeNotes: false }

describe('a ledger on disk', () => {
  it('P5: evidence and notes outlast the process, and a note finds a log that was cut', async () => {
    const early = await fill()
    const late = await withLedger(async (ledger) => {
      const records = await collect(ledger.log())
      expect(records.map(({ kind }) => kind).join(' ')).toBe(
        'receipt receipt receipt evidence receipt receipt receipt'
      )
      return ledger.note()
    })
    const notes = [early, late].map((text, at) => ({ source: `note ${at}`, text }))
    const report = await within((store) => verifyLedger({ store, identity, notes }))
    expect(report).toMatchObject({ ok: true, evidence: 1, anchored: { upTo: 7, logSize: 7 } })
    await forge('u4')
    await expect(repairLocation(path, { ...cut, notes })).rejects.toMatchObject({
      code: 'ledger.not_recoverable'
    })
    expect((await inspectLocation(path))?.marker.live).toBe('data-1')
    expect(await readdir(path)).not.toContain('data-2')
    await repairLocation(path, { ...cut, notes: notes.slice(0, 1) })
    const after = await within((store) => verifyLedger({ store, identity, notes }))
    expect(after.failure).toMatchObject({ field: 'note.size', key: 'note 1' })
  })

  it('L9: recovery switches to the verified prefix, keeps the old data, and work continues', async () => {
    expectVerifyFailure('receiptHash')
    await fill()
    await forge('u4')
    const before = await entriesAt(join(path, 'data-1'))
    expect(await withLedger(async (ledger) => ledger.state().mode)).toBe('safe')
    await expect(repairLocation(path, { ...cut, allowCut: false })).rejects.toMatchObject({
      code: 'ledger.not_recoverable'
    })
    expect(await repairLocation(path, cut)).toMatchObject({
      recovery: { kind: 'cut', receipts: 4, lostCommits: 2 },
      live: 'data-2',
      kept: 'data-1'
    })
    expect(await entriesAt(join(path, 'data-1'))).toEqual(before)
    await withLedger(async (ledger) => {
      expect(ledger.state()).toMatchObject({ mode: 'ready', receipts: 4 })
      expect(await ledger.hasUnit('u4' as UnitId)).toBe(false)
      await commit(ledger, loneItem({ id: 'u4', writes: { n: 4 } }))
    })
    expect(await within((store) => verifyLedger({ store, identity }))).toMatchObject({
      ok: true,
      receipts: 5,
      evidence: 1
    })
    expect(await repairLocation(path, cut)).toMatchObject({
      recovery: { kind: 'clean' },
      live: 'data-2',
      kept: null
    })
  })

  it.each<[string, () => Promise<void>, string]>([
    [
      'while it copied',
      async () => {
        const half = await openLevelStore({ path: join(path, 'data-2'), create: true })
        const [first] = await collect(half.entries({ gte: '', lt: '\u{10ffff}' }))
        expect(first).toBeUndefined()
        await half.commit([{ puts: [[`${identity}/head`, Buffer.from('half')]], deletes: [] }])
        await half.close()
      },
      'data-3'
    ],
    ['before it opened the new data', () => mkdir(join(path, 'data-2')).then(() => {}), 'data-3'],
    [
      'before the rename of the marker',
      async () => {
        const live = (await inspectLocation(path))?.marker
        const text = JSON.stringify({ ...live, live: 'data-2' })
        await writeFile(join(path, 'marker.json.new'), text)
      },
      'data-2'
    ]
  ])('L9: a recovery that died %s left the old data live, and runs again', async (_, die, live) => {
    expectVerifyFailure('receiptHash')
    await fill()
    await forge('u5')
    await die()
    expect((await inspectLocation(path))?.marker.live).toBe('data-1')
    expect(await withLedger(async (ledger) => ledger.state().mode)).toBe('safe')
    expect(await repairLocation(path, cut)).toMatchObject({
      recovery: { kind: 'cut', receipts: 5 },
      live,
      kept: 'data-1'
    })
    expect(await withLedger(async (ledger) => ledger.state())).toMatchObject({
      mode: 'ready',
      receipts: 5
    })
  })

  it('L9: killed anywhere while it recovers, the location opens as the old or the new data', async () => {
    expectVerifyFailure('receiptHash')
    await fill()
    await forge('u5')
    const copies = new Set<string>()
    const whole = join(directory, 'whole')
    await cp(path, whole, { recursive: true })
    await repairLocation(path, cut)
    // What each step adds, in its order: the new data, then the marker that names it.
    for (const step of ['nothing', 'data-2', 'marker.json']) {
      if (step !== 'nothing') {
        await cp(join(path, step), join(whole, step), { recursive: true, force: true })
      }
      const copy = join(directory, `copy-${step}`)
      await cp(whole, copy, { recursive: true })
      const { live = '' } = (await inspectLocation(copy))?.marker ?? {}
      const mode = await within(
        async (store) => (await openLedger(ledgerOptions(store, keys))).state().mode,
        copy
      )
      copies.add(`${step}: ${live} ${mode}`)
    }
    expect([...copies]).toEqual([
      'nothing: data-1 safe',
      'data-2: data-1 safe',
      'marker.json: data-2 ready'
    ])
  })

  it('L4: an index page that is lost from the disk is made again', async () => {
    await fill()
    await within(async (store) => {
      const range = { gte: `${identity}/index/`, lt: `${identity}/index0` }
      const pages = await collect(store.entries(range))
      expect(pages.length).toBeGreaterThan(0)
      await store.commit([{ puts: [], deletes: pages.map(([key]) => key) }])
    })
    const report = await within((store) => verifyLedger({ store, identity }))
    expect(report.ok).toBe(false)
    expect(await repairLocation(path, cut)).toMatchObject({ recovery: { kind: 'derived' } })
    await withLedger(async (ledger) => {
      for (let n = 0; n < 6; n += 1) expect(await ledger.hasUnit(`u${n}` as UnitId)).toBe(true)
    })
    expect((await within((store) => verifyLedger({ store, identity }))).failure).toBeUndefined()
  })

  it('hands the identity over for good: old key refused, notes of both keys hold', async () => {
    const early = await fill()
    const next = newKeyFor(keys, {
      bytes: (length) => new Uint8Array(length).fill(9),
      uuid: () => ''
    })
    await within(async (store) => {
      const ledger = await openLedger(ledgerOptions(store, keys))
      const appended = await ledger.rotate({
        signer: next.signer(),
        item: (payloadText) => ({
          runId: 'rotation' as RunId,
          entries: [],
          unit: { ...unit({ id: 'rotate-1' }), action: ROTATION_ACTION, payloadText }
        })
      })
      if (!appended.ok) throw new Error('conflict')
      await ledger.durable(appended.position)
      // The process dies here: nothing is closed but the store.
    })
    await expect(withLedger(async () => undefined)).rejects.toMatchObject({
      code: 'ledger.wrong_signer'
    })
    const late = await withLedger(async (ledger) => {
      await commit(ledger, loneItem({ id: 'after', writes: { n: 7 } }))
      return ledger.note()
    }, next)
    const notes = [early, late].map((text, at) => ({ source: `note ${at}`, text }))
    const report = await within((store) => verifyLedger({ store, identity, notes }))
    expect(report.failure).toBeUndefined()
    expect(report).toMatchObject({ ok: true, receipts: 8, anchored: { upTo: 9 } })
    expect(report.anchored.notes.every(({ ok }) => ok)).toBe(true)
    await forge('after')
    expect(await repairLocation(path, cut)).toMatchObject({
      recovery: { kind: 'cut', receipts: 7 }
    })
    const state = await withLedger(async (ledger) => ledger.state(), next)
    expect(state).toMatchObject({ mode: 'ready', receipts: 7 })
  })
})
