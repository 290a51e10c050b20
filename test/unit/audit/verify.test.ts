import { describe, expect, it } from 'vitest'
import { reconstructState, replayReceipt, verifyLedgerDeep } from '../../../src/audit/index.js'
import { type Block, type BlockContext, defineBlock } from '../../../src/code/index.js'
import { canonicalize, type Json, ManualClock } from '../../../src/core/index.js'
import { openMemoryStore, type Store } from '../../../src/ledger/index.js'
import { Registry } from '../../../src/runtime/code/registry.js'
import { lasting } from '../../support/lasting-store.js'
import { openOn, testKeys } from '../../support/lives.js'

type Code = (ctx: BlockContext, input: never) => unknown

const { identity } = testKeys

function step(run: Code, version = '1.0.0'): Block {
  return defineBlock({ name: 'step', version, sideEffects: 'none', run: run as never })
}

const document: Json = {
  schema: 'tally-composite/1',
  name: 'steps',
  version: '1.0.0',
  entry_point: 'a',
  nodes: { a: { block: 'step' }, b: { block: 'step' } },
  transitions: { a: 'b' }
}

const counting: Code = (ctx) => {
  const n = (ctx.state.get<number>('n') ?? 0) + 1
  ctx.state.set('n', n)
  return { n }
}

/** Runs the document with one block, and leaves the store. */
async function ran(run: Code): Promise<{ readonly store: Store; readonly note: string }> {
  const store = openMemoryStore()
  const clock = new ManualClock()
  const tally = await openOn({ ...store, ...lasting(store) }, { blocks: [step(run)], clock })
  const { status } = await tally.begin(document, { id: 'one', inputs: { x: 1 } }).result
  expect(status).toBe('done')
  const note = await tally.note()
  await tally.close()
  return { store, note }
}

function codeOf(run: Code, version?: string): Promise<Registry> {
  return Registry.open({ blocks: [step(run, version)] })
}

describe('verify by doing it again', () => {
  it('P1: counts what it did, and says what it did not check', async () => {
    const { store, note } = await ran(counting)
    const notes = [{ source: './ops.note', text: note }]
    const report = await verifyLedgerDeep({ store, identity, code: await codeOf(counting), notes })
    expect(report).toMatchObject({ ok: true, receipts: 3, reexecuted: 3 })
    expect(Object.values(report.reexecutedByProfile)).toEqual([3])
    expect(report.anchored).toMatchObject({ upTo: 3, logSize: 3, source: './ops.note' })
    expect(report.notChecked).toEqual(['code of block step@1.0.0 is declared, not measured'])
    const plain = await verifyLedgerDeep({ store, identity })
    expect(plain).toMatchObject({ ok: true, reexecuted: 0 })
    expect(plain.notChecked.join()).toContain('no note given: a tail that was cut')
    await expect(verifyLedgerDeep({ store, identity, reexecute: true })).rejects.toMatchObject({
      code: 'audit.no_code'
    })
  })

  it('P1: names the first differing key with both values and the one before', async () => {
    const { store } = await ran(counting)
    const other: Code = (ctx) => {
      const n = (ctx.state.get<number>('n') ?? 0) + 1
      ctx.state.set('n', n === 2 ? 99 : n)
      return { n }
    }
    const report = await verifyLedgerDeep({ store, identity, code: await codeOf(other) })
    expect(report.failure).toMatchObject({
      index: 1,
      field: 'writeSet',
      key: 'n',
      signed: '2',
      computed: '99',
      before: '1'
    })
    expect(report.reexecuted).toBe(1)
  })

  it.each<[string, Code, object]>([
    ['another result', () => ({ n: 7 }), { field: 'journal.response' }],
    ['a failure', (ctx) => ctx.fail('no'), { field: 'result', signed: 'a success' }],
    [
      'a call that no recorded result answers',
      (ctx) => ctx.effect('rate', { perform: () => 1 }),
      { field: 'sealed.1', signed: 'none', computed: 'a response to rate' }
    ],
    [
      'something outside ctx',
      // No machine is so slow that it comes before it is seen that the code waits.
      () => new Promise((resolve) => setTimeout(() => resolve({ n: 1 }), 60_000).unref()),
      { field: 'execution', computed: 'it waits for something outside ctx' }
    ]
  ])('P1: finds code that now gives %s', async (_name, run, failure) => {
    const { store } = await ran(counting)
    const report = await verifyLedgerDeep({ store, identity, code: await codeOf(run) })
    expect(report.failure).toMatchObject({ index: 0, ...failure })
  })

  it('P1: finds an answer that the code does not ask for any more', async () => {
    const { store } = await ran((ctx) => ctx.effect('rate', { perform: () => 1 }))
    const report = await verifyLedgerDeep({ store, identity, code: await codeOf(() => 1) })
    expect(report.failure).toMatchObject({ field: 'sealed.1', computed: 'no such call' })
    const asked: Code = (ctx) => ctx.effect('rate', { request: 2, perform: () => 1 })
    const other = await verifyLedgerDeep({ store, identity, code: await codeOf(asked) })
    expect(other.failure).toMatchObject({ field: 'sealed.1.requestHash' })
  })

  it('B10: code of another version alone is not checked, is named, and is no failure', async () => {
    const { store } = await ran(counting)
    const code = await codeOf(counting, '2.0.0')
    const report = await verifyLedgerDeep({ store, identity, code })
    expect(report).toMatchObject({ ok: true, complete: false, reexecuted: 0 })
    expect(report.notChecked.join()).toMatch(/receipts 0, 1.*@1\.0\.0 is not registered/)
    const whole = await verifyLedgerDeep({ store, identity, code: await codeOf(counting) })
    expect(whole).toMatchObject({ ok: true, complete: true, reexecuted: 3 })
    const bytes = await verifyLedgerDeep({ store, identity })
    expect(bytes).toMatchObject({ ok: true, complete: false })
  })

  it('P2: finds code that gives something else each time', async () => {
    const { store } = await ran(counting)
    let times = 0
    const fickle: Code = (ctx, input) => {
      times += 1
      return times === 4 ? 'other' : counting(ctx, input)
    }
    const code = await codeOf(fickle)
    const once = await verifyLedgerDeep({ store, identity, code })
    expect(once.ok).toBe(true)
    const twice = await verifyLedgerDeep({ store, identity, code, executions: 2 })
    expect(twice.failure).toMatchObject({ index: 0, field: 'determinism' })
  })

  it('P2: does one receipt again, by place and by hash', async () => {
    const { store } = await ran(counting)
    const code = await codeOf(counting)
    const replayed = await replayReceipt({ store, identity, code, which: 1 })
    expect(replayed).toMatchObject({ index: 1, ok: true })
    const which = replayed?.receiptHash ?? 0
    expect(await replayReceipt({ store, identity, code, which })).toMatchObject({ index: 1 })
    expect(await replayReceipt({ store, identity, code, which: 9 })).toBeUndefined()
    const other = await codeOf(() => 1)
    expect(await replayReceipt({ store, identity, code: other, which: 1 })).toMatchObject({
      index: 1,
      ok: false,
      failure: { index: 1, field: 'journal.response' }
    })
  })

  it('P2: reconstructs the state after any receipt', async () => {
    const { store } = await ran(counting)
    const stateAfter = async (upTo: number) => {
      const { state, receipts } = await reconstructState({ store, identity, upTo })
      return canonicalize({ state: [...state], receipts })
    }
    expect(await stateAfter(-1)).toBe('{"receipts":0,"state":[]}')
    expect(await stateAfter(0)).toBe('{"receipts":1,"state":[["n","1"]]}')
    expect(await stateAfter(1)).toBe('{"receipts":2,"state":[["n","2"]]}')
    expect(await stateAfter(9)).toBe('{"receipts":3,"state":[["n","2"]]}')
  })

  it('verifies a runtime at work: by verify, replay and replayReceipt', async () => {
    const clock = new ManualClock()
    const tally = await openOn(openMemoryStore(), { blocks: [step(counting)], clock })
    const runs = Array.from({ length: 5 }, (_, index) =>
      tally.begin(document, { id: `run-${index}`, inputs: index })
    )
    const early = await tally.verify()
    expect(early.failure).toBeUndefined()
    await Promise.all(runs.map(({ result }) => result))
    expect(await tally.verify({ notes: [await tally.note()] })).toMatchObject({
      ok: true,
      reexecuted: 15,
      anchored: { upTo: 15, source: 'note 1' }
    })
    expect(await tally.replay()).toMatchObject({ ok: true, reexecuted: 15 })
    expect(await tally.replayReceipt(3)).toMatchObject({ ok: true })
    expect((await tally.reconstructState(14)).state.get('n')).toBe('10')
    await tally.close()
  })
})
