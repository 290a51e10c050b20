import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import {
  createRuntime,
  defineBlock,
  defineWorkflow,
  type Json,
  type Runtime,
  type Workflow
} from '../../../src/index.js'

const add = defineBlock({
  name: 'add',
  version: '1.0.0',
  sideEffects: 'none',
  run: (_ctx, input) => (input as { a: number }).a + 1
})

const put = defineBlock({
  name: 'put',
  version: '1.0.0',
  sideEffects: 'none',
  run: (ctx, input) => {
    const { key, value } = input as { key: string; value: number }
    ctx.state.set(key, value)
    return value
  }
})

const open = (workflows: readonly Workflow[], location = 'memory:') =>
  createRuntime({
    location,
    create: 'if-absent',
    insecurePlaintextKey: true,
    workflows
  })

async function receiptsOf(tally: Runtime): Promise<readonly string[]> {
  const found: string[] = []
  for await (const { receipt } of tally.receipts()) found.push(receipt.intent)
  return found
}

it('B12: steps of a workflow in code are children, each with a receipt of its own', async () => {
  const sent: unknown[] = []
  const flow = defineWorkflow({
    name: 'flow',
    version: '1.0.0',
    blocks: [add],
    async run(ctx, input: { a: number }) {
      const one = await ctx.step('add', add, { a: input.a })
      const send = (given: { one: unknown }) => {
        sent.push(given)
        return { sent: true, nothing: undefined }
      }
      const two = await ctx.step('send', send, { one })
      const both = await ctx.all([ctx.step('add', add, { a: 5 }), ctx.step('add', add, { a: 6 })])
      await ctx.sleep(5)
      await ctx.publish('stage', 'over')
      return { one, two, both }
    }
  })
  await using tally = await open([flow])
  const { status, response } = await tally.begin(flow, { a: 1 }).result
  expect(status).toBe('done')
  expect(response.data).toEqual({ one: 2, two: { sent: true }, both: [6, 7] })
  expect(sent).toEqual([{ one: 2 }])
  expect(await receiptsOf(tally)).toEqual(['add', 'flow.send', 'add', 'add', 'run.completed'])
  const report = await tally.verify()
  expect(report).toMatchObject({ ok: true, complete: true, reexecuted: 5 })
})

it('B12: the time that the code reads is the same when it is executed again', async () => {
  const flow = defineWorkflow({
    name: 'timed',
    version: '1.0.0',
    async run(ctx, _input: null) {
      const times = [ctx.now()]
      await ctx.sleep(20)
      times.push(ctx.now())
      await ctx.step('look', () => null)
      times.push(ctx.now())
      return times
    }
  })
  await using tally = await open([flow])
  const { response } = await tally.begin(flow, null).result
  const [first = 0, second = 0] = response.data as readonly number[]
  expect(second - first).toBeGreaterThanOrEqual(20)
  expect(await tally.verify()).toMatchObject({ ok: true, complete: true, reexecuted: 2 })
})

it('B12: a run that was interrupted goes on where it was, and does nothing twice', async () => {
  const location = join(mkdtempSync(join(tmpdir(), 'tally-function-')), 'ledger')
  const done: string[] = []
  const flow = defineWorkflow({
    name: 'order',
    version: '1.0.0',
    async run(ctx, input: { id: string }) {
      const payment = await ctx.step('charge', () => {
        done.push('charge')
        return `paid ${input.id}`
      })
      const answer = await ctx.wait({ reason: 'external', request: { payment } })
      await ctx.step('ship', () => {
        done.push('ship')
        return true
      })
      return { payment, answer: answer.value }
    }
  })
  const first = await open([flow], location)
  const begun = first.begin(flow, { id: 'o1' }, { id: 'run-1' })
  for await (const event of begun) if (event.type === 'waiting') break
  await first.close()
  await using tally = await open([flow], location)
  const run = await tally.attach('run-1')
  const [wait] = await run.waits()
  if (wait === undefined) throw new Error('it waits')
  await run.resume(wait.token, { digest: wait.digest, value: 'go' })
  const { response } = await run.result
  expect(response.data).toEqual({ payment: 'paid o1', answer: 'go' })
  expect(done).toEqual(['charge', 'ship'])
})

it('B12: code that goes another way on resume is run.diverged, with both and the line', async () => {
  const location = join(mkdtempSync(join(tmpdir(), 'tally-function-')), 'ledger')
  const flowOf = (step: string) =>
    defineWorkflow({
      name: 'order',
      version: '1.0.0',
      async run(ctx, _input: null) {
        await ctx.step(step, () => 1)
        await ctx.wait({ reason: 'external' })
      }
    })
  const flow = flowOf('charge')
  const first = await open([flow], location)
  for await (const event of first.begin(flow, null, { id: 'r' }))
    if (event.type === 'waiting') break
  await first.close()
  const second = await open([flowOf('refund')], location)
  const run = await second.resume('r')
  await expect(run.result).rejects.toMatchObject({
    code: 'run.diverged',
    context: {
      signed: 'step charge (order.charge@1.0.0)',
      computed: expect.stringMatching(
        /^step refund \(order.refund@1.0.0\) at .*workflow-functions.test.ts:\d+:\d+$/
      )
    }
  })
  await run.cancel()
  await second.close()
})

it('B12: code that ends on resume without what it was given is run.diverged', async () => {
  const location = join(mkdtempSync(join(tmpdir(), 'tally-function-')), 'ledger')
  const flowOf = (isShort: boolean) =>
    defineWorkflow({
      name: 'order',
      version: '1.0.0',
      async run(ctx, _input: null) {
        if (isShort) return
        await ctx.sleep(1)
        await ctx.wait({ reason: 'external' })
      }
    })
  const flow = flowOf(false)
  const first = await open([flow], location)
  for await (const event of first.begin(flow, null, { id: 'r' }))
    if (event.type === 'waiting' && event.actions.includes('resume')) break
  await first.close()
  const second = await open([flowOf(true)], location)
  const run = await second.resume('r')
  await expect(run.result).rejects.toMatchObject({
    code: 'run.diverged',
    context: { seq: 1, effect: 'timer', computed: 'no call' }
  })
  await run.cancel()
  await second.close()
})

it('C4: an atomic part is one receipt, or nothing', async () => {
  const flow = defineWorkflow({
    name: 'transfer',
    version: '1.0.0',
    blocks: [put],
    async run(ctx, input: { fails: boolean }) {
      try {
        return await ctx.atomic('move', async (scope) => {
          const from = await scope.step('debit', put, { key: 'a', value: 1 })
          if (input.fails) throw new Error('no')
          await scope.step('credit', put, { key: 'b', value: 2 })
          return { from }
        })
      } catch (error) {
        return { failed: (error as { reason: string }).reason }
      }
    }
  })
  await using tally = await open([flow])
  const failed = await tally.begin(flow, { fails: true }).result
  expect(failed.response.data).toEqual({ failed: 'block_threw' })
  expect(await receiptsOf(tally)).toEqual(['run.completed'])
  const done = await tally.begin(flow, { fails: false }).result
  expect(done.response.data).toEqual({ from: 1 })
  expect(await receiptsOf(tally)).toEqual(['run.completed', 'transfer.move', 'run.completed'])
  expect(await tally.verify()).toMatchObject({ ok: true, complete: true })
})

it('B8: a step is tried again, and its failure reaches the code as data', async () => {
  let tries = 0
  const flow = defineWorkflow({
    name: 'retries',
    version: '1.0.0',
    async run(ctx, _input: null) {
      const read = () => {
        tries += 1
        if (tries < 3) throw new Error('not yet')
        return tries
      }
      const options = { sideEffects: 'none', retry: { attempts: 3, interval: 0 } } as const
      return ctx.step('read', read, null, options)
    }
  })
  await using tally = await open([flow])
  expect((await tally.begin(flow, null).result).response.data).toBe(3)
  expect(await tally.verify()).toMatchObject({ ok: true, complete: true })
})

it('B12: the first of a race is recorded, and the others are cancelled at the end', async () => {
  const flow = defineWorkflow({
    name: 'racing',
    version: '1.0.0',
    async run(ctx, _input: null) {
      const slow = ctx.step('slow', () => new Promise<string>(() => undefined), null, {
        sideEffects: 'none'
      })
      return ctx.race([slow, ctx.step('quick', () => 'quick', null, { sideEffects: 'none' })])
    }
  })
  await using tally = await open([flow])
  expect((await tally.begin(flow, null).result).response.data).toBe('quick')
})

it('B12: inputs and results have the types of the schemas', async () => {
  const typed = defineWorkflow({
    name: 'typed',
    version: '1.0.0',
    input: z.object({ n: z.number(), note: z.string().optional() }),
    run: async (_ctx, { n }) => ({ double: n * 2 })
  })
  await using tally = await open([typed])
  interface Given {
    n: number
    note?: string | undefined
  }
  const given: Given = { n: 2, note: undefined }
  const { response } = await tally.begin(typed, given).result
  if (!response.success) throw new Error(response.reason)
  expectTypeOf(response.data).toEqualTypeOf<{ double: number }>()
  expect(response.data.double).toBe(4)
  const wrong = { n: 'x' }
  // @ts-expect-error the input is no text
  const started = tally.start(typed, wrong)
  await expect(started).rejects.toMatchObject({ code: 'run.refused' })
})

it('B12: the chart of a run is drawn from what it did, and stands after any entry', async () => {
  const flow = defineWorkflow({
    name: 'drawn',
    version: '1.0.0',
    blocks: [put],
    async run(ctx, _input: null) {
      await ctx.step('first', () => 1)
      await ctx.atomic('move', (scope) => scope.step('put', put, { key: 'k', value: 1 }))
      return ctx.signal('go')
    }
  })
  await using tally = await open([flow])
  const run = tally.begin(flow, null, { id: 'd' })
  await tally.signal('d', 'go', 7)
  expect((await run.result).response.data).toBe(7)
  const { graph } = await tally.queries.chart({ id: 'd' })
  expect(graph).toMatchObject({ kind: 'function', name: 'drawn' })
  expect(graph.nodes.map(({ path, does }) => [path, does])).toEqual([
    ['root/first', 'drawn.first@1.0.0'],
    ['root/move', 'atomic part']
  ])
  expect(graph.edges).toEqual([{ from: 'first', to: 'move', order: 1, when: null }])
  const { actors } = await tally.queries.chartAt({ id: 'd' })
  expect(actors.map(({ path, mark }) => [path, mark])).toEqual([
    ['root', 'READY'],
    ['root/first', 'READY'],
    ['root/move', 'READY'],
    ['root/move/put', 'READY']
  ])
})

it('K14: by its name the owner starts a workflow in code, and agents do not', async () => {
  const flow = defineWorkflow({ name: 'named', version: '1.0.0', run: async () => 1 })
  await using tally = await open([flow])
  const start = (params: Json) =>
    tally.service({ method: 'start', params, signal: new AbortController().signal })
  const by = { workflow: 'named', inputs: null }
  expect(await start({ ...by, id: 'a' })).toMatchObject({ id: 'a', isNew: true })
  expect((await (await tally.attach('a')).result).status).toBe('done')
  await expect(start({ ...by, id: 'b', agent: 'x' })).rejects.toMatchObject({
    code: 'runtime.not_published'
  })
  await expect(start({ ...by, id: 'c', workflow: 'other' })).rejects.toMatchObject({
    code: 'runtime.workflow_not_registered'
  })
})

it('L6: a child workflow is a run of its own id, and its failure one of the step', async () => {
  const inner = defineWorkflow({
    name: 'inner',
    version: '1.0.0',
    async run(ctx, input: { n: number }) {
      if (input.n > 1) ctx.fail('too_much')
      return { twice: (await ctx.step('twice', () => input.n * 2)) as number }
    }
  })
  const outer = defineWorkflow({
    name: 'outer',
    version: '1.0.0',
    async run(ctx, _input: null) {
      const { twice } = await ctx.child(inner, { n: 1 }, { id: 'inner-1' })
      const again = await ctx.child(inner, { n: 1 }, { id: 'inner-1' })
      const failed = await ctx
        .child(inner, { n: 2 }, { id: 'inner-2' })
        .catch(({ reason }: { readonly reason: string }) => reason)
      return { twice, again: again.twice, failed }
    }
  })
  await using tally = await open([outer, inner])
  const { response } = await tally.begin(outer, null).result
  expect(response.data).toEqual({ twice: 2, again: 2, failed: 'too_much' })
  expect(tally.run('inner-1')?.status).toBe('done')
  expect(tally.run('inner-2')?.status).toBe('failed')
  expect(await tally.verify()).toMatchObject({ ok: true, complete: true })
})

it('D7: workflows that start themselves without end fail, and do not run for ever', async () => {
  const again = defineWorkflow({
    name: 'again',
    version: '1.0.0',
    async run(ctx, { n }: { n: number }): Promise<unknown> {
      return await ctx.child(
        { name: 'again', version: '1.0.0' },
        { n: n + 1 },
        { id: `again-${n + 1}` }
      )
    }
  })
  await using tally = await open([again])
  const { status, response } = await tally.begin(again, { n: 1 }, { id: 'again-1' }).result
  expect([status, response.reason]).toEqual(['failed', 'too_deep'])
  expect(tally.run('again-16')?.status).toBe('failed')
  expect(tally.run('again-17')).toBeUndefined()
})
