import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { OpenWait } from '../../../../src/block/index.js'
import { type BlockContext, defineBlock } from '../../../../src/code/index.js'
import { type Json, limits, ManualClock, systemRandom } from '../../../../src/core/index.js'
import { openMemoryStore, type Store } from '../../../../src/ledger/index.js'
import type { RunHandle } from '../../../../src/runtime/index.js'
import { lasting } from '../../../support/lasting-store.js'
import { openOn, until } from '../../../support/lives.js'

/** Signals: B3 (waiting), W10 (ids), K13 (who sends), D2 (durable). */

type Code = (ctx: BlockContext, input: Json) => Promise<Json>

function blockOf(run: Code, name = 'order.wait') {
  return defineBlock({ name, version: '1.0.0', sideEffects: 'none', run })
}

const paid = z.object({ amount: z.string() })
const takesOne = blockOf(async (ctx) => ctx.signal('paid', paid))

const oneStep = (extra: object = {}): Json => ({
  schema: 'tally-composite/1',
  name: 'order',
  version: '1.0.0',
  entry_point: 'wait',
  nodes: { wait: { block: 'order.wait', ...extra } }
})

interface Opened {
  readonly block?: ReturnType<typeof blockOf>
  readonly store?: Store
  readonly clock?: ManualClock
}

function open({ block = takesOne, store = openMemoryStore(), clock }: Opened = {}) {
  const time = clock === undefined ? {} : { clock }
  return openOn(store, { blocks: [block], random: systemRandom, ...time })
}

/** What a run waits for, once it does. */
async function waitOf(run: RunHandle): Promise<OpenWait> {
  let waits: readonly OpenWait[] = []
  await until(async () => {
    waits = await run.waits()
    return waits.length > 0
  })
  const [wait] = waits
  if (wait === undefined) throw new Error('it waits for nothing')
  return wait
}

async function journalOf(run: RunHandle, tally: Awaited<ReturnType<typeof open>>) {
  const entries: string[] = []
  for await (const { value } of tally.ledger.journal(run.id)) {
    entries.push((value as { readonly k: string }).k)
  }
  return entries
}

const dataOf = async (run: RunHandle) => (await run.result).response.data

describe('a signal', () => {
  it('B3: ends the wait of the code that asks for its name', async () => {
    await using tally = await open()
    const run = tally.begin(oneStep(), { id: 'a' })
    expect(await waitOf(run)).toMatchObject({
      reason: 'external',
      actions: ['signal'],
      request: { signal: 'paid' }
    })
    const sent = await tally.signal('a', 'paid', { amount: '1.00' }, { id: 'one' })
    expect(sent).toEqual({ accepted: true })
    expect(await dataOf(run)).toEqual({ amount: '1.00' })
  })

  it('B3: is kept for code that asks later', async () => {
    const block = blockOf(async (ctx) => {
      const second = await ctx.signal('second')
      return [second, await ctx.signal('first')]
    })
    await using tally = await open({ block })
    const run = tally.begin(oneStep(), { id: 'a' })
    await run.signal('first', 1)
    await run.signal('second', 2)
    expect(await dataOf(run)).toEqual([2, 1])
  })

  it('B3: comes in the order in which those of its name were accepted', async () => {
    const block = blockOf(async (ctx) => {
      const all: Json[] = []
      while (all.length < 5) all.push(await ctx.signal('item'))
      return all
    })
    await using tally = await open({ block })
    const run = tally.begin(oneStep(), { id: 'a' })
    for (const item of [1, 2, 3]) await run.signal('item', item)
    await waitOf(run)
    for (const item of [4, 5]) await run.signal('item', item)
    expect(await dataOf(run)).toEqual([1, 2, 3, 4, 5])
  })

  it('W10: changes nothing when it is sent again, also after the run has ended', async () => {
    await using tally = await open()
    const run = tally.begin(oneStep(), { id: 'a' })
    const value = { amount: '1.00' }
    const all = [1, 2, 3].map(() => run.signal('paid', value, { id: 'one' }))
    const outcomes = await Promise.all(all)
    expect(outcomes.filter((one) => one.accepted && one.repeated !== true)).toHaveLength(1)
    await run.result
    expect(await run.signal('paid', value, { id: 'one' })).toEqual({
      accepted: true,
      repeated: true
    })
    const reused = { accepted: false, reason: 'signal_id_reused' }
    expect(await run.signal('paid', { amount: '2' }, { id: 'one' })).toEqual(reused)
    expect(await run.signal('paid', value)).toEqual({ accepted: false, reason: 'run_ended' })
  })

  it('W10: is refused under an id that another signal of the run has', async () => {
    await using tally = await open()
    const run = tally.begin(oneStep(), { id: 'a' })
    await run.signal('other', 1, { id: 'one' })
    const reused = { accepted: false, reason: 'signal_id_reused' }
    expect(await run.signal('other', 2, { id: 'one' })).toEqual(reused)
    expect(await run.signal('paid', 1, { id: 'one' })).toEqual(reused)
    await run.cancel()
  })

  it('is refused where the code that waits does not take its value, and nothing changes', async () => {
    await using tally = await open()
    const run = tally.begin(oneStep(), { id: 'a' })
    await waitOf(run)
    const refused = await run.signal('paid', { amount: 1 }, { id: 'one' })
    expect(refused).toEqual({
      accepted: false,
      reason: 'signal_refused',
      problem: 'amount: invalid_type'
    })
    expect(await run.signal('paid', { amount: '1' }, { id: 'one' })).toEqual({ accepted: true })
    expect(await dataOf(run)).toEqual({ amount: '1' })
  })

  it('fails the call, once, that asks for another shape than what came early', async () => {
    const block = blockOf(async (ctx) => {
      await ctx.signal('go')
      const problem = await ctx.signal('paid', paid).catch((error: Error) => error.message)
      return [problem, await ctx.signal('paid', paid)]
    })
    await using tally = await open({ block })
    const run = tally.begin(oneStep(), { id: 'a' })
    await run.signal('paid', 'nothing')
    await run.signal('paid', { amount: '1' })
    await run.signal('go')
    expect(await dataOf(run)).toEqual(['invalid_signal', { amount: '1' }])
  })

  it('is read by a JSON Schema, and by any Standard Schema', async () => {
    const upper = {
      '~standard': {
        version: 1 as const,
        vendor: 'test',
        validate: (value: unknown) =>
          typeof value === 'string'
            ? { value: value.toUpperCase() }
            : { issues: [{ path: [{ key: 'x' }] }] }
      }
    }
    const block = blockOf(async (ctx) => {
      const first: Json = await ctx.signal('json', { type: 'number', minimum: 2 })
      const second: string = await ctx.signal('standard', upper)
      return [first, second]
    })
    await using tally = await open({ block })
    const run = tally.begin(oneStep(), { id: 'a' })
    await waitOf(run)
    expect(await run.signal('json', 1)).toMatchObject({ reason: 'signal_refused' })
    await run.signal('json', 2)
    await waitOf(run)
    expect(await run.signal('standard', 1)).toMatchObject({ problem: 'x: invalid' })
    await run.signal('standard', 'a')
    expect(await dataOf(run)).toEqual([2, 'A'])
  })

  it('B3: is undefined once the time of the call is over, and is kept for the next', async () => {
    const clock = new ManualClock()
    const block = blockOf(async (ctx) => {
      const first = await ctx.signal('paid', undefined, { timeoutMs: 60_000 })
      return [first === undefined, await ctx.signal('paid')]
    })
    await using tally = await open({ block, clock })
    const run = tally.begin(oneStep(), { id: 'a' })
    await waitOf(run)
    clock.advance(60_000)
    await run.signal('paid', 1)
    expect(await dataOf(run)).toEqual([true, 1])
  })

  it('B3: that an attempt took which failed is taken again by the next', async () => {
    const block = blockOf(async (ctx) => {
      const all = [await ctx.signal('item'), await ctx.signal('item')]
      if (ctx.attempt === 1) ctx.fail('once')
      return all
    })
    await using tally = await open({ block })
    const recovery = [{ retry: { max_attempts: 2 } }]
    const run = tally.begin(oneStep({ recovery }), { id: 'a' })
    await run.signal('item', 1)
    await run.signal('item', 2)
    expect(await run.result).toMatchObject({ response: { data: [1, 2] } })
  })

  it('D2: is there in the next process, taken and not taken ones in their order', async () => {
    const store = lasting(openMemoryStore())
    const block = blockOf(async (ctx) => {
      const names = ['one', 'two', 'one', 'two']
      const all: Json[] = []
      for (const name of names) all.push(await ctx.signal(name))
      return all
    })
    for (const [at, name] of ['two', 'one', 'one'].entries()) {
      const tally = await open({ block, store })
      const run = at === 0 ? tally.begin(oneStep(), { id: 'a' }) : await tally.attach('a')
      run.result.catch(() => undefined)
      expect(await run.signal(name, at, { id: `${at}` })).toEqual({ accepted: true })
      await waitOf(run)
      await tally.close()
    }
    await using tally = await open({ block, store })
    const run = await tally.attach('a')
    expect(await run.signal('one', 1, { id: '1' })).toEqual({ accepted: true, repeated: true })
    await run.signal('two', 3)
    expect(await dataOf(run)).toEqual([1, 0, 2, 3])
  })

  it('B3: that an atomic composite took comes back when it is rolled back', async () => {
    const takes = blockOf((ctx) => ctx.signal('item'))
    const fails = blockOf(async (ctx) => ctx.fail('never'), 'order.fail')
    await using tally = await openOn(openMemoryStore(), {
      blocks: [takes, fails],
      random: systemRandom
    })
    const inner = {
      entry_point: 'takes',
      atomic: true,
      nodes: { takes: { block: 'order.wait' }, fails: { block: 'order.fail' } },
      transitions: { takes: 'fails' }
    }
    const document: Json = {
      schema: 'tally-composite/1',
      name: 'order',
      version: '1.0.0',
      entry_point: 'inner',
      nodes: { inner: { composite: inner, on_error: 'ask' }, last: { block: 'order.wait' } },
      transitions: { inner: 'last' }
    }
    const run = tally.begin(document, { id: 'a' })
    await run.signal('item', 1, { id: '1' })
    for (const action of ['retry', 'skip'] as const) {
      const { token, digest } = await waitOf(run)
      await run.resume(token, { digest, action })
    }
    expect(await dataOf(run)).toBe(1)
  })

  it('ends no wait by a token', async () => {
    await using tally = await open()
    const run = tally.begin(oneStep(), { id: 'a' })
    const { token, digest } = await waitOf(run)
    const refused = { accepted: false, reason: 'action_not_allowed' }
    expect(await run.resume(token, { digest, value: 1 })).toEqual(refused)
    expect(await run.resume(token, { digest, action: 'signal' as 'resume' })).toEqual(refused)
    await run.cancel()
  })

  it('has bounds: name, id, bytes, and how many wait', async () => {
    await using tally = await open()
    const run = tally.begin(oneStep(), { id: 'a' })
    await expect(run.signal('')).rejects.toMatchObject({ code: 'run.invalid_signal' })
    const code = 'core.limit_exceeded'
    const long = 'x'.repeat(limits.SIGNAL_NAME_LENGTH_MAX + 1)
    await expect(run.signal(long)).rejects.toMatchObject({ code })
    await expect(run.signal('a', 1, { id: long })).rejects.toMatchObject({ code })
    const large = 'x'.repeat(limits.SIGNAL_BYTES_MAX)
    await expect(run.signal('a', large)).rejects.toMatchObject({ code })
    const sent = Array.from({ length: limits.RUN_SIGNALS_WAITING_MAX }, (_, at) =>
      run.signal('a', at)
    )
    await Promise.all(sent)
    const refused = { accepted: false, reason: 'too_many_signals' }
    expect(await run.signal('a', 'one more')).toEqual(refused)
    await run.cancel()
  })

  it('rejects for a run that is not there', async () => {
    await using tally = await open()
    await expect(tally.signal('none', 'paid')).rejects.toMatchObject({ code: 'run.not_found' })
  })

  it('is not taken by a run that was cancelled', async () => {
    await using tally = await open()
    const run = tally.begin(oneStep(), { id: 'a' })
    await waitOf(run)
    await run.cancel()
    expect(await run.signal('paid', { amount: '1' })).toMatchObject({ reason: 'run_ended' })
    expect(await journalOf(run, tally)).not.toContain('signal')
  })
})
