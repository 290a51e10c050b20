import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import {
  defineBlock,
  defineWorkflow,
  type Workflow,
  type WorkflowContext
} from '../../../src/code/index.js'
import { type Json, Redactor, systemRandom } from '../../../src/core/index.js'
import { importSnapshot, openMemoryStore } from '../../../src/ledger/index.js'
import { createRuntime, type Registrations } from '../../../src/runtime/index.js'
import { FakeClock } from '../../../src/testing/fake-clock.js'
import { lasting } from '../../support/lasting-store.js'
import { codeOf, openOn, until } from '../../support/lives.js'

/** Options of steps of workflows in code, and what becomes of such runs elsewhere (B8, B9, B10). */

async function open(registrations: Registrations, clock = new FakeClock()) {
  const options = { ...registrations, random: systemRandom, clock }
  const tally = await openOn(openMemoryStore(), options)
  return Object.assign(tally, { fake: clock })
}

function flowOf(run: (ctx: WorkflowContext, input: null) => unknown) {
  return defineWorkflow({ name: 'flow', version: '1.0.0', run })
}

describe('options of a step', () => {
  it('W5: timeout bounds the step with its retries', async () => {
    let tries = 0
    const flow = flowOf((ctx) => {
      const never = () => {
        tries += 1
        throw new Error('down')
      }
      const retry = { attempts: 50, interval: '10s', backoff: 'fixed' } as const
      return ctx.step('call', never, null, { sideEffects: 'none', timeout: '25s', retry })
    })
    const tally = await open({ workflows: [flow] })
    const run = tally.begin(flow, null)
    await tally.fake.advance(30_000)
    expect((await run.result).response).toMatchObject({ success: false, reason: 'timed_out' })
    expect(tries).toBe(3)
    await tally.close()
  })

  it('B8: retry waits longer each time, and only for the errors that it names', async () => {
    const at: number[] = []
    const clock = new FakeClock()
    const flow = flowOf(async (ctx) => {
      const call = () => {
        at.push(clock.now())
        if (at.length < 3) throw new Error('down')
        return at.length
      }
      const retry = { attempts: 5, interval: 100, backoff: 'exp' } as const
      const done = await ctx.step('call', call, null, { sideEffects: 'idempotent', retry })
      const refused = { attempts: 5, errors: ['Other'] }
      const other = ctx.step('not', () => ctx.fail('no'), null, {
        sideEffects: 'none',
        retry: refused
      })
      return [done, await other.catch((error: Error) => error.name)]
    })
    const tally = await open({ workflows: [flow] }, clock)
    const run = tally.begin(flow, null)
    await tally.fake.advance(1_000)
    expect((await run.result).response.data).toEqual([3, 'StepFailure'])
    expect(at.map((one) => one - (at[0] ?? 0))).toEqual([0, 100, 300])
    await tally.close()
  })

  it('B8: a repair corrects the request of a block, and a fallback stands in for it', async () => {
    const picky = defineBlock({
      name: 'picky',
      version: '1.0.0',
      sideEffects: 'none',
      run: (ctx, input) => ((input as { n: number }).n > 1 ? 'fine' : ctx.fail('too_small'))
    })
    const spare = defineBlock({
      name: 'spare',
      version: '1.0.0',
      sideEffects: 'none',
      run: () => 'spare'
    })
    const flow = defineWorkflow({
      name: 'flow',
      version: '1.0.0',
      blocks: [picky, spare],
      async run(ctx) {
        const repaired = await ctx.step(
          'a',
          picky,
          { n: 1 },
          {
            recovery: [{ kind: 'repair', repair: 'raise' }]
          }
        )
        const fallen = await ctx.step(
          'b',
          picky,
          { n: 0 },
          {
            recovery: [{ kind: 'fallback', providers: ['spare'] }]
          }
        )
        return [repaired, fallen]
      }
    })
    const raise = (request: { payload: Json }) => ({ ...request, payload: { n: 2 } })
    const tally = await open({ workflows: [flow], repairs: { raise: raise as never } })
    const { response } = await tally.begin(flow, null).result
    expect(response).toMatchObject({ success: true, data: ['fine', 'spare'] })
    expect((await tally.verify()).ok).toBe(true)
    await tally.close()
  })

  it('W7: confirm asks a person first, and a denial is a failure of the step', async () => {
    const done: string[] = []
    const flow = flowOf(async (ctx) => {
      const asked = { sideEffects: 'idempotent', confirm: 'Really?' } as const
      await ctx.step('one', () => done.push('one'), null, asked)
      return ctx
        .step('two', () => done.push('two'), null, asked)
        .catch((error: { response: { reason: string } }) => error.response.reason)
    })
    const tally = await open({ workflows: [flow] })
    const run = tally.begin(flow, null)
    for (const how of ['approve', 'deny'] as const) {
      await until(async () => (await run.waits()).length === 1)
      const [wait] = await run.waits()
      if (wait === undefined) throw new Error('it asks')
      expect(JSON.stringify(wait.request)).toContain('Really?')
      await run[how](wait.token, { digest: wait.digest })
      await until(async () => (await run.waits())[0]?.token !== wait.token)
    }
    expect((await run.result).response.data).toBe('denied')
    expect(done).toEqual(['one'])
    await tally.close()
  })

  it('B9: with onError ask, what fails waits for a decision', async () => {
    let isUp = false
    const flow = flowOf((ctx) =>
      ctx.step('call', () => (isUp ? 'up' : ctx.fail('down')), null, {
        sideEffects: 'none',
        onError: 'ask'
      })
    )
    const tally = await open({ workflows: [flow] })
    const run = tally.begin(flow, null)
    await until(async () => (await run.waits()).length === 1)
    const [wait] = await run.waits()
    if (wait === undefined) throw new Error('it asks')
    isUp = true
    await run.resume(wait.token, { digest: wait.digest, action: 'retry' })
    expect((await run.result).response.data).toBe('up')
    await tally.close()
  })

  it('the result of a block has the type of the block', async () => {
    const sum = defineBlock({
      name: 'sum',
      version: '1.0.0',
      sideEffects: 'none',
      input: z.object({ a: z.number(), b: z.number() }),
      run: (_ctx, { a, b }) => ({ total: a + b })
    })
    const parsed = defineBlock({
      name: 'parsed',
      version: '1.0.0',
      sideEffects: 'none',
      output: z.object({ text: z.string() }),
      run: () => ({ text: 'x' })
    })
    const flow = defineWorkflow({
      name: 'flow',
      version: '1.0.0',
      blocks: [sum, parsed],
      async run(ctx) {
        const { total } = await ctx.step('sum', sum, { a: 1, b: 2 })
        expectTypeOf(total).toEqualTypeOf<number>()
        const { text } = await ctx.step('parsed', parsed, null)
        expectTypeOf(text).toEqualTypeOf<string>()
        // @ts-expect-error: it is no number
        const wrong = () => ctx.step('sum', sum, { a: 'x', b: 2 })
        return [total, text, typeof wrong]
      }
    })
    const tally = await open({ workflows: [flow] })
    expect((await tally.begin(flow, null).result).response.data).toEqual([3, 'x', 'function'])
    await tally.close()
  })
})

describe('a workflow in code', () => {
  it('sleeps until a time, also one that is over', async () => {
    const clock = new FakeClock()
    const begun = clock.now()
    const flow = flowOf(async (ctx) => {
      await ctx.sleepUntil(new Date(begun + 3_600_000))
      const first = ctx.now()
      await ctx.sleepUntil(new Date(begun).toISOString())
      return [first - begun, ctx.now() - begun]
    })
    const tally = await open({ workflows: [flow] }, clock)
    const run = tally.begin(flow, null)
    await clock.advance(3_600_000)
    expect((await run.result).response.data).toEqual([3_600_000, 3_600_000])
    await tally.close()
  })

  it('publishes the last value of each key, for those who ask the run', async () => {
    const flow = flowOf(async (ctx) => {
      await ctx.publish('stage', 'packing')
      await ctx.signal('go')
      await ctx.publish('stage', { name: 'sent' })
      return null
    })
    const tally = await open({ workflows: [flow] })
    const run = tally.begin(flow, null, { id: 'r' })
    await until(async () => (await tally.query('r', 'stage')) === 'packing')
    expect(await tally.query('r', 'other')).toBeUndefined()
    await tally.signal('r', 'go')
    await run.result
    expect(await tally.query('r', 'stage')).toEqual({ name: 'sent' })
    expect(await codeOf(tally.query('none', 'stage'))).toBe('run.not_found')
    await tally.close()
  })

  it('B10: versions stand side by side, and a run continues with its own', async () => {
    const version = (given: string) =>
      defineWorkflow({
        name: 'flow',
        version: given,
        async run(ctx, _input: null) {
          await ctx.signal('go')
          return ctx.step('say', () => given)
        }
      })
    const store = openMemoryStore()
    const kept = () => ({ ...lasting(store), random: systemRandom })
    const [one, two] = [version('1.0.0'), version('2.0.0')]
    const before = await openOn(kept(), { workflows: [one], random: systemRandom })
    await before.start(one, null, { id: 'old' })
    await until(async () => (await before.waits()).items.length === 1)
    await before.close()
    const after = await openOn(kept(), { workflows: [one, two], random: systemRandom })
    await after.start(two, null, { id: 'new' })
    for (const [id, said] of [
      ['old', '1.0.0'],
      ['new', '2.0.0']
    ] as const) {
      await after.signal(id, 'go')
      expect((await (await after.attach(id)).result).response.data).toBe(said)
    }
    expect((await after.verify()).ok).toBe(true)
    await after.close()
    const without = await openOn(kept(), { workflows: [two], random: systemRandom })
    expect(await codeOf(without.start(two, null, { id: 'old' }))).toBe('run.id_reused')
    await without.close()
  })

  it('L6: another workflow, input or context under an id is refused', async () => {
    const echo = defineWorkflow({
      name: 'echo',
      version: '1.0.0',
      run: async (_ctx, n: number) => n
    })
    const flow = flowOf(async () => 1)
    const tally = await open({ workflows: [echo, flow as Workflow] })
    expect(await tally.start(echo, 1, { id: 'r' })).toEqual({ id: 'r', isNew: true })
    expect(await tally.start(echo, 1, { id: 'r' })).toEqual({ id: 'r', isNew: false })
    for (const other of [
      tally.start(echo, 2, { id: 'r' }),
      tally.start(flow, null, { id: 'r' }),
      tally.start(echo, 1, { id: 'r', context: { a: 1 } })
    ]) {
      expect(await codeOf(other)).toBe('run.id_reused')
    }
    await tally.close()
  })

  it('C4: an atomic part whose reads changed is done again, with what is there then', async () => {
    const read = defineBlock({
      name: 'read',
      version: '1.0.0',
      sideEffects: 'none',
      run: (ctx) => ctx.state.get<number>('n') ?? 0
    })
    const write = defineBlock({
      name: 'write',
      version: '1.0.0',
      sideEffects: 'none',
      run: (ctx, input) => ctx.state.set('n', input as number)
    })
    const pause = defineBlock({
      name: 'pause',
      version: '1.0.0',
      sideEffects: 'none',
      run: (ctx) => ctx.signal('go')
    })
    let rounds = 0
    const adds = defineWorkflow({
      name: 'adds',
      version: '1.0.0',
      blocks: [read, write, pause],
      run: (ctx, _input: null) =>
        ctx.atomic('add', async (scope) => {
          rounds += 1
          const before = await scope.step('read', read, null)
          await scope.step('pause', pause, null)
          await scope.step('write', write, before + 1)
          return before + 1
        })
    })
    const sets = defineWorkflow({
      name: 'sets',
      version: '1.0.0',
      blocks: [write],
      run: (ctx, n: number) => ctx.step('write', write, n)
    })
    const tally = await open({ workflows: [adds, sets as Workflow] })
    const run = tally.begin(adds, null, { id: 'a' })
    await until(async () => (await tally.waits()).items.length === 1)
    await tally.begin(sets, 10).result
    await tally.signal('a', 'go', null, { id: 'one' })
    await until(() => rounds === 2)
    await tally.signal('a', 'go', null, { id: 'two' })
    expect((await run.result).response.data).toBe(11)
    expect(await tally.state.get('n')).toBe(11)
    expect((await tally.verify()).ok).toBe(true)
    await tally.close()
  })

  it('shows no secret that it was given as a signal, an answer or a result', async () => {
    const secret = 'tally-secret-value-0123456789'
    const redactor = new Redactor()
    redactor.know('vault:bank', secret)
    const flow = flowOf(async (ctx) => {
      const heard = await ctx.signal('key')
      const { value } = await ctx.wait({ reason: 'external', request: {} })
      const got = await ctx.step('ask', () => ({ got: secret }))
      await ctx.publish('last', { heard: heard as Json })
      return { got, value: value as Json }
    })
    const tally = await open({ workflows: [flow], redactor })
    const run = tally.begin(flow, null, { id: 'r' })
    await tally.signal('r', 'key', { key: secret })
    const asked = async () => (await run.waits()).find(({ actions }) => actions.includes('resume'))
    await until(async () => (await asked()) !== undefined)
    const wait = await asked()
    if (wait === undefined) throw new Error('it asks')
    await run.resume(wait.token, { digest: wait.digest, value: { key: secret } })
    await run.result
    const told: unknown[] = [await tally.query('r', 'last')]
    for await (const line of tally.follow('r')) told.push(line)
    told.push(await tally.queries.calls({ id: 'r', path: 'root' }))
    told.push((await tally.runs({})).items, await tally.queries.chart({ id: 'r' }))
    const text = JSON.stringify(told)
    expect(text).not.toContain(secret)
    expect(text).toContain('vault:bank')
    await tally.close()
  })

  it('goes with its ledger into a snapshot, and continues where that is imported', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'tally-steps-'))
    try {
      const flow = flowOf(async (ctx) => {
        const first = await ctx.step('one', () => 'one')
        const last = await ctx.signal('go')
        return [first, last as Json]
      })
      const keys = { create: 'if-absent', insecurePlaintextKey: true, serve: false } as const
      const workflows = [flow as Workflow]
      const location = join(directory, 'ledger')
      const before = await createRuntime({ location, ...keys, workflows })
      await before.start(flow, null, { id: 'r', tags: ['t'] })
      await until(async () => (await before.waits()).items.length === 1)
      const file = join(directory, 'snapshot')
      await before.export({ path: file })
      await before.close()
      await importSnapshot(location, { file })
      const after = await createRuntime({ location, ...keys, workflows })
      expect((await after.runs({ tag: 't' })).items.map(({ id }) => id)).toEqual(['r'])
      await after.signal('r', 'go', 'two')
      expect((await (await after.attach('r')).result).response.data).toEqual(['one', 'two'])
      expect(await after.verify()).toMatchObject({ ok: true, complete: true })
      await after.close()
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  })
})
