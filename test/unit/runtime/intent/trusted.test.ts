import { afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import type { Json } from '../../../../src/core/index.js'
import { createRuntime, defineBlock, type Runtime } from '../../../../src/index.js'

const opened: Runtime[] = []

async function open(options: Partial<Parameters<typeof createRuntime>[0]> = {}): Promise<Runtime> {
  const tally = await createRuntime({ location: 'memory:', blocks, ...options })
  opened.push(tally)
  return tally
}

afterEach(async () => {
  for (const tally of opened.splice(0)) await tally.close()
})

const add = defineBlock({
  name: 'counter.add',
  version: '1.0.0',
  sideEffects: 'none',
  intents: ['counter.add', 'counter'],
  input: z.object({ by: z.number() }),
  run: (ctx, { by }) => {
    const count = (ctx.state.get<number>('count') ?? 0) + by
    ctx.state.set('count', count)
    return { count }
  }
})

const list = defineBlock({
  name: 'list',
  version: '1.0.0',
  sideEffects: 'none',
  intents: ['list.make'],
  run: () => ['a', 'b']
})

const rude = defineBlock({
  name: 'rude',
  version: '1.0.0',
  sideEffects: 'none',
  intents: ['rude.result', 'rude.write'],
  run: (ctx, input) => {
    const { key } = input as { readonly key?: string }
    if (key !== undefined) ctx.state.set(key, true)
    return { type: 'dapp' }
  }
})

const asks = defineBlock({
  name: 'asks',
  version: '1.0.0',
  intents: ['asks.person'],
  run: async (ctx) => {
    const { action } = await ctx.wait({ reason: 'confirmation', request: { sure: true } })
    const sent = await ctx.effect('send', () => 'sent')
    return { action, sent }
  }
})

const show = defineBlock({
  name: 'show',
  version: '1.0.0',
  sideEffects: 'none',
  intents: ['show.any'],
  input: z.object({ ui: z.json() }),
  run: (_, { ui }) => ({ ui })
})

const blocks = [add, list, rude, asks, show]

test('K1: an intent is done by the block that serves it and leaves one receipt', async () => {
  const tally = await open()
  const reply = await tally.intent({ id: 'one', action: 'counter.add', payload: { by: 2 } })
  expect(reply).toMatchObject({
    type: 'dapp',
    id: 'one',
    dappId: 'block:counter.add@1.0.0',
    count: 2
  })
  const stored = await tally.receipt(0)
  expect(reply).toMatchObject({ receipt: stored?.receipt.receiptHash })
  expect(stored?.receipt.intent).toBe('counter.add')
  expect(stored?.payloadText).toBe('{"by":2}')
  expect(stored?.receipt.inputPayload.provider.kind).toBe('declared')
  expect(tally.status().receipts).toBe(1)
  expect(tally.run('one')?.status).toBe('done')
})

test('L6: the same id with the same intent is done once; with another it is refused', async () => {
  const tally = await open()
  const intent = { id: 'same', action: 'counter.add', payload: { by: 1 } }
  const all = await Promise.all([tally.intent(intent), tally.intent(intent), tally.intent(intent)])
  expect(new Set(all.map((reply) => JSON.stringify(reply))).size).toBe(1)
  expect(await tally.intent(intent)).toEqual(all[0])
  expect(tally.status().receipts).toBe(1)
  const other = await tally.intent({ ...intent, payload: { by: 5 } })
  expect(other).toMatchObject({ type: 'error', reason: 'id_reused' })
  const action = await tally.intent({ ...intent, action: 'list.make' })
  expect(action).toMatchObject({ type: 'error', reason: 'id_reused' })
})

test('K1: refuses what is no intent, has no provider, or gives a refused result', async () => {
  const tally = await open()
  const reason = async (action: string, payload = {}) => {
    const reply = await tally.intent({ action, payload })
    return reply.type === 'error' ? reply.reason : reply.type
  }
  expect(await reason('Not an action')).toBe('invalid_intent')
  expect(await reason('nobody.serves')).toBe('no_match')
  expect(await reason('rude.result')).toBe('result_reserved_key')
  for (const key of ['permissions/x', 'wallet/frame/supply', 'contacts/a', 'messages/1']) {
    expect(await reason('rude.write', { key })).toBe('invalid_operation')
  }
  expect(await reason('counter.add', { by: 'two' })).toBe('invalid_input')
  expect(await reason('counter.add.twice', { by: 1 })).toBe('dapp')
  expect(tally.status().receipts).toBe(1)
})

test('K12: a result says how it is shown in one form only, and keeps it', async () => {
  const tally = await open()
  const shown = async (ui: Json) => tally.intent({ action: 'show.any', payload: { ui } })
  const widgets = [{ type: 'card', id: 'a', title: 'Balance', data: { amount: '7' } }]
  const ui = { layout: 'grid', widgets }
  const done = await shown(ui)
  expect(done).toMatchObject({ type: 'dapp', ui })
  for (const [bad, problem] of [
    ['grid', 'ui: invalid_type'],
    [{ layout: 'grid' }, 'ui.widgets: invalid_type'],
    [{ layout: 'grid', widgets: [{ type: '' }] }, 'ui.widgets.0.type: too_small'],
    [{ layout: 'grid', widgets: [], script: 'alert(1)' }, 'ui: unrecognized_keys']
  ] as const) {
    expect(await shown(bad as Json)).toMatchObject({
      type: 'error',
      reason: 'result_invalid_ui',
      details: { problem }
    })
  }
  expect(await tally.verify()).toMatchObject({ ok: true, reexecuted: 1, reexecutedFailures: 4 })
})

test('K2: a ledger in memory is not replaced, and no other identity is made in it', async () => {
  const tally = await open()
  const importing = { action: 'system.import', payload: { file: 'any.snapshot' } }
  expect(await tally.intent(importing)).toMatchObject({ type: 'error', reason: 'not_on_disk' })
  const making = { action: 'system.identity.create' }
  expect(await tally.intent(making)).toMatchObject({ type: 'error', reason: 'no_key_file' })
  expect(tally.status().receipts).toBe(0)
})

test('K1: a result that is no object stands under value', async () => {
  const tally = await open()
  expect(await tally.intent({ action: 'list.make' })).toMatchObject({ value: ['a', 'b'] })
})

test('B3: an intent that asks a person says so, and continues after the answer', async () => {
  const tally = await open()
  const reply = await tally.intent({ id: 'ask', action: 'asks.person' })
  expect(reply).toMatchObject({ type: 'waiting', reason: 'confirmation' })
  expect(await tally.intent({ id: 'ask', action: 'asks.person' })).toEqual(reply)
  if (reply.type !== 'waiting') throw new Error('it does not wait')
  const run = await tally.attach('ask')
  await run.approve(reply.token, { digest: reply.digest })
  expect(await tally.result('ask')).toMatchObject({ type: 'dapp', action: 'approve', sent: 'sent' })
  const report = await tally.verify()
  expect(report.failure).toBeUndefined()
  expect(report.reexecuted).toBe(1)
})

test('P1: intents are done again to the same bytes', async () => {
  const tally = await open()
  const submitted = Array.from({ length: 20 }, (_, by) =>
    tally.intent({ action: 'counter.add', payload: { by } })
  )
  await Promise.all(submitted)
  await tally.intent({ action: 'counter.add', payload: { by: 'wrong' } })
  const report = await tally.replay()
  expect(report.failure).toBeUndefined()
  expect(report).toMatchObject({ ok: true, receipts: 20, evidence: 1, reexecuted: 20 })
})

test('K1: the leaf block intent does an intent inside a composite', async () => {
  const tally = await open()
  const run = tally.begin({
    schema: 'tally-composite/1',
    name: 'two',
    version: '1.0.0',
    entry_point: 'first',
    nodes: {
      first: {
        block: 'intent',
        input: { lit: { action: 'counter.add', payload: { by: 3 } } }
      },
      second: {
        block: 'intent.none',
        input: { lit: { action: 'counter.add', payload: { by: 4 } } }
      }
    },
    transitions: { first: 'second' }
  })
  const { response } = await run.result
  expect(response).toMatchObject({ success: true, data: { count: 7 } })
  expect((await tally.receipt(0))?.receipt.dappId).toBe('block:counter.add@1.0.0')
  const report = await tally.verify()
  expect(report.failure).toBeUndefined()
  expect(report.reexecuted).toBe(3)
})
