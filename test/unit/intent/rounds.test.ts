import { expect, it } from 'vitest'
import type { Sandbox } from '../../../src/capability/index.js'
import type { IntentPort } from '../../../src/code/index.js'
import { type IdentityId, limits } from '../../../src/core/index.js'
import { memoryPackageStore, PackageCache } from '../../../src/intent/package-cache.js'
import { runPackage } from '../../../src/intent/package-work.js'
import { guestPackage } from '../capability/guest.js'

/** Runs what calls again whenever it was answered: how often, and why it ended. */
async function callsForEver(gasTicks: number): Promise<{ rounds: number; reason: string }> {
  let rounds = 0
  const sandbox = {
    execute: async () => {
      const [seq, capability] = [rounds, 'contacts.read']
      rounds += 1
      const call = { seq, capability, requestText: 'null', requestHash: '0' }
      return { kind: 'call', calls: [call], gasTicks, used: [], denied: [] }
    }
  } as unknown as Sandbox
  const code = guestPackage('export const run = 1')
  const packageCache = new PackageCache(memoryPackageStore())
  await packageCache.keep(code)
  const { codeHash } = code
  const port = {
    read: () => JSON.stringify({ codeHash }),
    attribute: () => undefined,
    elsewhere: (work: () => Promise<unknown>) => work(),
    fail: (reason: string) => {
      throw new Error(reason)
    },
    unitId: 'unit',
    at: 0,
    seed: '0',
    inputText: '',
    obligations: {}
  } as unknown as IntentPort
  const identity = 'me' as IdentityId
  const tools = { identity, packageCache, sandbox, api: new Map(), tell: () => undefined }
  const intent = { action: 'guest', payload: {} }
  try {
    await runPackage(port, tools, { intent, choice: { packageId: 'guest', codeHash } })
    return { rounds, reason: 'none' }
  } catch (error) {
    return { rounds, reason: error instanceof Error ? error.message : '' }
  }
}

it('K8: a package that calls without end is ended, by rounds or by their gas', async () => {
  const { SANDBOX_ROUNDS_MAX: roundsMax, SANDBOX_ROUNDS_GAS_TICKS: gasMax } = limits
  expect(await callsForEver(1)).toEqual({ rounds: roundsMax, reason: 'rounds_exceeded' })
  const gas = limits.SANDBOX_GAS_TICKS
  const most = Math.floor(gasMax / gas) + 1
  expect(await callsForEver(gas)).toEqual({ rounds: most, reason: 'gas_exceeded' })
})
