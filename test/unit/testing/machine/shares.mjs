/** Blocks as processes that share cases import them: a good one, and one with a fault. */
import { z } from 'zod'
import { defineBlock } from '../../../../dist/src/code/index.js'
import { collectorOptions } from '../../../../dist/src/testing/collector.js'

const input = z.object({ amount: z.int().min(1).max(9) })
const common = { version: '1.0.0', sideEffects: 'idempotent', input }

export const patient = defineBlock({
  ...common,
  name: 'patient',
  run: (ctx, request) => ctx.effect('pay', { request })
})

export const blind = defineBlock({
  ...common,
  name: 'blind',
  run: async (ctx, request) => {
    try {
      return await ctx.effect('pay', { request })
    } catch {
      return await ctx.effect('pay', { request })
    }
  }
})

/** What is paid only in a process that collects as shares do. */
export const collecting = {
  effects: {
    pay: {
      answer: () => {
        const missing = collectorOptions.filter((option) => !process.execArgv.includes(option))
        if (missing.length > 0) throw new Error(`without ${missing.join(' ')}`)
        return 'paid'
      }
    }
  }
}

export const options = { effects: { pay: { answer: () => 'paid' } } }
