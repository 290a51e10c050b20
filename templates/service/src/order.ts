import { defineWorkflow } from 'tallystick'
import { z } from 'zod'

export const Order = z.object({ item: z.string().min(1), cents: z.int().positive() })

/** What performs the payment. The tests bring another one. */
export interface Payments {
  /** Charges once for each key, however often it is asked. */
  charge(cents: number, key: string): Promise<string>
}

export type OrderWorkflow = ReturnType<typeof orderWorkflow>

/** Charges, packs, ships. Raise the version when you change what the function does. */
export function orderWorkflow(payments: Payments) {
  return defineWorkflow({
    name: 'order',
    version: '1.0.0',
    input: Order,
    async run(ctx, { item, cents }) {
      // After a crash in its midst the step is done again with the same key.
      const payment = await ctx.step('charge', (_, { key }) => payments.charge(cents, key), null, {
        sideEffects: 'idempotent',
        retry: { attempts: 5, interval: '1s' }
      })
      await ctx.publish('progress', 'packing')
      await ctx.sleep('2s')
      await ctx.step('ship', () => ({ item }), null, { sideEffects: 'none' })
      await ctx.publish('progress', 'shipped')
      return { payment, shipped: item }
    }
  })
}
