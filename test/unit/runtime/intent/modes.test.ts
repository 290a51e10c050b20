import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { WiredRuntime } from '../../../../src/runtime/index.js'
import { type LedgerOnDisk, ledgerForEachTest } from '../../../support/ledger-on-disk.js'
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

ledgerForEachTest((made) => {
  disk = made
})

function open(
  packages: readonly string[],
  options: { readonly mode?: 'replay' } = {}
): Promise<WiredRuntime> {
  return disk.open({ packages, ...options })
}

async function begin(): Promise<{ readonly directory: string; readonly tally: WiredRuntime }> {
  const directory = await folder.write(counterPackage)
  const tally = await open([directory])
  const capabilities = ['storage.read', 'storage.write']
  await tally.intent({ action: 'system.grant', payload: { package: 'counter', capabilities } })
  expect(await tally.intent({ action: 'count.up' })).toMatchObject({ count: 1 })
  return { directory, tally }
}

/** Changes a character of the one package in the content store. */
async function tamper(): Promise<string> {
  const store = join(disk.path, 'packages')
  const [name = ''] = await readdir(store)
  const path = join(store, name)
  await writeFile(path, (await readFile(path, 'utf8')).replace('?? 0', '?? 9'))
  return path
}

test('K10: bytes that do not hash to their name are safe mode, with the cause', async () => {
  expectVerifyFailure('journal')
  await begin()
  await disk.close()
  const path = await tamper()
  const unsafe = await open([])
  expect(unsafe.status()).toMatchObject({
    mode: 'safe',
    cause: { code: 'capability.malformed_package' }
  })
  const refused = await unsafe.intent({ action: 'count.up' })
  expect(refused).toMatchObject({
    type: 'error',
    reason: 'safe_mode',
    details: { cause: 'capability.malformed_package' }
  })
  for (const action of ['system.safe', 'system.integrity', 'system.stateroot', 'system.verify']) {
    expect(await unsafe.intent({ action })).toMatchObject({ type: 'dapp', receipt: null })
  }
  await disk.close()
  await rm(path)
  const without = await open([])
  expect(without.status().mode).toBe('ready')
  expect(without.packages.refused).toMatchObject([{ name: 'counter', code: 'missing_code' }])
  expect(await without.intent({ action: 'count.up' })).toMatchObject({ reason: 'no_match' })
})

test('K2: recover ends safe mode when all is clean, and only the owner recovers', async () => {
  const { tally } = await begin()
  tally.ledger.enterSafeMode({ code: 'core.internal', message: 'a test says so' })
  const agent = { kind: 'agent', id: 'a' }
  const refused = await tally.intents.submit({ action: 'system.recover' }, agent)
  expect(refused).toMatchObject({ type: 'error', reason: 'not_permitted' })
  expect(await tally.intent({ action: 'system.recover' })).toMatchObject({
    ok: true,
    mode: 'ready'
  })
  expect(await tally.intent({ action: 'count.up' })).toMatchObject({ count: 2 })
})

test('K10: other code at the path is loaded once installed, with new grants', async () => {
  await begin()
  await disk.close()
  const code = counterPackage.code.replace('count, action', 'count: count * 100, action')
  const directory = await folder.write({ ...counterPackage, code }, 'swapped')
  const same = await open([directory])
  expect(same.packages.refused).toMatchObject([{ name: directory, code: 'package_changed' }])
  expect(same.status().mode).toBe('ready')
  expect(await same.intent({ action: 'count.up' })).toMatchObject({ count: 2 })
  const changed = await import('../../../../src/capability/index.js')
  const packed = await changed.packDirectory(directory)
  if (!packed.ok) throw new Error('it does not pack')
  await same.packages.packageCache.keep(packed.package)
  const { codeHash } = packed.package
  const payload = { id: 'counter', version: '2.0.0', codeHash }
  const installed = await same.intent({ action: 'package.install', payload })
  expect(installed).toMatchObject({ package: 'counter', codeHash })
  const asked = await same.intent({ id: 'new', action: 'count.up' })
  expect(asked).toMatchObject({ type: 'permission_request', codeHash })
  const capabilities = ['storage.read', 'storage.write']
  await same.intent({ action: 'system.grant', payload: { codeHash, capabilities } })
  expect(await same.result('new')).toMatchObject({ count: 300 })
  expect(
    await same.intent({ action: 'package.uninstall', payload: { id: 'counter' } })
  ).toMatchObject({
    revoked: 2
  })
  expect(await same.intent({ action: 'count.up' })).toMatchObject({ reason: 'no_match' })
  const report = await same.replay()
  expect(report.failure).toBeUndefined()
  expect(report.reexecuted).toBe(8)
})

test('K3: refused packages name their reason, and the others load', async () => {
  const good = await folder.write(counterPackage)
  const twice = await folder.write({ ...counterPackage, code: `${counterPackage.code}//` }, 'twice')
  const unknown = await folder.write({
    ...counterPackage,
    id: 'unknown',
    capabilities: ['disk.read']
  })
  const tally = await open([good, twice, unknown, join(folder.path, 'nowhere')])
  expect(tally.packages.refused.map(({ code }) => code)).toEqual([
    'duplicate_package',
    'unknown_capability',
    'missing_file'
  ])
  expect(tally.status().mode).toBe('ready')
  expect(await tally.intent({ action: 'count.up' })).toMatchObject({ type: 'permission_request' })
  expect(tally.status().mode).not.toBe('safe')
})

test('K10: a runtime that only replays takes nothing new', async () => {
  const { directory } = await begin()
  await disk.close()
  const replaying = await open([directory], { mode: 'replay' })
  expect(await replaying.intent({ action: 'count.up' })).toMatchObject({ reason: 'replay_mode' })
  expect(() => replaying.begin({})).toThrow('no new work')
  const replayed = await replaying.intent({ action: 'system.replay', payload: {} })
  expect(replayed).toMatchObject({ ok: true, reexecuted: 3 })
  expect(
    await replaying.intent({ action: 'system.replay', payload: { receipt: 2 } })
  ).toMatchObject({
    ok: true,
    index: 2
  })
})

test('K2: what only reads leaves no receipt, and is not run inside others', async () => {
  const { tally } = await begin()
  const before = tally.status().receipts
  const { permissions } = (await tally.intent({ action: 'system.permissions' })) as never as {
    permissions: readonly { capability: string; package: string }[]
  }
  expect(permissions).toMatchObject([
    { capability: 'storage.read', package: 'counter' },
    { capability: 'storage.write', package: 'counter' }
  ])
  expect(await tally.intent({ action: 'system.packages' })).toMatchObject({
    packages: [{ id: 'counter', capabilities: [{ granted: true }, { granted: true }] }]
  })
  expect(await tally.intent({ action: 'system.corehash' })).toMatchObject({ kernel: '1' })
  expect(tally.status().receipts).toBe(before)
})
