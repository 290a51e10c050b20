import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { replayLastReceipt } from '../../../../src/audit/index.js'
import { type Block, defineBlock } from '../../../../src/code/index.js'
import { limits, ManualClock, systemRandom } from '../../../../src/core/index.js'
import { programVersions, type Versions } from '../../../../src/intent/index.js'
import { type Ledger, openMemoryStore, type Store } from '../../../../src/ledger/index.js'
import { checkLastReceipt } from '../../../../src/runtime/audit/boot-replay.js'
import { Registry } from '../../../../src/runtime/code/registry.js'
import { WiredRuntime } from '../../../../src/runtime/runtime.js'
import { type LedgerOnDisk, ledgerForEachTest } from '../../../support/ledger-on-disk.js'
import { openLedger } from '../../../support/ledgers.js'
import { inlineSigner, openOn, testKeys } from '../../../support/lives.js'
import { expectVerifyFailure } from '../../../support/verified-close.js'

let disk: LedgerOnDisk

ledgerForEachTest((made) => {
  disk = made
})

function open(blocks: readonly Block[]): Promise<WiredRuntime> {
  return disk.open({ blocks })
}

/** Pours cups; how many for each asked is what differs between the versions of its code. */
function pour({ each = 1, version = '1.0.0' } = {}): Block {
  return defineBlock({
    name: 'tea.pour',
    version,
    sideEffects: 'none',
    intents: ['tea.pour'],
    input: z.object({ cups: z.number() }),
    run: async (ctx, { cups }) => {
      const before = ctx.state.get<number>('tea/poured') ?? 0
      const pots = await ctx.state.list('pots/')
      ctx.state.set('tea/poured', before + cups * each)
      ctx.state.set(`pots/${before}`, cups)
      return { poured: before + cups * each, pots: [...pots] }
    }
  })
}

const fill = defineBlock({
  name: 'tea.fill',
  version: '1.0.0',
  sideEffects: 'none',
  intents: ['tea.fill'],
  run: (ctx) => {
    const before = ctx.state.get<string>('tea/pot') ?? ''
    ctx.state.set('tea/pot', `${before}${'leaf '.repeat(400)}`)
    return { leaves: before.length }
  }
})

const fail = defineBlock({
  name: 'tea.spill',
  version: '1.0.0',
  sideEffects: 'none',
  input: z.object({}),
  run: (ctx) => ctx.fail('spilled')
})

const party = {
  schema: 'tally-plan/1',
  name: 'party',
  version: '1.0.0',
  order: 'declared',
  nodes: [
    { id: 'first', block: 'tea.pour', input: { lit: { cups: 1 } } },
    {
      id: 'all',
      on_error: 'continue',
      composite: {
        atomic: true,
        entry_point: 'poured',
        nodes: {
          poured: { block: 'tea.pour', input: { lit: { cups: 5 } } },
          spilt: { block: 'tea.spill', input: { lit: {} } }
        },
        transitions: { poured: 'spilt' }
      }
    },
    { id: 'second', block: 'tea.pour', deps: ['first'], input: { lit: { cups: 2 } } },
    { id: 'third', block: 'tea.pour', deps: ['second'], confirm: true, input: { lit: { cups: 3 } } }
  ]
}

const later: Versions = { ...programVersions, kernel: '2', expressions: 'tally-cel/2' }

async function openWith(store: Store, versions: Versions = programVersions): Promise<WiredRuntime> {
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

describe('the last receipt at boot', () => {
  it('K10: it comes out the same, whatever it has read, listed and written', async () => {
    let tally = await open([pour()])
    for (const id of ['one', 'two']) {
      await tally.intent({ id, action: 'tea.pour', payload: { cups: 2 } })
      await disk.close()
      tally = await open([pour()])
      expect(tally.status()).toMatchObject({ mode: 'ready', warnings: [] })
      const { ledger, registry: code } = tally
      expect(await replayLastReceipt({ ledger, code })).toMatchObject({ kind: 'same' })
    }
  })

  it('K10, L14: another result quarantines its run, and other work continues', async () => {
    expectVerifyFailure('journal.response')
    await (await open([pour()])).intent({ action: 'tea.pour', payload: { cups: 2 } })
    await disk.close()
    const changed = await open([pour({ each: 3 })])
    const { mode, warnings, quarantined } = changed.status()
    expect(mode).toBe('ready')
    expect(warnings.join()).toContain(', computed {"data":{')
    expect(warnings.join()).toMatch(/journal\.response: signed .*"poured":2}.*"poured":6}/)
    const { receiptHash } = (await changed.receipt(0))?.receipt ?? {}
    const mark = { receipt: receiptHash, provider: 'tea.pour@1.0.0', field: 'journal.response' }
    expect(quarantined).toMatchObject([{ ...mark, isReleased: false }])
    expect(await changed.intent({ action: 'tea.pour', payload: { cups: 1 } })).toMatchObject({
      type: 'dapp',
      poured: 5
    })
    await disk.close()
    // The mark is state: it is there whatever code comes next, and is not made twice.
    const after = (await open([pour({ each: 3 })])).status()
    expect(after).toMatchObject({ mode: 'ready', quarantined: [mark] })
  })

  it('K10: code that is not here is a warning, and so is another version of it', async () => {
    await (await open([pour()])).intent({ action: 'tea.pour', payload: { cups: 2 } })
    await disk.close()
    for (const blocks of [[], [pour({ each: 3, version: '2.0.0' })]]) {
      const tally = await open(blocks)
      const { mode, warnings } = tally.status()
      expect(mode).toBe('ready')
      expect(warnings).toEqual([
        'the last receipt, 0, was not done again: ' +
          'receipt 0: not executed again: tea.pour@1.0.0 is not registered'
      ])
      await disk.close()
    }
  })

  it('K10: of a run, its journal is folded up to the receipt', async () => {
    expectVerifyFailure('journal.response')
    const tally = await open([pour(), fail])
    for await (const { type } of tally.begin(party, { id: 'june' })) if (type === 'waiting') break
    const { receipts } = tally.status()
    expect((await tally.receipt(receipts - 1))?.receipt.intent).toBe('tea.pour')
    const kinds: string[] = []
    for await (const { kind } of tally.ledger.log()) kinds.push(kind)
    // What was rolled back left evidence between the two.
    expect(kinds).toEqual(['receipt', 'evidence', 'receipt'])
    await disk.close()
    expect((await open([pour(), fail])).status()).toMatchObject({ mode: 'ready', warnings: [] })
    await disk.close()
    const { mode, warnings } = (await open([])).status()
    expect(mode).toBe('ready')
    expect(warnings.join()).toContain('tea.pour@1.0.0, tea.spill@1.0.0 are not registered')
    await disk.close()
    const { mode: changed, quarantined } = (await open([pour({ each: 2 }), fail])).status()
    expect([changed, quarantined.map(({ run }) => run)]).toEqual(['ready', ['june']])
  })

  it('K10: a state that is kept elsewhere is a warning, since nothing is known of it', async () => {
    const tally = await open([fill])
    for (const id of ['one', 'two']) await tally.intent({ id, action: 'tea.fill' })
    await disk.close()
    expect((await open([fill])).status()).toMatchObject({
      mode: 'ready',
      warnings: [
        'the last receipt, 1, was not done again: the value of tea/pot before it is not at hand'
      ]
    })
  })

  it('K10, D5: another result of another engine is a warning', async () => {
    const store = openMemoryStore()
    const first = await openOn(store, { blocks: [pour()], profile: { js: 'node-1' } })
    await first.intent({ action: 'tea.pour', payload: { cups: 1 } })
    await first.ledger.close()
    const { ledger, registry: code } = await openOn(store, { blocks: [pour({ each: 3 })] })
    const { warnings } = await checkLastReceipt({ ledger, code, clock: new ManualClock() })
    expect(warnings.join()).toMatch(/profile_changed: node-1 -> .* differs/)
    expect(ledger.state().mode).toBe('ready')
  })

  it('K10: opening waits for it no longer than its bound', async () => {
    const tally = await open([pour()])
    await tally.intent({ action: 'tea.pour', payload: { cups: 2 } })
    const { ledger, registry: code } = tally
    const hanging: Ledger = Object.create(ledger, {
      state: { value: () => ledger.state() },
      receipt: { value: () => new Promise(() => undefined) }
    })
    const clock = new ManualClock()
    const checked = checkLastReceipt({ ledger: hanging, code, clock })
    clock.advance(limits.BOOT_REPLAY_MS_MAX)
    expect(await checked).toMatchObject({ notDone: expect.stringContaining('longer than 500 ms') })
  })

  it('K10: a journal that is too long is not read', async () => {
    const tally = await open([pour()])
    await tally.intent({ action: 'tea.pour', payload: { cups: 2 } })
    const { ledger, registry: code } = tally
    async function* endless() {
      for await (const entry of ledger.journal(await firstRun(tally))) {
        const { receiptHash: _, ...rest } = entry
        for (let n = 0; n <= limits.BOOT_REPLAY_ENTRIES_MAX; n += 1) yield rest
      }
    }
    const long = {
      identity: ledger.identity,
      state: () => ledger.state(),
      receipt: (which: number) => ledger.receipt(which),
      run: () => undefined,
      read: (key: string) => ledger.read(key),
      list: (prefix: string) => ledger.list(prefix),
      journal: endless
    }
    expect(await replayLastReceipt({ ledger: long as never, code })).toEqual({
      kind: 'not_checked',
      index: 0,
      why: 'the journal of its run is too long'
    })
  })
})

describe('versions of the program', () => {
  it('K2: the first ones leave no receipt, at opening and when they are asked for', async () => {
    const tally = await openWith(openMemoryStore())
    const reply = await tally.intent({ action: 'system.upgrade' })
    expect(reply).toMatchObject({ receipt: null, changed: [], to: programVersions })
    expect(tally.status().receipts).toBe(0)
    await tally.close()
  })

  it('K2: a later program leaves one receipt, before anything else is done', async () => {
    const store = openMemoryStore()
    await (await openWith(store)).close()
    const tally = await openWith(store, later)
    const stored = await tally.receipt(0)
    expect(stored?.receipt.intent).toBe('system.upgrade')
    expect(JSON.parse(stored?.resultText ?? 'null')).toEqual({
      from: programVersions,
      to: later,
      changed: ['expressions', 'kernel']
    })
    await tally.close()
    const again = await openWith(store, later)
    expect(again.status()).toMatchObject({ mode: 'ready', receipts: 1 })
    await again.close()
  })

  it('K2, K10: an earlier program finds safe mode, and verifies the receipt all the same', async () => {
    const store = openMemoryStore()
    await (await openWith(store, later)).close()
    const tally = await openWith(store)
    expect(tally.status()).toMatchObject({
      mode: 'safe',
      cause: { code: 'runtime.newer_versions' }
    })
    expect(await tally.verify()).toMatchObject({ ok: true, reexecuted: 1 })
    await tally.close()
  })

  it('K13: versions that are not the program’s are refused', async () => {
    const tally = await openWith(openMemoryStore())
    const payload = { to: { ...later } }
    expect(await tally.intent({ action: 'system.upgrade', payload })).toMatchObject({
      reason: 'other_versions'
    })
    await tally.close()
  })

  it('K2: a refusal and the upgrade that was refused verify under both programs', async () => {
    const store = openMemoryStore()
    const first = await openWith(store)
    const payload = { to: { ...later } }
    const asked = { action: 'system.upgrade', payload }
    expect(await first.intent(asked)).toMatchObject({ reason: 'other_versions' })
    expect(await first.verify()).toMatchObject({ ok: true, reexecutedFailures: 1 })
    await first.close()
    const second = await openWith(store, later)
    expect(await second.intent(asked)).toMatchObject({ type: 'dapp', changed: [] })
    const whole = { ok: true, reexecuted: 2, reexecutedFailures: 1 }
    expect(await second.verify()).toMatchObject(whole)
    await second.close()
    const third = await openWith(store)
    expect(await third.verify()).toMatchObject(whole)
    await third.close()
  })
})

async function firstRun(tally: WiredRuntime) {
  for await (const { runId } of tally.runs()) return runId
  throw new Error('there is no run')
}
