/** A small workflow to simulate. Used by the tests of the simulator, by its row and by the soak. */
import { type Block, defineBlock } from '../src/code/index.js'
import type { DocumentTarget, SimulatedEffect, SimulationOptions } from '../src/testing/index.js'

/** Three steps: one asks the world, one changes state, one asks the world to act. */
export function threeSteps(): DocumentTarget {
  const quote = defineBlock({
    name: 'quote',
    version: '1.0.0',
    sideEffects: 'none',
    async run(ctx) {
      return ctx.effect<{ cents: number }>('shop.quote', { request: {} })
    }
  })
  const reserve = defineBlock({
    name: 'reserve',
    version: '1.0.0',
    sideEffects: 'none',
    async run(ctx) {
      const before = ctx.state.get('reserved')
      const reserved = typeof before === 'number' ? before + 1 : 1
      ctx.state.set('reserved', reserved)
      return { reserved }
    }
  })
  const order = defineBlock({
    name: 'order',
    version: '1.0.0',
    sideEffects: 'idempotent',
    async run(ctx) {
      return ctx.effect<{ ordered: boolean }>('shop.order', { request: {} })
    }
  })
  return inOrder([quote, reserve, order])
}

/** A composite that does blocks one after the other, each again when it fails. */
export function inOrder(blocks: readonly Block[]): DocumentTarget {
  const again = [{ retry: { max_attempts: 3, interval_ms: 10 } }]
  const names = blocks.map(({ name }) => name)
  const document = {
    schema: 'tally-composite/1',
    name: 'in-order',
    version: '1.0.0',
    entry_point: names[0] ?? '',
    nodes: Object.fromEntries(names.map((name) => [name, { block: name, recovery: again }])),
    transitions: Object.fromEntries(
      names.slice(0, -1).map((name, index) => [name, names[index + 1] ?? ''])
    )
  }
  return { blocks, document }
}

export const shopEffects: Readonly<Record<string, SimulatedEffect>> = {
  'shop.quote': { answer: () => ({ cents: 100 }) },
  'shop.order': { answer: () => ({ ordered: true }) }
}

/** Two shops beside each other, of which one has two orders: what a night of seeds simulates. */
export function shopStory(): Omit<SimulationOptions, 'seed'> {
  const target = threeSteps()
  return {
    nodes: { a: { target, runs: [{}, {}] }, b: { target, runs: [{}] } },
    effects: shopEffects,
    always: {
      'each receipt of reserving has reserved once': ({ nodes }) =>
        Object.values(nodes).every(({ state, receipts }) => {
          const { length } = receipts.filter(({ intent }) => intent === 'reserve')
          return (state['reserved'] ?? 0) === length
        })
    }
  }
}
