import { afterAll, beforeAll, expect, test } from 'vitest'
import { encodePackage, makePackage, packDirectory } from '../../../../src/capability/index.js'
import { LedgerOnDisk } from '../../../support/ledger-on-disk.js'
import { counterPackage, PackageFolder } from '../../../support/packages.js'

let folder: PackageFolder
let disk: LedgerOnDisk

beforeAll(async () => {
  folder = await PackageFolder.create()
  disk = await LedgerOnDisk.create()
})

afterAll(async () => {
  await disk.remove()
  await folder.remove()
})

test('K5: a package that an earlier program installed keeps interface and grants', async () => {
  const directory = await folder.write(counterPackage)
  const packed = await packDirectory(directory)
  if (!packed.ok) throw new Error(JSON.stringify(packed.refusals))
  const old = makePackage({ ...packed.package, abi: 'tally-abi/1' })
  expect(old.codeHash).not.toBe(packed.package.codeHash)
  const first = await disk.open()
  await first.install(encodePackage(old))
  const payload = { package: 'counter', capabilities: ['storage.read', 'storage.write'] }
  await first.intent({ action: 'system.grant', payload })
  expect(await first.intent({ action: 'count.up' })).toMatchObject({ type: 'dapp', count: 1 })
  await disk.close()
  // The same directory, which this program would pack for its own interface.
  const tally = await disk.open({ packages: [directory] })
  expect(await tally.intent({ action: 'count.up' })).toMatchObject({ type: 'dapp', count: 2 })
  const last = await tally.receipt(tally.status().receipts - 1)
  expect(last?.receipt.inputPayload.provider).toMatchObject({
    codeHash: old.codeHash,
    profile: { abi: 'tally-abi/1' }
  })
  const report = await tally.replay()
  expect(report).toMatchObject({ ok: true })
  expect(report.notChecked.join()).not.toContain('profile_changed')
  // Installed anew it is other code, which asks again.
  await tally.install(encodePackage(packed.package))
  expect(await tally.intent({ action: 'count.up' })).toMatchObject({ type: 'permission_request' })
})
