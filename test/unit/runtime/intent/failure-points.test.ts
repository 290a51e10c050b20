import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { alterRecords } from '../../../../src/cli/demo/alter.js'
import { canonicalize, hashJson, sha256Hex } from '../../../../src/core/index.js'
import { unwrapText, wrapValue } from '../../../../src/ledger/envelope.js'
import { holdStore } from '../../../../src/ledger/index.js'
import { StoreKeys } from '../../../../src/ledger/keys.js'
import {
  inspectPackages,
  repairLocation,
  type WiredRuntime
} from '../../../../src/runtime/index.js'
import { type LedgerOnDisk, ledgerForEachTest } from '../../../support/ledger-on-disk.js'
import {
  counterPackage,
  type PackageFolder,
  packagesForAllTests
} from '../../../support/packages.js'
import { expectVerifyFailure } from '../../../support/verified-close.js'

/** The seed's list "common failure points in integration", one test for each, in its order. */

let folder: PackageFolder
let disk: LedgerOnDisk

packagesForAllTests((made) => {
  folder = made
})
ledgerForEachTest((made) => {
  disk = made
})

const capabilities = ['storage.read', 'storage.write']
const two = {
  schema: 'tally-graph/1',
  name: 'two',
  version: '1.0.0',
  atomic: true,
  steps: ['a', 'b'].map((id) => ({ id, action: 'count.up' }))
}

function open(packages: readonly string[] = []): Promise<WiredRuntime> {
  return disk.open({ packages })
}

/** A ledger with a package that has counted to 1 and to 2. */
async function begin(): Promise<WiredRuntime> {
  const tally = await open([await folder.write(counterPackage)])
  await tally.intent({ action: 'system.grant', payload: { package: 'counter', capabilities } })
  for (const id of ['one', 'two']) await tally.intent({ id, action: 'count.up' })
  return tally
}

async function alter(from: string, to: string): Promise<void> {
  await disk.close()
  const held = await holdStore(disk.path)
  const [identity] = held.location.marker.identities
  if (identity === undefined) throw new Error('the ledger has no identity')
  const altered = await alterRecords(held.store, identity, (text) => text.replaceAll(from, to))
  expect(altered).toBeGreaterThan(0)
  await held.close()
}

/** Another value of a state entry, with a checksum that fits. */
async function alterState(name: string, value: string): Promise<void> {
  await disk.close()
  const held = await holdStore(disk.path)
  const [identity] = held.location.marker.identities
  if (identity === undefined) throw new Error('the ledger has no identity')
  const key = new StoreKeys(identity).state(name)
  const bytes = await held.store.get(key)
  if (bytes === undefined) throw new Error('there is no such entry')
  expect(unwrapText(key, bytes)).not.toBe(value)
  await held.store.commit([{ puts: [[key, wrapValue(key, value)]], deletes: [] }])
  await held.close()
}

/** In safe mode nothing changes the ledger, and what it can tell it tells. */
async function expectSafe(tally: WiredRuntime, cause: string): Promise<void> {
  const { receipts } = tally.status()
  expect(tally.status()).toMatchObject({ mode: 'safe', cause: { code: cause } })
  const grant = { package: 'counter', capabilities }
  for (const intent of [
    { action: 'count.up' },
    { action: 'system.grant', payload: grant },
    { action: 'package.uninstall', payload: { id: 'counter' } }
  ]) {
    expect(await tally.intent(intent)).toMatchObject({ type: 'error', reason: 'safe_mode' })
  }
  await expect(tally.begin(two).result).rejects.toMatchObject({ code: 'ledger.safe_mode' })
  expect(await tally.intent({ action: 'system.safe' })).toMatchObject({ safe: true })
  expect(tally.status().receipts).toBe(receipts)
}

describe('common failure points of the seed', () => {
  test('K4: routing fails: the intent is unknown, and nothing runs', async () => {
    const tally = await begin()
    const { receipts } = tally.status()
    expect(await tally.intent({ action: 'nobody.knows' })).toMatchObject({ reason: 'no_match' })
    expect(tally.status()).toMatchObject({ mode: 'ready', receipts })
  })

  test('K5, K10: a permission is missing: it is asked for, and that is no safe mode', async () => {
    const tally = await open([await folder.write(counterPackage)])
    const asked = await tally.intent({ action: 'count.up' })
    expect(asked).toMatchObject({ type: 'permission_request' })
    expect(tally.status().mode).not.toBe('safe')
  })

  test('K10: the integrity lock fails: a record is not what it was', async () => {
    expectVerifyFailure('receiptHash')
    await begin()
    await alter('"runId":"one"', '"runId":"six"')
    await expectSafe(await open(), 'ledger.corrupt')
  })

  test('K10, K2: code does not hash to its name: safe until its bytes are right', async () => {
    expectVerifyFailure('journal')
    await begin()
    await disk.close()
    const store = join(disk.path, 'packages')
    const [name = ''] = await readdir(store)
    const text = await readFile(join(store, name), 'utf8')
    await writeFile(join(store, name), text.replace('?? 0', '?? 9'))
    const tally = await open()
    await expectSafe(tally, 'capability.malformed_package')
    // A chain that verifies does not make these bytes right.
    const recover = { action: 'system.recover' }
    expect(await tally.intent(recover)).toMatchObject({ ok: false, mode: 'safe' })
    await expectSafe(tally, 'capability.malformed_package')
    await disk.close()
    const asked = { notes: [], allowCut: false, acknowledgeNotes: false }
    await expect(repairLocation(disk.path, asked)).rejects.toMatchObject({
      code: 'ledger.not_recoverable'
    })
    const again = await open()
    await expectSafe(again, 'capability.malformed_package')
    await writeFile(join(store, name), text)
    expect(await again.intent(recover)).toMatchObject({ ok: true, mode: 'ready' })
    expect(await again.intent({ action: 'count.up' })).toMatchObject({ count: 3 })
  })

  test('K3: a package was packed for another program: it is refused, and that is all', async () => {
    const tally = await begin()
    const { identity } = tally
    const store = join(disk.path, 'packages')
    const [name = ''] = await readdir(store)
    const { manifest, ...rest } = JSON.parse(await readFile(join(store, name), 'utf8'))
    const { bundle, engine } = rest
    const other = { abi: 'tally-abi/9', bundle, engine, manifest: { ...manifest, id: 'other' } }
    const bundleSha256 = sha256Hex(bundle)
    const codeHash = hashJson({ abi: other.abi, bundleSha256, engine, manifest: other.manifest })
    await writeFile(join(store, `${codeHash}.json`), canonicalize(other))
    const payload = { id: 'other', version: '1.0.0', codeHash }
    await tally.intent({ action: 'package.install', payload })
    await disk.close()
    const again = await open()
    expect(again.status()).toMatchObject({ mode: 'ready', warnings: [], identity })
    expect(again.packages.refused).toEqual([
      expect.objectContaining({ name: 'other', code: 'other_interface' })
    ])
    expect(await again.intent({ action: 'count.up' })).toMatchObject({ count: 3 })
    expect(await inspectPackages(disk.path)).toMatchObject({
      count: 2,
      malformed: [],
      unusable: [{ code: 'capability.other_interface' }]
    })
    // Altered as well, it is not what its name says any more.
    await disk.close()
    await writeFile(join(store, `${codeHash}.json`), canonicalize({ ...other, bundle: '' }))
    await expectSafe(await open(), 'capability.malformed_package')
  })

  test('K10: the state is not that of the root', async () => {
    expectVerifyFailure('state')
    await begin()
    await alterState('packages/counter/count', '7')
    const tally = await open()
    // It is noticed where it is read: here when the last receipt is done again.
    await expectSafe(tally, 'ledger.corrupt')
    expect(await tally.intent({ action: 'count.up' })).toMatchObject({ reason: 'safe_mode' })
  })

  test('P1, K2: the chain is corrupt: verification fails, and so does recover', async () => {
    expectVerifyFailure('receiptHash')
    await begin()
    await alter('"runId":"one"', '"runId":"six"')
    const tally = await open()
    const verified = await tally.verify()
    expect(verified.failure).toMatchObject({ field: expect.any(String) })
    const recovered = await tally.intent({ action: 'system.recover' })
    expect(recovered).toMatchObject({ ok: false, mode: 'safe' })
  })

  test('K1: a module does not load: its intent fails, and nothing of it is kept', async () => {
    const code = 'throw new Error("not today"); export const run = 1'
    const tally = await open([await folder.write({ ...counterPackage, code })])
    await tally.intent({ action: 'system.grant', payload: { package: 'counter', capabilities } })
    const { receipts } = tally.status()
    expect(await tally.intent({ action: 'count.up' })).toMatchObject({ reason: 'not_loaded' })
    expect(tally.status()).toMatchObject({ mode: 'ready', receipts })
  })

  test('K3: a manifest is not valid: the package is not loaded', async () => {
    const path = await folder.write({ ...counterPackage, id: 'odd', intents: ['..'] })
    const tally = await open([path])
    expect(tally.packages.refused).toMatchObject([{ name: path, code: 'invalid_manifest' }])
    expect(tally.status().mode).toBe('ready')
  })
})
