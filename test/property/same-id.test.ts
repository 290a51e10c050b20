import { describe, expect, it } from 'vitest'
import { defineBlock } from '../../src/code/index.js'
import type { Json, RunId } from '../../src/core/index.js'
import { codeOf, Machine, settleDown, until } from '../support/lives.js'

function counting(done: string[]) {
  return [
    defineBlock({
      name: 'work',
      version: '1.0.0',
      sideEffects: 'idempotent',
      run: async (ctx, input) =>
        ctx.effect('act', {
          request: { run: ctx.runId, input: input as Json },
          perform: (call) => {
            done.push(call.key)
            return done.length
          }
        })
    }),
    defineBlock({
      name: 'ask',
      version: '1.0.0',
      sideEffects: 'none',
      run: async (ctx) => (await ctx.wait({ reason: 'confirmation' })).action
    })
  ]
}

function documentOf(block: string, name = 'same'): Json {
  return {
    schema: 'tally-composite/1',
    name,
    version: '1.0.0',
    entry_point: 'a',
    nodes: { a: { block } },
    transitions: {}
  }
}

const options = { id: 'r', inputs: { b: 1, a: [2] } }

describe('the same id', () => {
  it('L6: at once and afterwards is one unit of work with one result', async () => {
    const done: string[] = []
    const runtime = await new Machine().open({ blocks: counting(done) })
    const runs = [1, 2, 3].map(() => runtime.begin(documentOf('work'), options))
    const results = await Promise.all(runs.map((run) => run.result))
    const later = await runtime.begin(documentOf('work'), { id: 'r', inputs: { a: [2], b: 1 } })
      .result
    const attached = await (await runtime.attach('r')).result
    for (const result of [...results, later, attached]) expect(result).toEqual(results[0])
    expect(done).toHaveLength(1)
    expect(runtime.status().receipts).toBe(2)
    await runtime.close()
  })

  it('L6: other work is refused, at once and afterwards, and the first run continues', async () => {
    const done: string[] = []
    const runtime = await new Machine().open({ blocks: counting(done) })
    const first = runtime.begin(documentOf('work'), options)
    const others = () => [
      runtime.begin(documentOf('work'), { id: 'r', inputs: { a: [3] } }),
      runtime.begin(documentOf('ask'), options),
      runtime.begin(documentOf('work', 'another'), options),
      runtime.begin({ schema: 'tally-composite/1' }, options)
    ]
    for (const other of others()) expect(await codeOf(other.result)).toBe('run.id_reused')
    expect((await first.result).status).toBe('done')
    for (const other of others().slice(0, 3)) {
      expect(await codeOf(other.result)).toBe('run.id_reused')
    }
    expect(done).toHaveLength(1)
    await runtime.close()
  })

  it('L6: of two documents at once the first runs, however long it takes', async () => {
    const done: string[] = []
    const runtime = await new Machine().open({ blocks: counting(done) })
    // Prepared before, so the second is ready sooner.
    await runtime.lint(documentOf('ask'))
    const first = runtime.begin(documentOf('work'), options)
    const second = runtime.begin(documentOf('ask'), options)
    expect(await codeOf(second.result)).toBe('run.id_reused')
    expect((await first.result).status).toBe('done')
    await runtime.close()
  })

  it('L6: after a document that cannot run, the same id is free', async () => {
    const runtime = await new Machine().open({ blocks: counting([]) })
    const invalid = runtime.begin({ schema: 'tally-composite/1' }, options)
    const valid = runtime.begin(documentOf('work'), options)
    expect((await invalid.result).response.reason).toBe('invalid_graph')
    expect((await valid.result).status).toBe('done')
    await runtime.close()
  })

  it('L6: after a crash takes the work up, does it once, refuses other work', async () => {
    const done: string[] = []
    const machine = new Machine()
    const before = await machine.open({ blocks: counting(done) })
    before.begin(documentOf('work'), options)
    await until(() => done.length === 1)
    before.life.isDead = true
    machine.disk.crash('power')
    const after = await machine.open({ blocks: counting(done) })
    const again = [1, 2].map(() => after.begin(documentOf('work'), options))
    const other = after.begin(documentOf('work'), { id: 'r', inputs: {} })
    const [one, two] = await Promise.all(again.map((run) => run.result))
    expect(one).toEqual(two)
    expect(one?.status).toBe('done')
    expect(await codeOf(other.result)).toBe('run.id_reused')
    expect(new Set(done).size).toBe(1)
    await after.close()
    const last = await machine.open({ blocks: counting(done) })
    expect((await last.begin(documentOf('work'), options).result).response).toEqual(one?.response)
    await last.close()
  })

  it('L6: attaches to a parked run, whose answer reaches every caller', async () => {
    const runtime = await new Machine().open({ blocks: counting([]) })
    const first = runtime.begin(documentOf('ask'), options)
    await until(() => runtime.ledger.run('r' as RunId)?.status === 'waiting')
    const second = runtime.begin(documentOf('ask'), options)
    const [wait] = await second.waits()
    if (wait === undefined) throw new Error('it waits for nothing')
    expect(await second.approve(wait.token, { digest: wait.digest })).toEqual({ accepted: true })
    expect(await first.result).toEqual(await second.result)
    await runtime.close()
  })

  it('D4: what the caller does to its inputs afterwards changes nothing', async () => {
    const runtime = await new Machine().open({ blocks: counting([]) })
    const inputs: { a: number[]; more?: boolean } = { a: [1] }
    const run = runtime.begin(documentOf('work'), { id: 'r', inputs: inputs as Json })
    inputs.a.push(2)
    inputs.more = true
    await run.result
    expect(runtime.ledger.run('r' as RunId)?.started['input']).toEqual({ a: [1] })
    await runtime.close()
  })

  it('L6: ids and inputs that cannot be kept are refused', async () => {
    const runtime = await new Machine().open({ blocks: counting([]) })
    const start = (id: string, inputs: unknown) => async () =>
      runtime.begin(documentOf('work'), { id, inputs: inputs as Json }).result
    expect(await codeOf(start('', {})())).toBe('run.invalid_id')
    expect(await codeOf(start('a/b', {})())).toBe('run.invalid_id')
    for (const bad of [{ n: 2 ** 60 }, Number.NaN, { $blob: 'x' }, new Date(), '\ud800']) {
      expect(await codeOf(start('ok', bad)())).toMatch(/^core\./)
    }
    await runtime.close()
  })

  it('L7: close waits for what was sent, but not for ever', async () => {
    const machine = new Machine()
    const hangs = defineBlock({
      name: 'work',
      version: '1.0.0',
      sideEffects: 'none',
      run: (ctx) => ctx.effect('act', { perform: () => new Promise<Json>(() => undefined) })
    })
    const runtime = await machine.open({ blocks: [hangs] })
    const run = runtime.begin(documentOf('work'), options)
    await until(() => (runtime.ledger.run('r' as RunId)?.entries ?? 0) > 0)
    const closed = runtime.close()
    await settleDown(() => machine.clock.nextDue)
    machine.clock.advance(60_000)
    await closed
    expect(await codeOf(run.result)).toBe('run.interrupted')
  })
})
