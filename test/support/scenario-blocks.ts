import { type Block, defineBlock, EffectFailure } from '../../src/code/index.js'
import type { Json } from '../../src/core/index.js'
import type { Registrations } from '../../src/runtime/index.js'
import type { World } from './lives.js'

/** Blocks that between them use everything a context has. */
export function scenarioBlocks(world: World): Registrations {
  return {
    blocks: [
      ...stateBlocks(),
      ...effectBlocks(world),
      ...waitingBlocks(world),
      ...failingBlocks(world)
    ]
  }
}

function stateBlocks(): readonly Block[] {
  return [
    defineBlock({
      name: 'count',
      version: '1.0.0',
      sideEffects: 'none',
      run: (ctx) => {
        const n = (ctx.state.get<number>('n') ?? 0) + 1
        ctx.state.set('n', n)
        return { n, at: ctx.now(), random: ctx.random(), uuid: ctx.uuid() }
      }
    }),
    defineBlock({
      name: 'note',
      version: '1.0.0',
      sideEffects: 'none',
      run: async (ctx) => {
        const before = await ctx.state.list('note/')
        ctx.state.set(`note/${before.length}`, ctx.unitId)
        return { notes: before.length + 1 }
      }
    })
  ]
}

function effectBlocks(world: World): readonly Block[] {
  return [
    defineBlock({
      name: 'look',
      version: '1.0.0',
      sideEffects: 'none',
      run: (ctx) =>
        ctx.effect('look', {
          request: { unit: ctx.unitId },
          perform: (call) => world.look(call)
        })
    }),
    defineBlock({
      name: 'pay',
      version: '1.0.0',
      sideEffects: 'non_idempotent',
      run: (ctx) =>
        ctx.effect('pay', {
          request: { pays: ctx.unitId },
          perform: (call) => world.act(call),
          locate: (call) => world.locate(call)
        })
    }),
    defineBlock({
      name: 'post',
      version: '1.0.0',
      sideEffects: 'idempotent',
      run: (ctx) =>
        ctx.effect('post', {
          request: { posts: ctx.unitId },
          perform: (call) => world.actOnce(call)
        })
    }),
    // Its outcome is unknown: after a crash a person decides.
    defineBlock({
      name: 'blind',
      version: '1.0.0',
      sideEffects: 'non_idempotent',
      run: (ctx) =>
        ctx.effect('blind', {
          request: { blindly: ctx.unitId },
          perform: (call) => world.act(call)
        })
    }),
    defineBlock({
      name: 'fan',
      version: '1.0.0',
      sideEffects: 'idempotent',
      run: async (ctx) => {
        const results = await Promise.all([
          ctx.effect('look', { request: 1, sideEffects: 'none', perform: (c) => world.look(c) }),
          ctx.effect('post', { request: { a: ctx.unitId }, perform: (c) => world.actOnce(c) }),
          ctx.effect('post', { request: { b: ctx.unitId }, perform: (c) => world.actOnce(c) })
        ])
        return results
      }
    })
  ]
}

function waitingBlocks(world: World): readonly Block[] {
  return [
    defineBlock({
      name: 'ask',
      version: '1.0.0',
      sideEffects: 'none',
      run: async (ctx) => {
        const { action, value } = await ctx.wait({ reason: 'external', request: 'what?' })
        return { action, value }
      }
    }),
    defineBlock({
      name: 'nap',
      version: '1.0.0',
      sideEffects: 'none',
      run: async (ctx) => {
        await ctx.sleep(5_000)
        return { slept: true }
      }
    }),
    defineBlock({
      name: 'mixed',
      version: '1.0.0',
      sideEffects: 'non_idempotent',
      run: async (ctx) => {
        const seen = await ctx.effect('look', {
          request: 'first',
          sideEffects: 'none',
          perform: (call) => world.look(call)
        })
        const keys = await ctx.state.list('note/')
        const paid = await ctx.effect('pay', {
          request: { mixed: ctx.unitId },
          perform: (call) => world.act(call),
          locate: (call) => world.locate(call)
        })
        const [answer] = await Promise.all([
          ctx.wait({ reason: 'confirmation', request: { keys: keys.length } }),
          ctx.sleep(2_000)
        ])
        await ctx.effect('post', {
          request: { after: ctx.unitId },
          sideEffects: 'idempotent',
          perform: (call) => world.actOnce(call)
        })
        ctx.state.set('mixed', answer.action)
        return { seen, paid, answer: answer.action } as Json
      }
    })
  ]
}

function failingBlocks(world: World): readonly Block[] {
  return [
    // Fails twice with a result behind it, then succeeds; what it paid must not be paid again.
    defineBlock({
      name: 'flaky',
      version: '1.0.0',
      sideEffects: 'idempotent',
      run: async (ctx) => {
        const paid = await ctx.effect('post', {
          request: { flaky: ctx.unitId },
          perform: (call) => world.actOnce(call)
        })
        await ctx.effect('look', {
          request: 'flaky',
          sideEffects: 'none',
          perform: (call) => {
            if (ctx.attempt < 3) throw new EffectFailure('not_yet', { definite: true })
            return world.look(call)
          }
        })
        return { paid, attempt: ctx.attempt }
      }
    }),
    defineBlock({
      name: 'boom',
      version: '1.0.0',
      sideEffects: 'none',
      run: (ctx) => ctx.fail('boom', { attempt: ctx.attempt })
    })
  ]
}
