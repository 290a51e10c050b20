import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { repairLocation, type WiredRuntime } from '../../../../src/runtime/index.js'
import { LedgerOnDisk } from '../../../support/ledger-on-disk.js'
import {
  counterPackage,
  type PackageFolder,
  packagesForAllTests
} from '../../../support/packages.js'
import { expectVerifyFailure } from '../../../support/verified-close.js'

let folder: PackageFolder
let disk: LedgerOnDisk

packagesForAllTests((made) => {
  folder = made
})

beforeEach(async () => {
  disk = await LedgerOnDisk.create()
  const tally = await open([await folder.write(counterPackage)])
  const capabilities = ['storage.read', 'storage.write']
  await tally.intent({ action: 'system.grant', payload: { package: 'counter', capabilities } })
  expect(await tally.intent({ action: 'count.up' })).toMatchObject({ count: 1 })
})

afterEach(() => disk.remove())

function open(packages: readonly string[] = []): Promise<WiredRuntime> {
  return disk.open({ packages })
}

async function lockPath(): Promise<string> {
  const [name = ''] = await readdir(join(disk.path, 'integrity'))
  return join(disk.path, 'integrity', name)
}

async function expectSafe(code: string): Promise<WiredRuntime> {
  const tally = await open()
  expect(tally.status()).toMatchObject({ mode: 'safe', cause: { code } })
  const refused = await tally.intent({ action: 'count.up' })
  expect(refused).toMatchObject({ reason: 'safe_mode', details: { cause: code } })
  return tally
}

describe('integrity lock', () => {
  it('K10: a changed lock is safe mode; recovery with a clean ledger ends it', async () => {
    await disk.close()
    const path = await lockPath()
    await writeFile(path, (await readFile(path, 'utf8')).replace('"receipts":3', '"receipts":2'))
    expectVerifyFailure('lock')
    await expectSafe('runtime.integrity_lock')
    await disk.close()
    const told = await repairLocation(disk.path, {
      notes: [],
      allowCut: false,
      acknowledgeNotes: false,
      acceptLock: true
    })
    expect(told.recovery.kind).toBe('clean')
    expect(await (await open()).intent({ action: 'count.up' })).toMatchObject({ count: 2 })
  })

  it('K10: data put back to an earlier time is safe mode until it is acknowledged', async () => {
    await disk.close()
    const earlier = join(disk.directory, 'earlier')
    const data = join(disk.path, 'data-1')
    await cp(data, earlier, { recursive: true })
    expect(await (await open()).intent({ action: 'count.up' })).toMatchObject({ count: 2 })
    await disk.close()
    await rm(data, { recursive: true })
    await cp(earlier, data, { recursive: true })
    expectVerifyFailure('lock.receipts')
    const tally = await expectSafe('runtime.rolled_back')
    expect(await tally.intent({ action: 'system.recover' })).toMatchObject({ ok: false })
    await disk.close()
    const options = { notes: [], allowCut: false, acknowledgeNotes: false }
    await expect(repairLocation(disk.path, options)).rejects.toThrow('4 receipts were there')
    await repairLocation(disk.path, { ...options, acknowledgeNotes: true })
    expect(await (await open()).intent({ action: 'count.up' })).toMatchObject({ count: 2 })
  })

  it('K10: a ledger that has gone on without its lock is itself', async () => {
    await disk.close()
    const path = await lockPath()
    const before = await readFile(path, 'utf8')
    await (await open()).intent({ action: 'count.up' })
    await disk.close()
    await writeFile(path, before)
    expect((await open()).status()).toMatchObject({ mode: 'ready', receipts: 4 })
  })
})
