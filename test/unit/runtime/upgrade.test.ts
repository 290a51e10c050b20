import { describe, expect, it } from 'vitest'
import { ManualClock, systemRandom } from '../../../src/core/index.js'
import { programVersions, type Versions } from '../../../src/intent/index.js'
import { openLedger, openMemoryStore, type Store } from '../../../src/ledger/index.js'
import { Registry } from '../../../src/runtime/registry.js'
import { WiredRuntime } from '../../../src/runtime/runtime.js'
import { inlineSigner, testKeys } from '../../support/lives.js'

const later: Versions = { ...programVersions, kernel: '2', expressions: 'tally-cel/2' }

async function open(store: Store, versions: Versions = programVersions): Promise<WiredRuntime> {
  const { identity, blobKey } = testKeys
  const signer = inlineSigner()
  const ledger = await openLedger({ store, identity, signer, blobKey, create: 'if-absent' })
  const runtime = new WiredRuntime(
    { ledger, store, realPath: undefined, close: () => ledger.close() },
    await Registry.open({}),
    { clock: new ManualClock(), random: systemRandom, durability: 'output', versions }
  )
  await runtime.checkIntegrity()
  return runtime
}

describe('versions of the program', () => {
  it('K2: the first ones leave no receipt, at opening and when they are asked for', async () => {
    const tally = await open(openMemoryStore())
    const reply = await tally.intent({ action: 'system.upgrade' })
    expect(reply).toMatchObject({ receipt: null, changed: [], to: programVersions })
    expect(tally.status().receipts).toBe(0)
    await tally.close()
  })

  it('K2: a later program leaves one receipt, before anything else is done', async () => {
    const store = openMemoryStore()
    await (await open(store)).close()
    const tally = await open(store, later)
    const stored = await tally.receipt(0)
    expect(stored?.receipt.intent).toBe('system.upgrade')
    expect(JSON.parse(stored?.resultText ?? 'null')).toEqual({
      from: programVersions,
      to: later,
      changed: ['expressions', 'kernel']
    })
    await tally.close()
    const again = await open(store, later)
    expect(again.status()).toMatchObject({ mode: 'ready', receipts: 1 })
    await again.close()
  })

  it('K2, K10: an earlier program finds safe mode, and verifies the receipt all the same', async () => {
    const store = openMemoryStore()
    await (await open(store, later)).close()
    const tally = await open(store)
    expect(tally.status()).toMatchObject({
      mode: 'safe',
      cause: { code: 'runtime.newer_versions' }
    })
    expect(await tally.verify()).toMatchObject({ ok: true, reexecuted: 1 })
    await tally.close()
  })

  it('K13: versions that are not the program’s are refused', async () => {
    const tally = await open(openMemoryStore())
    const payload = { to: { ...later } }
    expect(await tally.intent({ action: 'system.upgrade', payload })).toMatchObject({
      reason: 'other_versions'
    })
    await tally.close()
  })
})
