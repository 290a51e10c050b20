import { cp, mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { holdStore } from '../../../../src/ledger/index.js'
import {
  type RuntimeOptions,
  verifyLocation,
  type WiredRuntime
} from '../../../../src/runtime/index.js'
import { documentOf, openSnapshotLedger, temporaryDirectory } from '../../../support/snapshots.js'
import { expectVerifyFailure } from '../../../support/verified-close.js'

/** A ledger as it was when a run waited (`early`), and snapshots of it then and later. */
let place: Awaited<ReturnType<typeof temporaryDirectory>>
let headRoot: string
beforeAll(async () => {
  place = await temporaryDirectory('restoring')
  const tally = await openSnapshotLedger(place.path('ledger'), { create: 'if-absent' })
  await note(tally, 'first')
  const waiting = tally.begin(documentOf('ask'), { id: 'open-run' })
  for await (const event of waiting) if (event.type === 'run.parked') break
  await tally.export({ path: place.path('early.snapshot') })
  await tally.close()
  await cp(place.path('ledger'), place.path('early'), { recursive: true })
  const later = await openSnapshotLedger(place.path('ledger'))
  await note(later, 'second')
  await later.export({ path: place.path('later.snapshot') })
  headRoot = later.ledger.roots().head
  await later.close()
})
afterAll(() => place.remove())

const opened: WiredRuntime[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  for (const tally of opened.splice(0)) await tally.close()
})

let names = 0
async function early(): Promise<string> {
  names += 1
  await cp(place.path('early'), place.path(`place-${names}`), { recursive: true })
  return place.path(`place-${names}`)
}

async function open(
  location: string,
  options: Partial<RuntimeOptions> = {}
): Promise<WiredRuntime> {
  const tally = await openSnapshotLedger(location, options)
  opened.push(tally)
  return tally
}

const importing = (name = 'later.snapshot') => ({
  action: 'system.import',
  payload: { file: place.path(name) }
})

function note(tally: WiredRuntime, text: string) {
  return tally.begin(documentOf('note'), { inputs: { text } }).result
}

const naming = {
  action: 'system.approver',
  payload: { publicKey: 'a'.repeat(64), isApprover: true }
}

/** Does something just before the ledger is held; what it appends may still be waiting then. */
function justBefore(tally: WiredRuntime, work: () => Promise<void> | void): void {
  const begin = tally.ledger.restoring.begin.bind(tally.ledger.restoring)
  vi.spyOn(tally.ledger.restoring, 'begin').mockImplementation(async () => {
    const done = work()
    if (done !== undefined) await done
    await begin()
    // Nothing new begins, and no commit is acknowledged.
    expect(await tally.intent(naming)).toMatchObject({ type: 'error', reason: 'restoring' })
    expect(() => tally.begin(documentOf('note'))).toThrow('being restored')
    expect(await tally.intent(importing())).toMatchObject({ reason: 'restoring' })
    expect(await tally.intent({ action: 'system.safe' })).toMatchObject({ mode: 'restoring' })
    expect(await codeOf(tally.attach('open-run').then((run) => run.cancel()))).toBe(
      'ledger.restoring'
    )
  })
}

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'done',
    (error: { readonly code?: string }) => error.code
  )
}

describe('system.import', () => {
  it('K2, K10: takes the place of an open ledger, which then takes nothing more', async () => {
    const location = await early()
    const tally = await open(location)
    const modes: string[] = []
    tally.ledger.onMode(({ mode }) => modes.push(mode))
    const held: Promise<unknown>[] = []
    justBefore(tally, () => void held.push(codeOf(tally.intent(naming))))
    const reply = await tally.intent({ id: 'june', ...importing() })
    expect(reply).toMatchObject({
      type: 'dapp',
      receipt: null,
      restored: true,
      restart: true,
      headRoot,
      openRuns: ['open-run'],
      live: 'data-2',
      kept: 'data-1'
    })
    expect(await Promise.all(held)).toEqual(['ledger.restoring'])
    expect(modes.at(-1)).toBe('restoring')
    expect(tally.status().mode).toBe('restoring')
    for (const action of ['system.import', 'system.approver']) {
      const payload = action === 'system.import' ? importing().payload : {}
      expect(await tally.intent({ action, payload })).toMatchObject({ reason: 'restoring' })
    }
    await tally.close()

    await expect(open(location)).rejects.toMatchObject({ code: 'ledger.follower' })
    const again = await open(location, { takeOver: true, resume: true })
    const run = await again.attach('open-run')
    const [wait] = await run.waits()
    if (wait === undefined) throw new Error('it does not wait')
    await run.resume(wait.token, { digest: wait.digest, value: 7 })
    expect((await run.result).response).toMatchObject({ success: true, data: 7 })
    expect(again.ledger.read(`approvers/${naming.payload.publicKey}`)).toBeUndefined()
    expect(again.ledger.read('texts/second')).toBe('6')
    expect(await again.verify()).toMatchObject({ ok: true })
  })

  it('K10: a failure before the marker changes leaves the ledger as it was; commits continue', async () => {
    const location = await early()
    const tally = await open(location)
    const held: Promise<unknown>[] = []
    justBefore(tally, () => void held.push(tally.intent(naming)))
    await mkdir(`${location}/marker.json.new`)
    await expect(tally.intent(importing())).rejects.toThrow('EISDIR')
    expect(await Promise.all(held)).toMatchObject([{ type: 'dapp', changed: expect.anything() }])
    expect(tally.status().mode).toBe('ready')
    vi.restoreAllMocks()
    expect((await note(tally, 'third')).status).toBe('done')
    await rm(`${location}/marker.json.new`, { recursive: true })
    // The ledger has gone its own way.
    expect(await tally.intent(importing())).toMatchObject({
      reason: 'not_imported',
      details: { code: 'snapshot.diverges' }
    })
    expect(tally.status().mode).toBe('ready')
    expect(await tally.verify()).toMatchObject({ ok: true })
    await tally.close()
    expect((await readdir(location)).filter((name) => /^data-/.test(name))).toEqual(['data-1'])
    expect(await readFile(`${location}/marker.json`, 'utf8')).not.toContain('followers')
  })

  it('K10, P3: sees what was committed while the snapshot was being built', async () => {
    const tally = await open(await early())
    justBefore(tally, async () => {
      expect(await tally.intent(naming)).toMatchObject({ type: 'dapp' })
    })
    expect(await tally.intent(importing())).toMatchObject({
      reason: 'not_imported',
      details: { code: 'snapshot.diverges' }
    })
    expect(tally.status().mode).toBe('ready')
    vi.restoreAllMocks()
    // All of an earlier snapshot is there.
    expect(await tally.intent(importing('early.snapshot'))).toMatchObject({
      type: 'dapp',
      outcome: 'unchanged',
      restored: false,
      restart: false
    })
    expect((await note(tally, 'third')).status).toBe('done')
  })

  it('K2, K10: restores a ledger in safe mode, whatever of it is damaged', async () => {
    expectVerifyFailure('store')
    for (const kind of ['commit', 'state']) {
      const location = await early()
      await damage(location, kind)
      const tally = await open(location)
      // A value is looked at when it is read.
      if (kind === 'state') expect(() => tally.ledger.read('texts/first')).toThrow('damaged')
      expect(tally.status().mode).toBe('safe')
      expect(await tally.intent({ action: 'system.approver' })).toMatchObject({
        reason: 'safe_mode'
      })
      const cut = importing('none.snapshot')
      expect(await tally.intent(cut)).toMatchObject({ details: { code: 'snapshot.unreadable' } })
      expect(tally.status().mode).toBe('safe')
      expect(await tally.intent(importing('early.snapshot'))).toMatchObject({ restored: true })
      expect(tally.status().mode).toBe('restoring')
      await tally.close()
      expect(await verifyLocation(location, { notes: [] })).toMatchObject({ ok: true })
    }
  })

  it('K13: is the owner’s, refused while it replays, and strict about what it is given', async () => {
    const location = await early()
    const tally = await open(location)
    const note = { source: 'a friend', text: 'a note' }
    for (const payload of [
      {},
      { file: '' },
      { file: 'a', takeOver: true },
      { file: 'a', notes: note },
      { file: 'a', notes: [{ ...note, more: 1 }] }
    ]) {
      const asked = { action: 'system.import', payload }
      expect(await tally.intent(asked)).toMatchObject({ reason: 'invalid_input' })
    }
    const { file } = importing().payload
    const noted = { action: 'system.import', payload: { file, notes: [note] } }
    expect(await tally.intent(noted)).toMatchObject({
      details: { code: 'snapshot.not_verified' }
    })
    const agent = { kind: 'agent', id: 'a' }
    expect(await tally.intents.submit(importing(), agent)).toMatchObject({
      reason: 'not_permitted'
    })
    await tally.close()
    const replaying = await open(location, { mode: 'replay' })
    expect(await replaying.intent(importing())).toMatchObject({ reason: 'replay_mode' })
  })

  it('L11, K10: a ledger that is closed meanwhile calls its import off', async () => {
    const location = await early()
    const tally = await open(location)
    const reply = tally.intent({ id: 'june', ...importing() })
    const same = tally.intent({ id: 'june', ...importing() })
    expect(await tally.intent(importing())).toMatchObject({ reason: 'restoring' })
    await tally.close()
    expect(await reply).toMatchObject({ details: { code: 'ledger.closed' } })
    expect(await same).toEqual(await reply)
    expect((await readdir(location)).filter((name) => /^data-/.test(name))).toEqual(['data-1'])
    const again = await open(location)
    expect(again.status().mode).toBe('ready')
    // Nothing is built for a ledger that takes nothing more.
    const poisoned = { ...again.ledger.state(), mode: 'poisoned' } as const
    vi.spyOn(again.ledger, 'state').mockReturnValue(poisoned)
    expect(await again.intent(importing())).toMatchObject({ details: { code: 'ledger.poisoned' } })
  })
})

/** Flips a byte of the first value of a kind, so that its checksum does not hold. */
async function damage(location: string, kind: string): Promise<void> {
  const { store, location: held, close } = await holdStore(location)
  const prefix = `${held.marker.identities[0]}/${kind}/`
  for await (const [key, value] of store.entries({ gte: prefix, lt: `${prefix}~`, limit: 1 })) {
    const bytes = Uint8Array.from(value)
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
    await store.commit([{ puts: [[key, bytes]], deletes: [] }])
  }
  await close()
}
