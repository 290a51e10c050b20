import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createRuntime, recoverLocation, type WiredRuntime } from '../../../src/runtime/index.js'
import { counterPackage, PackageFolder } from '../../support/packages.js'

let folder: PackageFolder
let location: string
const opened: WiredRuntime[] = []

beforeAll(async () => {
  folder = await PackageFolder.create()
})

afterAll(() => folder.remove())

beforeEach(async () => {
  location = await mkdtemp(join(tmpdir(), 'tally-lock-'))
  const tally = await open([await folder.write(counterPackage)])
  const capabilities = ['storage.read', 'storage.write']
  await tally.intent({ action: 'system.grant', payload: { package: 'counter', capabilities } })
  expect(await tally.intent({ action: 'count.up' })).toMatchObject({ count: 1 })
})

afterEach(async () => {
  await closeAll()
  await rm(location, { recursive: true, force: true })
})

const ledgerPath = () => join(location, 'ledger')

async function open(packages: readonly string[] = []): Promise<WiredRuntime> {
  const tally = await createRuntime({
    location: ledgerPath(),
    create: 'if-absent',
    insecurePlaintextKey: true,
    serve: false,
    packages
  })
  opened.push(tally)
  return tally
}

async function closeAll(): Promise<void> {
  for (const tally of opened.splice(0)) await tally.close()
}

async function lockPath(): Promise<string> {
  const [name = ''] = await readdir(join(ledgerPath(), 'integrity'))
  return join(ledgerPath(), 'integrity', name)
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
    await closeAll()
    const path = await lockPath()
    await writeFile(path, (await readFile(path, 'utf8')).replace('"receipts":3', '"receipts":2'))
    await expectSafe('runtime.integrity_lock')
    await closeAll()
    const told = await recoverLocation(ledgerPath(), {
      notes: [],
      allowCut: false,
      acknowledgeNotes: false
    })
    expect(told.recovery.kind).toBe('clean')
    expect(await (await open()).intent({ action: 'count.up' })).toMatchObject({ count: 2 })
  })

  it('K10: data put back to an earlier time is safe mode until it is acknowledged', async () => {
    await closeAll()
    const earlier = join(location, 'earlier')
    const data = join(ledgerPath(), 'data-1')
    await cp(data, earlier, { recursive: true })
    expect(await (await open()).intent({ action: 'count.up' })).toMatchObject({ count: 2 })
    await closeAll()
    await rm(data, { recursive: true })
    await cp(earlier, data, { recursive: true })
    const tally = await expectSafe('runtime.rolled_back')
    expect(await tally.intent({ action: 'system.recover' })).toMatchObject({ ok: false })
    await closeAll()
    const options = { notes: [], allowCut: false, acknowledgeNotes: false }
    await expect(recoverLocation(ledgerPath(), options)).rejects.toThrow('4 receipts were there')
    await recoverLocation(ledgerPath(), { ...options, acknowledgeNotes: true })
    expect(await (await open()).intent({ action: 'count.up' })).toMatchObject({ count: 2 })
  })

  it('K10: a ledger that has gone on without its lock is itself', async () => {
    await closeAll()
    const path = await lockPath()
    const before = await readFile(path, 'utf8')
    await (await open()).intent({ action: 'count.up' })
    await closeAll()
    await writeFile(path, before)
    expect((await open()).status()).toMatchObject({ mode: 'ready', receipts: 4 })
  })
})
