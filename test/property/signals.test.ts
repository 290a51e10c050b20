import { describe, expect, it } from 'vitest'
import { type BlockContext, defineBlock } from '../../src/code/index.js'
import type { Json } from '../../src/core/index.js'
import { crashEverywhere } from '../support/crash-everywhere.js'
import type { World } from '../support/lives.js'
import type { Scenario } from '../support/run-to-end.js'

/** B3, W10: signals and crashes. A wait for a signal is answered by one with its token as id. */

function blocks(world: World) {
  const act = (ctx: BlockContext, request: string) =>
    ctx.effect('post', { request, perform: (call) => world.actOnce(call) })
  const takes = defineBlock({
    name: 'takes',
    version: '1.0.0',
    sideEffects: 'idempotent',
    run: async (ctx) => {
      const first = await ctx.signal('item')
      await act(ctx, 'between')
      const second = await ctx.signal('item')
      return [first, second]
    }
  })
  const fails = defineBlock({
    name: 'fails-once',
    version: '1.0.0',
    sideEffects: 'idempotent',
    run: async (ctx) => {
      const item = await ctx.signal('item')
      await act(ctx, 'before')
      if (ctx.attempt === 1) ctx.fail('once')
      return [item, await ctx.signal('other')]
    }
  })
  return [takes, fails]
}

function scenario(name: string, node: object = {}): Scenario {
  const document: Json = {
    schema: 'tally-composite/1',
    name: 'scenario',
    version: '1.0.0',
    entry_point: 'a',
    nodes: { a: { block: name, ...node } } as Json
  }
  return { document, inputs: {}, registrations: (world) => ({ blocks: blocks(world) }) }
}

describe('signals and crashes', () => {
  it('B3: none is lost and none is taken twice, whatever moment the process dies at', async () => {
    expect(await crashEverywhere(scenario('takes'))).toBeGreaterThan(5)
  })

  it('B3: one that a failed attempt took is taken by the next, in any process', async () => {
    const retried = scenario('fails-once', { recovery: [{ retry: { max_attempts: 2 } }] })
    expect(await crashEverywhere(retried)).toBeGreaterThan(5)
  })
})
