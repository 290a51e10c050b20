import { afterEach, describe, expect, it } from 'vitest'
import { defineBlock } from '../../../../../src/code/index.js'
import { type Json, type JsonObject, ManualClock, nextTurn } from '../../../../../src/core/index.js'
import { createRuntime, type WiredRuntime } from '../../../../../src/runtime/index.js'
import { settleDown, until } from '../../../../support/lives.js'

const blocks = [
  defineBlock({ name: 'same', version: '1', sideEffects: 'none', run: (_, input) => input }),
  defineBlock({
    name: 'fail',
    version: '1',
    sideEffects: 'none',
    run: (ctx) => ctx.fail('broken', { why: 'told to' })
  }),
  defineBlock({
    name: 'ask',
    version: '1',
    sideEffects: 'none',
    run: async (ctx) => (await ctx.wait({ reason: 'external' })).value
  }),
  defineBlock({
    name: 'count',
    version: '1',
    sideEffects: 'none',
    run: (ctx) => {
      const n = (ctx.state.get<number>('n') ?? 0) + 1
      ctx.state.set('n', n)
      return { n, at: ctx.now() }
    }
  }),
  defineBlock({
    name: 'look',
    version: '1',
    sideEffects: 'none',
    run: async (ctx) => ctx.effect('look', async () => ctx.path)
  }),
  defineBlock({
    name: 'send',
    version: '1',
    run: async (ctx) => ctx.effect('send', async () => ctx.path)
  }),
  defineBlock({
    name: 'transact',
    version: '1',
    run: async (ctx) => {
      const sent = await ctx.effect('send', async () => ctx.path)
      await ctx.sleep(5_000)
      return { sent }
    }
  }),
  defineBlock({
    name: 'late',
    version: '1',
    sideEffects: 'none',
    run: async (ctx) => {
      await ctx.sleep(3_000)
      return ctx.fail('late')
    }
  })
]

let tally: WiredRuntime
afterEach(() => tally.close())

async function run(plan: JsonObject, inputs: Json = null) {
  tally = await createRuntime({ location: 'memory:', blocks })
  const document = { schema: 'tally-plan/1', name: 'p', version: '1', ...plan }
  const result = await tally.begin(document, { inputs }).result
  const report = await tally.verify({ executions: 2 })
  expect(report.failure).toBeUndefined()
  return result
}

const node = (id: string, deps: readonly string[] = [], more: JsonObject = {}) => ({
  id,
  deps,
  block: 'same',
  ...more
})

describe('a plan', () => {
  it('runs nodes after what they depend on, and lists what each returned', async () => {
    const result = await run(
      {
        nodes: [
          node('d', ['b', 'c'], {
            input: {
              array: [{ ref: 'nodes.b.response.data' }, { ref: 'nodes.c.response.data' }]
            }
          }),
          node('a'),
          node('b', ['a'], { input: { lit: 'b' } }),
          node('c', ['a'], { input: { ref: 'nodes.a.response.data.x' } })
        ]
      },
      { x: 1 }
    )
    expect(result.response.data).toEqual({
      nodes: {
        a: { status: 'done', data: { x: 1 } },
        b: { status: 'done', data: 'b' },
        c: { status: 'done', data: 1 },
        d: { status: 'done', data: ['b', 1] }
      }
    })
  })

  it('C2: with declared order, nodes that write act one at a time, as declared', async () => {
    const begun: string[] = []
    let acting = 0
    let most = 0
    const act = defineBlock({
      name: 'act',
      version: '1',
      run: (ctx) =>
        ctx.effect('act', async () => {
          begun.push(ctx.path)
          acting += 1
          most = Math.max(most, acting)
          for (let turn = 0; turn < 3; turn += 1) await nextTurn()
          acting -= 1
          return null
        })
    })
    tally = await createRuntime({ location: 'memory:', blocks: [act] })
    const nodes = ['c', 'a', 'b'].map((id) => node(id, [], { block: 'act' }))
    const document = { schema: 'tally-plan/1', name: 'p', version: '1', order: 'declared', nodes }
    expect((await tally.begin(document).result).status).toBe('done')
    expect([most, begun]).toEqual([1, ['root/c', 'root/a', 'root/b']])
  })

  it.each([['arrival'], ['declared']])('W9: stops at a failure with order %s', async (order) => {
    const result = await run({
      order,
      nodes: [node('a'), node('b', ['a'], { block: 'fail' }), node('c', ['b']), node('d', ['a'])]
    })
    expect(result.response).toMatchObject({
      success: false,
      reason: 'broken',
      details: {
        why: 'told to',
        failed_node: 'b',
        nodes: { a: { status: 'done' }, b: { status: 'failed' }, c: { status: 'blocked', by: 'b' } }
      }
    })
  })

  it('W9: a plan continues past a failure that is let pass', async () => {
    const result = await run({
      nodes: [
        node('a', [], { block: 'fail', on_error: 'continue' }),
        node('b', ['a']),
        node('c', ['b']),
        node('d')
      ]
    })
    expect(result.response.data).toEqual({
      nodes: {
        a: { status: 'failed', reason: 'broken' },
        b: { status: 'blocked', by: 'a' },
        c: { status: 'blocked', by: 'b' },
        d: { status: 'done', data: {} }
      }
    })
  })

  it('C4: an atomic plan leaves one receipt', async () => {
    const result = await run({
      atomic: true,
      order: 'declared',
      nodes: [
        node('a', [], { block: 'count' }),
        node('b', [], { block: 'count' }),
        node('c', ['a'], { block: 'count' })
      ],
      output: { object: { c: { ref: 'nodes.c.response.data.n' } } }
    })
    expect(result.response.data).toEqual({ c: 3 })
    expect(await tally.verify()).toMatchObject({ receipts: 2 })
  })

  it('L10: nodes that read what others write see what they would see one after the other', async () => {
    const nodes = ['a', 'b', 'c', 'd', 'e'].map((id) => node(id, [], { block: 'count' }))
    const result = await run({ order: 'declared', nodes })
    expect(result.response.data).toMatchObject({
      nodes: { a: { data: { n: 1 } }, c: { data: { n: 3 } }, e: { data: { n: 5 } } }
    })
  })

  it('W9: a failure ends what waits for a person, and lets what was sent come to its end', async () => {
    const clock = new ManualClock()
    tally = await createRuntime({ location: 'memory:', blocks, clock })
    const handle = tally.begin({
      schema: 'tally-plan/1',
      name: 'p',
      version: '1',
      nodes: [
        node('person', [], { block: 'ask' }),
        node('sent', [], { block: 'transact' }),
        node('late', [], { block: 'late' }),
        node('after', ['sent'])
      ]
    })
    let isOver = false
    const ended = handle.result.finally(() => {
      isOver = true
    })
    while (!isOver) {
      await settleDown(() => isOver)
      if (clock.nextDue !== undefined) clock.advance(clock.nextDue - clock.now())
    }
    const result = await ended
    expect((await tally.verify({ executions: 2 })).failure).toBeUndefined()
    expect(result.response).toMatchObject({
      reason: 'late',
      details: {
        failed_node: 'late',
        nodes: {
          person: { status: 'cancelled', reason: 'cancelled' },
          sent: { status: 'done' },
          late: { status: 'failed', reason: 'late' },
          after: { status: 'cancelled' }
        }
      }
    })
  })

  it('W5: bounds a node by its timeout, and cancels every node with the run', async () => {
    const slow = { block: 'ask', timeout_ms: 30, on_error: 'continue' }
    const result = await run({ nodes: [node('a', [], slow), node('b')] })
    expect(result.response.data).toMatchObject({
      nodes: { a: { status: 'failed', reason: 'timed_out' }, b: { status: 'done' } }
    })
    const waiting = { schema: 'tally-plan/1', name: 'w', version: '1' }
    const nodes = [node('a', [], { block: 'ask' }), node('b', [], { block: 'ask' })]
    const handle = tally.begin({ ...waiting, nodes }, { id: 'w', inputs: null })
    await until(async () => (await handle.waits()).length === 2)
    await handle.cancel('enough')
    expect(await handle.result).toMatchObject({
      status: 'cancelled',
      response: {
        details: { nodes: { a: { status: 'cancelled' }, b: { status: 'cancelled' } } }
      }
    })
    expect((await tally.verify()).ok).toBe(true)
  })

  it('W7: a plan waits only when nothing else can move, and plans nest', async () => {
    const inner = { schema: 'tally-plan/1', name: 'inner', version: '1' }
    tally = await createRuntime({
      location: 'memory:',
      blocks,
      composites: [{ ...inner, nodes: [node('x', [], { block: 'ask' }), node('y')] }]
    })
    const handle = tally.begin({
      ...inner,
      name: 'outer',
      nodes: [{ id: 'i', use: 'inner' }, node('j'), node('k', ['j'], { block: 'ask' })]
    })
    await until(async () => (await handle.waits()).length === 2)
    for (const { token, digest, path } of await handle.waits()) {
      await handle.resume(token, { digest, by: 'me', value: path })
    }
    const { response } = await handle.result
    expect(response.data).toMatchObject({
      nodes: {
        i: { data: { nodes: { x: { data: 'root/i/x' }, y: { status: 'done' } } } },
        k: { data: 'root/k' }
      }
    })
    expect(await tally.verify({ executions: 2 })).toMatchObject({ ok: true })
  })

  it('does outside things', async () => {
    const result = await run({
      order: 'declared',
      nodes: [
        node('a', [], { block: 'look' }),
        node('b', [], { block: 'send' }),
        node('c', ['b'], { block: 'look' })
      ]
    })
    expect(result.status).toBe('done')
  })
})
