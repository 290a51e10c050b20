import { defineBlock } from '../../src/code/index.js'
import { honest } from './tamper-table.js'

/** What was paid in this process: a forged question that is answered ends here. */
export const paid: string[] = []

/** Asks, pays, keeps what it paid. */
export const payBlock = defineBlock({
  name: 'pay',
  version: '1',
  sideEffects: 'none',
  capabilities: ['pay'],
  run: async (ctx, input: { readonly ask: string }) => {
    await ctx.wait({ reason: 'confirmation', request: input.ask })
    await ctx.effect('pay', { request: input.ask, perform: () => paid.push(input.ask) })
    ctx.state.set(`paid/${ctx.uuid()}`, input.ask)
    return honest.result
  }
})
