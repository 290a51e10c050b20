import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { doctor } from '../../../src/cli/doctor.js'
import { createFrame } from '../../../src/cli/frame/frame.js'
import type { Check } from '../../../src/cli/health.js'
import { holdStore } from '../../../src/ledger/index.js'
import { createRuntime, type WiredRuntime } from '../../../src/runtime/index.js'
import { LedgerOnDisk } from '../../support/ledger-on-disk.js'
import { counterPackage, PackageFolder } from '../../support/packages.js'
import { expectVerifyFailure } from '../../support/verified-close.js'

let service: WiredRuntime | undefined
afterEach(async () => {
  await service?.close()
  service = undefined
})

/** Lines of one name that `tally doctor --json` gives of a ledger. */
async function checksNamed(name: string, directory: string): Promise<readonly Check[]> {
  let printed = ''
  const stdout = {
    write: (text: string) => {
      printed += text
      return true
    }
  }
  const host = { stdout, stderr: { write: () => true }, environment: {}, cwd: directory }
  await doctor(createFrame({ dir: directory, json: true }, host), {})
  const documents = printed
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { readonly $type: string; readonly checks?: Check[] })
  const { checks = [] } = documents.find(({ $type }) => $type === 'doctor') ?? {}
  return checks.filter((check) => check.name === name)
}

it('K10: names all causes of safe mode, also of a ledger that a service holds', async () => {
  expectVerifyFailure('journal')
  expectVerifyFailure('lock')
  const folder = await PackageFolder.create()
  const disk = await LedgerOnDisk.create()
  try {
    const tally = await disk.open({ packages: [await folder.write(counterPackage)] })
    const capabilities = ['storage.read', 'storage.write']
    await tally.intent({ action: 'system.grant', payload: { package: 'counter', capabilities } })
    await tally.intent({ action: 'count.up' })
    await disk.close()
    for (const part of ['integrity', 'packages']) {
      const [name = ''] = await readdir(join(disk.path, part))
      await writeFile(join(disk.path, part, name), part)
    }
    const problems = [
      expect.objectContaining({ fix: expect.stringContaining('--accept-lock') }),
      expect.objectContaining({ fix: expect.stringContaining('--remove-packages') })
    ]
    const causesIn = () => checksNamed('ledger', disk.path)
    expect(await causesIn()).toEqual(problems)
    service = await createRuntime({ location: disk.path, serve: true })
    const held = await causesIn()
    expect(held).toEqual(problems)
    expect(JSON.stringify(held)).toContain('held by process')
    await service.close()
    service = undefined
  } finally {
    await folder.remove()
    await disk.remove()
  }
})

it.each([
  ['in safe mode', 'safe', { code: 'ledger.corrupt', message: 'a record is damaged' }, 'problem'],
  ['ready', 'ready', null, 'ok']
] as const)(
  'K10: reads the status of an older service, which names one cause: %s',
  async (_, mode, cause, state) => {
    const disk = await LedgerOnDisk.create()
    try {
      const { identity } = await disk.open()
      await disk.close()
      const held = await holdStore(disk.path)
      const status = { identity, mode, cause, receipts: 0, epoch: 1, location: disk.path }
      const rest = { process: 1, readOnly: false, isFollower: false, warnings: [] }
      const handle = async () => ({ ...status, ...rest })
      held.socket.serve({ identity, handle })
      const checks = await checksNamed('ledger', disk.path)
      await held.close()
      const found = expect.stringContaining(cause?.message ?? 'ready, 0 receipts')
      expect(checks).toEqual([expect.objectContaining({ state, found })])
    } finally {
      await disk.remove()
    }
  }
)

it('K2: names the key files that a killed rotation has left, until they are cleared up', async () => {
  const disk = await LedgerOnDisk.create()
  try {
    const { identity } = await disk.open()
    await disk.close()
    const keys = join(disk.path, 'keys')
    const names = [
      `${identity}.${'a'.repeat(64)}.next.json`,
      `.${identity}.json.00000000-0000-4000-8000-000000000000`
    ]
    for (const name of names) await writeFile(join(keys, name), '{}', { mode: 0o600 })
    const [check] = await checksNamed('unused keys', disk.path)
    expect(check).toMatchObject({ state: 'warning', found: expect.stringContaining(keys) })
    for (const name of names) expect(check).toMatchObject({ found: expect.stringContaining(name) })
    await disk.open()
    await disk.close()
    expect(await checksNamed('unused keys', disk.path)).toEqual([])
  } finally {
    await disk.remove()
  }
})
