import { type Block, defineBlock } from 'tallystick'
import { z } from 'zod'

export const Order = z.object({
  item: z.string().min(1).max(100),
  /** Whole cents. */
  cents: z.int().positive()
})
export type Order = z.infer<typeof Order>

/** What a person has to look at before the bank is asked. */
export const APPROVED_FROM_CENTS = 50_000
const DAY_MS = 86_400_000

const approve = defineBlock({
  name: 'shop.approve',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx, { item, cents }: Order) => {
    if (cents < APPROVED_FROM_CENTS) return { approved: true }
    const request = { message: `Sell ${item} for ${cents} cents?` }
    const { action } = await ctx.wait({ reason: 'confirmation', request })
    return { approved: action === 'approve' }
  }
})

const charge = defineBlock({
  name: 'shop.charge',
  version: '1.0.0',
  sideEffects: 'non_idempotent',
  run: async (ctx, { cents }: Order) => ctx.effect('bank.charge', { request: { cents } })
})

const settle = defineBlock({
  name: 'shop.settle',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx) => {
    const settled = await ctx.signal('settled', z.object({ reference: z.string() }), {
      timeoutMs: 7 * DAY_MS
    })
    return { reference: settled?.reference ?? null }
  }
})

const decline = defineBlock({
  name: 'shop.decline',
  version: '1.0.0',
  sideEffects: 'none',
  run: () => ({ declined: true })
})

/** The code that a deploy changes: each release of the service brings the next version. */
const ship = ['1.0.0', '1.1.0', '1.2.0'].map((version) =>
  defineBlock({
    name: 'shop.ship',
    version,
    sideEffects: 'none',
    run: async (ctx, { item }: Order) => {
      await ctx.sleep(20)
      return version === '1.0.0' ? { shipped: item } : { shipped: item, packedBy: version }
    }
  })
)

/**
 * The blocks of a release. Those that open orders have pinned stay beside the new ones: an order
 * ends with the code that it began with.
 */
export function blocksOf(release: number): readonly Block[] {
  return [approve, charge, settle, decline, ...ship.slice(0, release + 1)]
}
