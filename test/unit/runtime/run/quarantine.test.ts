import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Block, defineBlock } from '../../../../src/code/index.js'
import { ManualClock, nextTurn, type RunId } from '../../../../src/core/index.js'
import { inspectLocation, openLevelStore } from '../../../../src/ledger/index.js'
import { StoreKeys } from '../../../../src/ledger/keys.js'
import { removeDerived } from '../../../../src/ledger/open/derived-records.js'
import type { DeliveredEvent, RuntimeOptions, WiredRuntime } from '../../../../src/runtime/index.js'
import { type LedgerOnDisk, ledgerForEachTest } from '../../../support/ledger-on-disk.js'
import { expectVerifyFailure } from '../../../support/verified-close.js'

let disk: LedgerOnDisk

ledgerForEachTest((made) => {
  disk = made
})

let clock = 0
/** A block that looks at something which is no part of its input. */
const stamp = defineBlock({
  name: 'stamp',
  version: '1.0.0',
  sideEffects: 'none',
  intents: ['clock.stamp'],
  run: () => {
    clock += 1
    return { at: clock }
  }
})

const ask = defineBlock({
  name: 'ask',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx) => (await ctx.wait({ reason: 'external', request: 'q' })).value
})

const pure = defineBlock({
  name: 'pure',
  version: '1.0.0',
  sideEffects: 'none',
  intents: ['test.pure'],
  run: () => ({ is: 'pure' })
})

function two(first: string) {
  return {
    schema: 'tally-composite/1',
    name: 'two',
    version: '1.0.0',
    entry_point: 'first',
    nodes: { first: { block: first }, ask: { block: 'ask' } },
    transitions: { first: 'ask' }
  }
}

const blocks: readonly Block[] = [stamp, ask, pure]

function open(options: Partial<RuntimeOptions> = {}): Promise<WiredRuntime> {
  return disk.open({ blocks, ...options })
}

/** Runs the impure document until it is parked, and closes the ledger. */
async function parkImpure(id = 'r1'): Promise<void> {
  const tally = await open()
  await parked(tally, id, 'stamp')
  await disk.close()
}

async function parked(tally: WiredRuntime, id: string, first: string): Promise<void> {
  for await (const { type } of tally.begin(two(first), { id })) if (type === 'run.parked') return
}

async function waitOf(tally: WiredRuntime, id: string) {
  const [wait] = tally.runsOf.waits(id as RunId)
  if (wait === undefined) throw new Error('the run waits')
  return wait
}

const quarantined = { code: 'run.quarantined' }

describe('a run that comes out otherwise', () => {
  it('L14: is quarantined at the next opening, and other runs and intents continue', async () => {
    expectVerifyFailure('journal.response')
    await parkImpure()
    const tally = await open({ resume: true })
    expect(tally.status()).toMatchObject({
      mode: 'ready',
      quarantined: [{ run: 'r1', provider: 'stamp@1.0.0', field: 'journal.response' }]
    })
    const { receiptHash } = (await tally.receipt(0))?.receipt ?? {}
    expect(tally.status().quarantined[0]?.receipt).toBe(receiptHash)
    await parked(tally, 'r2', 'pure')
    const wait = await waitOf(tally, 'r2')
    const handle = await tally.attach('r2')
    await handle.resume(wait.token, { digest: wait.digest, value: 'yes' })
    expect(await handle.result).toMatchObject({ status: 'done' })
    expect(await tally.intent({ action: 'clock.stamp' })).toMatchObject({ type: 'dapp' })
  })

  it('L14: a listener that registers once the ledger is open gets the difference', async () => {
    expectVerifyFailure('journal.response')
    await parkImpure()
    const tally = await open()
    const heard: DeliveredEvent[] = []
    tally.events.on('event', (event) => heard.push(event))
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(heard).toMatchObject([
      { type: 'run.quarantined', runId: 'r1', field: 'journal.response' }
    ])
  })

  it('K10: performs nothing, however it is resumed, answered or started again', async () => {
    expectVerifyFailure('journal.response')
    await parkImpure()
    const tally = await open({ resume: true })
    const { token, digest } = await waitOf(tally, 'r1')
    await expect(tally.resume('r1')).rejects.toMatchObject(quarantined)
    await expect(tally.begin(two('stamp'), { id: 'r1' }).result).rejects.toMatchObject(quarantined)
    const handle = await tally.attach('r1')
    const answer = handle.resume(token, { digest, value: 'yes' })
    await expect(answer).rejects.toMatchObject(quarantined)
    await expect(handle.deny(token, { digest })).rejects.toMatchObject(quarantined)
    expect(tally.run('r1')?.status).toBe('waiting')
    expect(tally.run('r1')?.entries).toBeGreaterThan(0)
  })

  it('K10: its due time takes it up only after its release', async () => {
    expectVerifyFailure('journal.response')
    const nap = defineBlock({
      name: 'ask',
      version: '1.0.0',
      sideEffects: 'none',
      run: async (ctx) => {
        await ctx.sleep(60_000)
        return { slept: true }
      }
    })
    const clock = new ManualClock()
    const own = { blocks: [stamp, nap], clock }
    const first = await open(own)
    await parked(first, 'r1', 'stamp')
    await disk.close()
    const tally = await open({ ...own, resume: true })
    clock.advance(120_000)
    await nextTurn()
    expect(tally.run('r1')?.status).toBe('waiting')
    expect(await tally.release('r1')).toMatchObject({ type: 'dapp', released: true })
    await expect
      .poll(() => {
        clock.advance(1)
        return tally.run('r1')?.status
      })
      .toBe('done')
  })

  it('K10: the release is a receipt of the owner, holds after reopening, and is not undone', async () => {
    expectVerifyFailure('journal.response')
    await parkImpure()
    const tally = await open()
    const before = tally.status().receipts
    expect(await tally.release('r1')).toMatchObject({ type: 'dapp', run: 'r1' })
    const stored = await tally.receipt(before)
    expect(stored?.receipt).toMatchObject({
      intent: 'system.release',
      inputPayload: { principal: { kind: 'owner' } }
    })
    expect(await tally.release('r1')).toMatchObject({ type: 'error', reason: 'not_quarantined' })
    await disk.close()
    const again = await open()
    expect(again.status().quarantined).toEqual([])
    // The difference is still there, is reported, and marks nothing anew.
    expect(await again.verify()).toMatchObject({ ok: false, difference: { run: 'r1' } })
    expect(again.status().quarantined).toEqual([])
    const handle = await again.resume('r1')
    const { token, digest } = await waitOf(again, 'r1')
    await handle.resume(token, { digest, value: 'yes' })
    expect(await handle.result).toMatchObject({ status: 'done' })
  })

  it('K13: an agent neither marks nor releases', async () => {
    expectVerifyFailure('journal.response')
    await parkImpure()
    const tally = await open()
    const agent = { kind: 'agent', id: 'helper' }
    for (const action of ['system.release', 'system.quarantine']) {
      const payload = { run: 'r1' }
      const reply = await tally.intents.submit({ action, payload }, agent)
      expect(reply).toMatchObject({ type: 'error', reason: 'not_permitted' })
    }
    expect(tally.status().quarantined).toHaveLength(1)
  })

  it('L14: the mark is there after all derived records are gone, without executing anything', async () => {
    expectVerifyFailure('journal.response')
    await parkImpure()
    await open()
    await disk.close()
    const { marker } = (await inspectLocation(disk.path)) ?? {}
    const [identity] = marker?.identities ?? []
    if (marker === undefined || identity === undefined) throw new Error('the ledger is there')
    const store = await openLevelStore({ path: join(disk.path, marker.live), create: false })
    await removeDerived(store, new StoreKeys(identity))
    await store.close()
    // No code is here, so nothing can be executed again.
    const tally = await open({ blocks: [] })
    expect(tally.status().quarantined).toMatchObject([{ run: 'r1' }])
  })

  it('P1: verification names the run, the receipt and the difference, and marks it once', async () => {
    expectVerifyFailure('journal.response')
    const tally = await open()
    await parked(tally, 'r1', 'stamp')
    await parked(tally, 'r2', 'pure')
    expect(tally.status().quarantined).toEqual([])
    const found = await tally.verify()
    const { receiptHash } = (await tally.receipt(0))?.receipt ?? {}
    const difference = { run: 'r1', receipt: receiptHash, provider: 'stamp@1.0.0' }
    expect(found).toMatchObject({ ok: false, difference, quarantined: [] })
    expect(tally.status()).toMatchObject({ mode: 'ready', quarantined: [difference] })
    const { receipts } = tally.status()
    expect(await tally.verify()).toMatchObject({ quarantined: [difference] })
    expect(tally.status().receipts).toBe(receipts)
    const bytes = await tally.verify({ reexecute: false })
    expect(bytes).toMatchObject({ ok: true, quarantined: [difference] })
    expect(bytes.line).toContain('quarantined: r1')
  })

  it('P2: doing one receipt again marks its run as well', async () => {
    expectVerifyFailure('journal.response')
    const tally = await open()
    await parked(tally, 'r1', 'stamp')
    expect(await tally.replayReceipt(0)).toMatchObject({ ok: false, difference: { run: 'r1' } })
    expect(tally.status().quarantined).toMatchObject([{ run: 'r1' }])
  })

  it('K10: a corrected block without a new version quarantines, and with one does not', async () => {
    expectVerifyFailure('journal.response')
    const first = await open({ blocks: [ask, says('pure', 1)] })
    await parked(first, 'r1', 'pure')
    await disk.close()
    const other = await open({ blocks: [ask, says('pure', 2, '2.0.0')] })
    expect(other.status().quarantined).toEqual([])
    await disk.close()
    const same = await open({ blocks: [ask, says('pure', 2)] })
    expect(same.status().quarantined).toMatchObject([{ run: 'r1', provider: 'pure@1.0.0' }])
  })

  it('K10: a program that only replays tells, and writes nothing', async () => {
    expectVerifyFailure('journal.response')
    await parkImpure()
    const tally = await open({ mode: 'replay' })
    const { receipts, quarantined: marks, warnings } = tally.status()
    expect([receipts, marks]).toEqual([1, []])
    expect(warnings.join()).toContain('gives another result when it is executed again')
  })

  it('K10: a host may refuse new runs of the version, until the run is released', async () => {
    expectVerifyFailure('journal.response')
    await parkImpure()
    const tally = await open({ onQuarantine: 'refuse_version' })
    const refused = { code: 'run.version_quarantined', context: { block: 'stamp@1.0.0' } }
    await expect(tally.begin(two('stamp')).result).rejects.toMatchObject(refused)
    await parked(tally, 'r2', 'pure')
    await tally.release('r1')
    await parked(tally, 'r3', 'stamp')
  })

  it('K10: a host may refuse intents that the version serves, and repeated ones attach', async () => {
    expectVerifyFailure('journal.response')
    const first = await open()
    await first.intent({ id: 'before', action: 'clock.stamp' })
    await parked(first, 'r1', 'stamp')
    await disk.close()
    const tally = await open({ onQuarantine: 'refuse_version' })
    const { receipts } = tally.status()
    const refused = { type: 'error', reason: 'version_quarantined' }
    expect(await tally.intent({ action: 'clock.stamp' })).toMatchObject(refused)
    expect(await tally.intent({ id: 'named', action: 'clock.stamp' })).toMatchObject(refused)
    expect(tally.run('named')).toBeUndefined()
    const input = { lit: { action: 'clock.stamp', payload: {} } }
    const nodes = { first: { block: 'intent', input }, ask: { block: 'ask' } }
    const step = { ...two('pure'), nodes }
    await expect(tally.begin(step).result).rejects.toMatchObject({
      code: 'run.version_quarantined'
    })
    expect(tally.status().receipts).toBe(receipts)
    expect(await tally.intent({ id: 'before', action: 'clock.stamp' })).toMatchObject({
      type: 'dapp'
    })
    expect(await tally.intent({ action: 'test.pure' })).toMatchObject({ type: 'dapp' })
    expect(await tally.release('r1')).toMatchObject({ type: 'dapp' })
    expect(await tally.intent({ action: 'clock.stamp' })).toMatchObject({ type: 'dapp' })
  })
})

/** A block that gives the same word every time; which one is what its author changes. */
function says(name: string, word: number, version = '1.0.0'): Block {
  return defineBlock({ name, version, sideEffects: 'none', run: () => ({ word }) })
}
