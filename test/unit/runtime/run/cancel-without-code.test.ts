import { describe, expect, it } from 'vitest'
import { type Block, defineBlock } from '../../../../src/code/index.js'
import { type Json, ManualClock } from '../../../../src/core/index.js'
import type { RuntimeOptions, WiredRuntime } from '../../../../src/runtime/index.js'
import { type LedgerOnDisk, ledgerForEachTest } from '../../../support/ledger-on-disk.js'
import { expectVerifyFailure } from '../../../support/verified-close.js'

let disk: LedgerOnDisk

ledgerForEachTest((made) => {
  disk = made
})

const ask = defineBlock({
  name: 'ask',
  version: '1.0.0',
  sideEffects: 'none',
  intents: ['office.ask'],
  run: async (ctx) => (await ctx.wait({ reason: 'external', request: 'q' })).value
})

/** Sends something that stays, then waits inside the same attempt. */
const book = defineBlock({
  name: 'book',
  version: '1.0.0',
  sideEffects: 'idempotent',
  intents: ['office.book'],
  compensate: () => null,
  run: async (ctx) => {
    const request = { room: 'blue' }
    const perform = async () => ({ booked: true })
    await ctx.effect('office.reserve', { sideEffects: 'idempotent', request, perform })
    return (await ctx.wait({ reason: 'external', request: 'sure?' })).value
  }
})

const nodes = { first: { block: 'book' }, second: { block: 'ask' } }
const composite = {
  schema: 'tally-composite/1',
  name: 'office',
  version: '1.0.0',
  entry_point: 'first',
  nodes,
  transitions: { first: 'second' }
}
const atomic = { ...composite, atomic: true }
const plan = {
  schema: 'tally-plan/1',
  name: 'office-plan',
  version: '1.0.0',
  nodes: [
    { id: 'first', block: 'book' },
    { id: 'second', block: 'ask' }
  ]
}
const nested = {
  ...composite,
  name: 'outer',
  nodes: { first: { use: 'office' }, second: { block: 'ask' } }
}

const documents: Readonly<Record<string, Json>> = { composite, 'atomic composite': atomic, plan }
const blocks: readonly Block[] = [ask, book]

function open(options: Partial<RuntimeOptions> = {}): Promise<WiredRuntime> {
  return disk.open({ blocks, ...options })
}

async function parked(tally: WiredRuntime, id: string, document: Json): Promise<void> {
  for await (const { type } of tally.begin(document, { id })) if (type === 'run.parked') return
}

async function evidenceOf(tally: WiredRuntime, id: string) {
  for await (const record of tally.ledger.log()) {
    if (record.kind === 'receipt') continue
    if (JSON.stringify(record.evidence).includes(`"${id}/root/0"`)) return record.evidence
    if (record.text.includes('"code":"cancelled"')) return record.evidence
  }
  return undefined
}

/** What a registry has that has lost the code of the run, by what is wrong with it. */
const losses: Readonly<Record<string, Partial<RuntimeOptions>>> = {
  'no block is registered': { blocks: [] },
  'one of two blocks is registered': { blocks: [ask] },
  'a block has another version': {
    blocks: [ask, defineBlock({ name: 'book', version: '2.0.0', run: () => ({}) })]
  }
}

describe('cancelling a run whose code has gone', () => {
  for (const [kind, document] of Object.entries(documents)) {
    for (const [loss, options] of Object.entries(losses)) {
      it(`K10: ends a run, a ${kind}, when ${loss}; with its code it verifies`, async () => {
        await parked(await open(), 'r1', document)
        await disk.close()
        const tally = await open(options)
        await (await tally.attach('r1')).cancel('the office has closed')
        const record = tally.run('r1')
        expect(record?.status).toBe('cancelled')
        expect(record?.last).toMatchObject({
          response: { reason: 'cancelled', details: { reason: 'the office has closed' } }
        })
        const evidence = await evidenceOf(tally, 'r1')
        expect(evidence).toMatchObject({ code: 'cancelled', details: { in_doubt: [] } })
        expect(evidence?.landed).toMatchObject([{ effect: 'office.reserve' }])
        await disk.close()
        const again = await open()
        const report = await again.verify()
        expect([report.failure, report.ok]).toEqual([undefined, true])
        const found = await (await again.attach('r1')).result
        expect(found).toMatchObject({ status: 'cancelled' })
      })
    }
  }

  it('K10: ends a single-step run whose block is not registered', async () => {
    const tally = await open()
    await tally.intent({ id: 'i1', action: 'office.book' })
    await disk.close()
    const without = await open({ blocks: [] })
    await (await without.attach('i1')).cancel()
    expect(without.run('i1')?.status).toBe('cancelled')
    await disk.close()
    expect((await (await open()).verify()).failure).toBeUndefined()
  })

  it('K10: ends a run of a document that uses one that is not registered any more', async () => {
    await parked(await open({ composites: [composite] }), 'r1', nested)
    await disk.close()
    const tally = await open({ blocks: [] })
    await (await tally.attach('r1')).cancel()
    expect(tally.run('r1')?.status).toBe('cancelled')
    await disk.close()
    expect((await (await open({ composites: [composite] })).verify()).failure).toBeUndefined()
  })

  it('K10: ends a quarantined run without running anything of it', async () => {
    expectVerifyFailure('journal.response')
    let poured = 0
    const impure = defineBlock({
      name: 'book',
      version: '1.0.0',
      sideEffects: 'none',
      run: () => {
        poured += 1
        return { poured }
      }
    })
    const own = { blocks: [ask, impure] }
    await parked(await open(own), 'r1', composite)
    await disk.close()
    const tally = await open(own)
    expect(tally.status().quarantined).toMatchObject([{ run: 'r1' }])
    const before = poured
    await (await tally.attach('r1')).cancel()
    expect([tally.run('r1')?.status, poured]).toEqual(['cancelled', before])
    await disk.close()
    expect((await open(own)).status().mode).toBe('ready')
  })

  it('K10: two who cancel at once end it once', async () => {
    await parked(await open(), 'r1', composite)
    await disk.close()
    const tally = await open({ blocks: [] })
    const handle = await tally.attach('r1')
    await Promise.allSettled([handle.cancel('one'), handle.cancel('two')])
    const kinds: unknown[] = []
    for await (const { value } of tally.journal('r1')) kinds.push((value as { k: string }).k)
    expect(kinds.filter((kind) => kind === 'run.finished')).toHaveLength(1)
    expect(kinds.at(-1)).toBe('run.finished')
    expect((await tally.verify({ reexecute: false })).ok).toBe(true)
  })

  it('L7: what was asked for and never answered is in doubt', async () => {
    const hang = defineBlock({
      name: 'book',
      version: '1.0.0',
      sideEffects: 'idempotent',
      run: async (ctx) => {
        const request = { room: 'red' }
        const perform = () => new Promise<Json>(() => undefined)
        await ctx.effect('office.reserve', { sideEffects: 'idempotent', request, perform })
        return {}
      }
    })
    const clock = new ManualClock()
    const tally = await open({ blocks: [ask, hang], clock })
    tally.begin(composite, { id: 'r1' }).result.catch(() => undefined)
    await expect.poll(() => hasRequest(tally)).toBe(true)
    await disk.closeHanging(clock)
    const without = await open({ blocks: [] })
    await (await without.attach('r1')).cancel()
    const evidence = await evidenceOf(without, 'r1')
    expect(evidence?.details).toMatchObject({
      in_doubt: [{ path: 'root/first', effect: 'office.reserve' }]
    })
    await disk.close()
    expect((await (await open({ blocks: [ask, hang] })).verify()).failure).toBeUndefined()
  })
})

async function hasRequest(tally: WiredRuntime): Promise<boolean> {
  if (tally.run('r1') === undefined) return false
  for await (const { value } of tally.journal('r1')) {
    if ((value as { k: string }).k === 'requested') return true
  }
  return false
}
