/** A block with a fault, as a script of a counterexample imports it. */
import { defineBlock } from '../../../../dist/src/code/index.js'

export const target = defineBlock({
  name: 'blindly',
  version: '1.0.0',
  sideEffects: 'idempotent',
  run: async (ctx) => {
    const request = { amount: 1 }
    try {
      return await ctx.effect('pay', { request })
    } catch {
      return await ctx.effect('pay', { request })
    }
  }
})

export const options = { effects: { pay: { answer: () => 'paid' } } }
