import { afterEach, expect, test } from 'vitest'
import { createRuntime, type Runtime } from '../../../../src/index.js'
import type { PermissionReply } from '../../../../src/intent/index.js'
import { isLong } from '../../../support/effort.js'
import {
  counterPackage,
  type PackageFolder,
  packagesForAllTests,
  type WrittenPackage
} from '../../../support/packages.js'

let folder: PackageFolder
const opened: Runtime[] = []

packagesForAllTests((made) => {
  folder = made
})

afterEach(async () => {
  for (const tally of opened.splice(0)) await tally.close()
})

async function open(...written: readonly WrittenPackage[]): Promise<Runtime> {
  const packages: string[] = []
  for (const one of written) packages.push(await folder.write(one))
  const tally = await createRuntime({ location: 'memory:', packages })
  opened.push(tally)
  return tally
}

async function ask(tally: Runtime, id: string, action: string): Promise<PermissionReply> {
  const reply = await tally.intent({ id, action })
  if (reply.type !== 'permission_request') throw new Error(JSON.stringify(reply))
  return reply
}

async function grantAll(tally: Runtime, one: WrittenPackage): Promise<void> {
  const capabilities = (one.capabilities ?? []).map(String)
  const reply = await tally.intent({
    action: 'system.grant',
    payload: { package: one.id, capabilities }
  })
  expect(reply).toMatchObject({ type: 'dapp', dappId: 'kernel' })
}

async function expectSound(tally: Runtime, reexecuted: number): Promise<void> {
  const report = await tally.replay()
  expect(report.failure).toBeUndefined()
  expect(report.reexecuted).toBe(reexecuted)
  // Packages give the same on every Node version: nothing about them is excused (D5).
  expect(report.notChecked.join()).not.toContain('profile_changed')
}

test('K5: a package asks for all that it declares, and runs once after the grant', async () => {
  const tally = await open(counterPackage)
  const asked = await ask(tally, 'first', 'count.up')
  expect(asked).toMatchObject({
    dappId: 'counter',
    capability: 'storage.read',
    capabilities: ['storage.read', 'storage.write']
  })
  expect(await ask(tally, 'first', 'count.up')).toEqual(asked)
  const waiting = tally.result('first')
  await grantAll(tally, counterPackage)
  const done = await waiting
  expect(done).toMatchObject({ type: 'dapp', id: 'first', dappId: 'counter', count: 1 })
  expect(await tally.intent({ id: 'first', action: 'count.up' })).toEqual(done)
  expect(await tally.intent({ action: 'count.up', payload: { by: 4 } })).toMatchObject({ count: 5 })
  const { receipt } = (await tally.receipt(2)) ?? {}
  expect(receipt?.capabilitiesDeclared).toEqual(['storage.read', 'storage.write'])
  expect(receipt?.capabilitiesUsed).toEqual(['storage.read', 'storage.write'])
  expect(receipt?.inputPayload.provider).toMatchObject({ kind: 'package', id: 'counter@1.0.0' })
  await expectSound(tally, 4)
})

test('K5: approving the wait grants what it asks, and nothing else', async () => {
  const tally = await open(counterPackage)
  const { token, digest } = await ask(tally, 'approved', 'count.up')
  const run = await tally.attach('approved')
  expect(await run.approve(token, { digest: '0'.repeat(64) })).toMatchObject({ accepted: false })
  expect(await run.approve(token, { digest, by: 'ops' })).toEqual({ accepted: true })
  expect(await tally.result('approved')).toMatchObject({ type: 'dapp', count: 1 })
  const grant = await tally.receipt(1)
  expect(grant?.receipt.intent).toBe('system.grant')
  expect(grant?.receipt.inputPayload.principal).toMatchObject({ kind: 'owner', claimed: 'ops' })
  await expectSound(tally, 3)
})

test('K5: a denial ends the intent and leaves evidence', async () => {
  const tally = await open(counterPackage)
  const { token, digest } = await ask(tally, 'denied', 'count.up')
  const run = await tally.attach('denied')
  await run.deny(token, { digest })
  expect(await tally.result('denied')).toMatchObject({ type: 'error', reason: 'denied' })
  const report = await tally.verify()
  expect(report).toMatchObject({ ok: true, evidence: 1, receipts: 1 })
})

test('K5: a grant that is taken back is asked for again', async () => {
  const tally = await open(counterPackage)
  await grantAll(tally, counterPackage)
  expect(await tally.intent({ action: 'count.up' })).toMatchObject({ count: 1 })
  const payload = { package: 'counter', capabilities: ['storage.write'] }
  await tally.intent({ action: 'system.revoke', payload })
  expect(await ask(tally, 'again', 'count.up')).toMatchObject({ capabilities: ['storage.write'] })
  await expectSound(tally, 4)
})

test('K8: what a guest exhausts or throws fails its intent, and nothing is kept', async () => {
  const tally = await open({
    ...counterPackage,
    id: 'wild',
    intents: ['wild.loop', 'wild.throw', 'wild.error', 'wild.type', 'wild.cycle', 'wild.heap'],
    code: `export async function run(intent, api) {
      api.storage.set('touched', intent.action)
      if (intent.action === 'wild.loop') for (;;) {}
      if (intent.action === 'wild.throw') throw new Error('no')
      if (intent.action === 'wild.error') return { type: 'error', message: 'sorry' }
      if (intent.action === 'wild.type') return { dappId: 'me' }
      if (intent.action === 'wild.cycle') { const a = {}; a.a = a; return a }
      const all = []
      for (;;) all.push(new Array(1000).fill(all.length))
    }`
  })
  await grantAll(tally, { ...counterPackage, id: 'wild' })
  const reason = async (action: string) => {
    const reply = await tally.intent({ action })
    return reply.type === 'error' ? reply.reason : reply.type
  }
  // What ends at a limit of the sandbox takes seconds, here and when it is verified.
  if (isLong) {
    expect(await reason('wild.loop')).toBe('gas_exceeded')
    expect(await reason('wild.heap')).toBe('memory_exceeded')
  }
  expect(await reason('wild.throw')).toBe('thrown')
  expect(await reason('wild.error')).toBe('package_failed')
  expect(await reason('wild.type')).toBe('result_reserved_key')
  expect(await reason('wild.cycle')).toBe('invalid_value')
  const { state } = await tally.reconstructState(100)
  expect([...state.keys()].filter((key) => key.startsWith('packages/'))).toEqual([])
  const evidence = isLong ? 6 : 4
  const report = await tally.verify()
  expect(report).toMatchObject({ ok: true, receipts: 2, evidence, reexecutedFailures: evidence })
})

test('K9: a package that calls out is suspended, and replayed offline', async () => {
  const tally = await open({
    id: 'saver',
    intents: ['save.contact'],
    capabilities: ['contacts.import', 'contacts.read', 'storage.write'],
    code: `export async function run(intent, api) {
      await api.contacts.import({ contacts: [{ name: 'Alice', account: 'alice' }] })
      const found = await api.contacts.read({})
      api.storage.set('seen', JSON.stringify(found))
      return { found }
    }`
  })
  const capabilities = ['contacts.import', 'contacts.read', 'storage.write']
  await tally.intent({ action: 'system.grant', payload: { package: 'saver', capabilities } })
  const reply = await tally.intent({ action: 'save.contact' })
  expect(reply).toMatchObject({ type: 'dapp', dappId: 'saver' })
  expect(JSON.stringify(reply)).toContain('alice')
  await expectSound(tally, 3)
})

test('K13: a package cannot grant itself anything, and neither can another principal', async () => {
  const tally = await open({
    ...counterPackage,
    id: 'greedy',
    intents: ['greedy.try'],
    code: `export async function run(intent, api) {
      api.storage.set('../../permissions/x', 1)
      api.storage.set('permissions/x', 1)
      return { keys: Object.keys(api) }
    }`
  })
  await grantAll(tally, { ...counterPackage, id: 'greedy' })
  await tally.intent({ action: 'greedy.try' })
  const { state } = await tally.reconstructState(100)
  const outside = [...state.keys()].filter(
    (key) => !/^(system|permissions|packages\/greedy)\//.test(key)
  )
  expect(outside).toEqual([])
  expect([...state.keys()].filter((key) => key.startsWith('permissions/'))).toHaveLength(2)
})

test('K5: a grant that is a step of a composite resumes what waits for it', async () => {
  const tally = await open(counterPackage)
  await ask(tally, 'before', 'count.up')
  const payload = { package: 'counter', capabilities: ['storage.read', 'storage.write'] }
  const run = tally.begin({
    schema: 'tally-composite/1',
    name: 'grants',
    version: '1.0.0',
    entry_point: 'grant',
    nodes: {
      grant: { block: 'intent', input: { lit: { action: 'system.grant', payload } } },
      count: { block: 'intent', input: { lit: { action: 'count.up', payload: {} } } }
    },
    transitions: { grant: 'count' }
  })
  expect((await run.result).response).toMatchObject({ success: true })
  expect(await tally.result('before')).toMatchObject({ type: 'dapp', dappId: 'counter' })
  await expectSound(tally, 5)
})
