import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { alterRecords } from '../../../../src/cli/demo/alter.js'
import { defineBlock } from '../../../../src/code/index.js'
import { ManualClock, systemRandom } from '../../../../src/core/index.js'
import { programVersions } from '../../../../src/intent/index.js'
import { wrapValue } from '../../../../src/ledger/envelope.js'
import { holdStore } from '../../../../src/ledger/index.js'
import { StoreKeys } from '../../../../src/ledger/keys.js'
import { Registry } from '../../../../src/runtime/code/registry.js'
import { repairLocation, verifyLocation } from '../../../../src/runtime/index.js'
import { openForRuntime } from '../../../../src/runtime/open.js'
import { WiredRuntime } from '../../../../src/runtime/runtime.js'
import { isLong } from '../../../support/effort.js'
import { LedgerOnDisk } from '../../../support/ledger-on-disk.js'
import { counterPackage, PackageFolder } from '../../../support/packages.js'
import { inspectOpening } from '../../../support/standing-time.js'
import { expectVerifyFailure } from '../../../support/verified-close.js'

let folder: PackageFolder
let disk: LedgerOnDisk
let installed: string

beforeAll(async () => {
  folder = await PackageFolder.create()
  installed = await folder.write(counterPackage)
})
afterAll(() => folder.remove())
beforeEach(async () => {
  disk = await LedgerOnDisk.create()
  const tally = await open()
  const capabilities = ['storage.read', 'storage.write']
  await tally.intent({ action: 'system.grant', payload: { package: 'counter', capabilities } })
  for (const id of ['one', 'two']) await tally.intent({ id, action: 'count.up' })
  await disk.close()
})
afterEach(() => disk.remove())

function open(): Promise<WiredRuntime> {
  return disk.open({ packages: [installed] })
}

async function changeFile(directory: string, change: (text: string) => string): Promise<void> {
  const [name = ''] = await readdir(join(disk.path, directory))
  const path = join(disk.path, directory, name)
  const text = await readFile(path, 'utf8')
  expect(change(text)).not.toBe(text)
  await writeFile(path, change(text))
}

async function changeRecords(change: (text: string) => string): Promise<void> {
  const held = await holdStore(disk.path)
  const [identity] = held.location.marker.identities
  if (identity === undefined) throw new Error('the ledger has no identity')
  expect(await alterRecords(held.store, identity, change)).toBeGreaterThan(0)
  await held.close()
}

async function changeState(name: string, value: string): Promise<void> {
  const held = await holdStore(disk.path)
  const [identity] = held.location.marker.identities
  if (identity === undefined) throw new Error('the ledger has no identity')
  const key = new StoreKeys(identity).state(name)
  await held.store.commit([{ puts: [[key, wrapValue(key, value)]], deletes: [] }])
  await held.close()
}

/** Ways to damage a ledger, with what opening names and what recovery has to be given. */
const damages = [
  {
    name: 'a receipt says another run',
    damage: () => changeRecords((text) => text.replaceAll('"runId":"one"', '"runId":"six"')),
    code: 'ledger.corrupt',
    fails: 'receiptHash',
    consent: { allowCut: true }
  },
  {
    name: 'the signature of the last receipt is another',
    damage: () =>
      changeRecords((text) => text.replace(/"signature":"[0-9a-f]{8}/g, '"signature":"00000000')),
    code: 'ledger.corrupt',
    fails: 'signature',
    consent: { allowCut: true }
  },
  {
    name: 'a state value is another',
    damage: () => changeState('packages/counter/count', '7'),
    code: 'ledger.corrupt',
    fails: 'state',
    consent: { allowCut: true }
  },
  {
    name: 'the lock says fewer receipts',
    damage: () => changeFile('integrity', (text) => text.replace(/"receipts":\d+/, '"receipts":1')),
    code: 'runtime.integrity_lock',
    fails: 'lock',
    consent: { acceptLock: true }
  },
  {
    name: 'the code of the lock is another',
    damage: () => changeFile('integrity', (text) => text.replace(/"mac":"..../, '"mac":"0000')),
    code: 'runtime.integrity_lock',
    fails: 'lock',
    consent: { acceptLock: true }
  },
  {
    name: 'the lock is no JSON',
    damage: () => changeFile('integrity', () => 'lock'),
    code: 'runtime.integrity_lock',
    fails: 'lock',
    consent: { acceptLock: true }
  },
  {
    name: 'a stored package has other code',
    damage: () => changeFile('packages', (text) => text.replace('?? 0', '?? 9')),
    code: 'capability.malformed_package',
    fails: 'journal',
    consent: { removePackages: true }
  },
  {
    name: 'both lock and stored package are other ones',
    damage: async () => {
      await changeFile('integrity', () => 'lock')
      await changeFile('packages', () => 'package')
    },
    code: 'runtime.integrity_lock',
    fails: 'journal',
    consent: { acceptLock: true, removePackages: true }
  }
] as const

const nothing = { notes: [], allowCut: false, acknowledgeNotes: false }

/** The usual form takes the first row of each cause and failure. */
const taken = damages.filter(
  (one) =>
    isLong || damages.find(({ code, fails }) => code === one.code && fails === one.fails) === one
)

describe.each(taken)('K10: where $name', ({ damage, code, consent, ...rest }) => {
  it('opening, doctor and recover name one cause, and recovery leads out of it', async () => {
    if ('fails' in rest) expectVerifyFailure(rest.fails)
    await damage()
    expect((await inspectOpening(disk.path)).causes[0]).toMatchObject({ code })
    expect((await open()).status()).toMatchObject({ mode: 'safe', cause: { code } })
    await disk.close()
    const told: unknown[] = []
    const onCauses = (causes: readonly { readonly code: string }[]) => told.push(causes[0]?.code)
    await expect(repairLocation(disk.path, { ...nothing, onCauses })).rejects.toMatchObject({
      code: 'ledger.not_recoverable'
    })
    // Refused, it has changed nothing.
    expect((await inspectOpening(disk.path)).causes[0]).toMatchObject({ code })
    await repairLocation(disk.path, { ...nothing, ...consent, onCauses })
    expect(told).toEqual([code, code])
    expect((await inspectOpening(disk.path)).causes).toEqual([])
    expect((await verifyLocation(disk.path, { notes: [] })).failure).toBeUndefined()
    const tally = await open()
    expect(tally.status()).toMatchObject({ mode: 'ready' })
    // The package is installed again from its directory; its grants have stayed.
    const reply = await tally.intent({ action: 'count.up' })
    const isCut = 'allowCut' in consent
    expect(reply.type === 'dapp' || (isCut && reply.type === 'permission_request')).toBe(true)
  })
})

describe('an open ledger in safe mode', () => {
  const recover = (tally: WiredRuntime, payload = {}) =>
    tally.intent({ action: 'system.recover', payload })

  it('K2: says what recovery does and loses before it accepts the lock', async () => {
    await changeFile('integrity', () => 'lock')
    const tally = await open()
    expect(await recover(tally)).toMatchObject({
      ok: false,
      mode: 'safe',
      cause: { code: 'runtime.integrity_lock', consent: 'acceptLock', loses: expect.any(String) }
    })
    expect(await recover(tally, { acceptLock: true })).toMatchObject({ ok: true, mode: 'ready' })
    await disk.close()
    expect((await open()).status().mode).toBe('ready')
  })

  it('K2: removes wrong stored bytes when asked to, and takes them again', async () => {
    await changeFile('packages', () => 'package')
    const tally = await disk.open()
    expect(await recover(tally)).toMatchObject({
      ok: false,
      cause: { code: 'capability.malformed_package', consent: 'removePackages' }
    })
    expect(await recover(tally, { removePackages: true })).toMatchObject({ ok: true })
    await disk.close()
    expect(await (await open()).intent({ action: 'count.up' })).toMatchObject({ count: 3 })
  })
})

describe('a ledger with a wrong lock and code that gives something else', () => {
  const impureOptions = () => {
    const run = () => ({ at: `${process.hrtime.bigint()}` })
    const intents = ['clock.read']
    const clock = defineBlock({
      name: 'clock',
      version: '1.0.0',
      sideEffects: 'none',
      intents,
      run
    })
    return { packages: [installed], blocks: [clock] }
  }

  async function prepare(): Promise<void> {
    expectVerifyFailure('journal.response')
    const tally = await disk.open(impureOptions())
    await tally.intent({ id: 'three', action: 'clock.read' })
    await disk.close()
    await changeFile('integrity', () => 'lock')
  }

  it('K2: leaves safe mode in the process, and the next opening marks the run', async () => {
    await prepare()
    const tally = await disk.open(impureOptions())
    const payload = { acceptLock: true }
    expect(await tally.intent({ action: 'system.recover', payload })).toMatchObject({
      ok: true,
      mode: 'ready'
    })
    await disk.close()
    const { mode, quarantined } = (await disk.open(impureOptions())).status()
    expect([mode, quarantined]).toMatchObject(['ready', [{ run: 'three' }]])
  })

  it('K2: leaves safe mode from outside, and the next opening marks the run', async () => {
    await prepare()
    await repairLocation(disk.path, { ...nothing, acceptLock: true })
    const { mode, quarantined } = (await disk.open(impureOptions())).status()
    expect([mode, quarantined]).toMatchObject(['ready', [{ run: 'three' }]])
  })
})

describe('a ledger that a newer program has used', () => {
  it('K10, K2: is named alike by all, and no consent changes anything', async () => {
    const random = systemRandom
    const opened = await openForRuntime({ location: disk.path }, { random })
    const versions = { ...programVersions, kernel: '99' }
    const later = new WiredRuntime(opened, await Registry.open({}), {
      ...{ clock: new ManualClock(), random, durability: 'output', versions }
    })
    await later.checkIntegrity()
    await later.close()
    const code = 'runtime.newer_versions'
    const all = { allowCut: true, acceptLock: true, acknowledgeNotes: true, removePackages: true }
    await expect(repairLocation(disk.path, { notes: [], ...all })).rejects.toMatchObject({
      code: 'ledger.not_recoverable',
      message: expect.stringContaining('a newer program is needed')
    })
    expect((await inspectOpening(disk.path)).causes).toMatchObject([{ code }])
    const tally = await open()
    expect(tally.status()).toMatchObject({ mode: 'safe', cause: { code } })
    const payload = { acceptLock: true, acknowledgeNotes: true, removePackages: true }
    expect(await tally.intent({ action: 'system.recover', payload })).toMatchObject({
      ok: false,
      cause: { code, isRecoverable: false }
    })
  })
})

describe('a look at a ledger', () => {
  it('K10: says what is not checked where there is no key', async () => {
    await rm(join(disk.path, 'keys'), { recursive: true })
    const { causes, notChecked } = await inspectOpening(disk.path)
    expect(causes).toEqual([])
    expect(notChecked).toEqual([
      'the code of the integrity lock, which needs the key',
      'the journals of open runs, which need the key'
    ])
  })
})
