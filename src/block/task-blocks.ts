import { z } from 'zod'
import { type AttemptCommand, sideEffectClasses } from './chart/protocol.js'
import { type Block, defineBlock } from './code/block.js'

/** Blocks of the work that overlays leave behind them (C4). */

const compensationInput = z.object({
  undoes: z.json(),
  effect: z.string(),
  request: z.json(),
  sideEffects: z.enum(sideEffectClasses)
})

/**
 * The block of every compensation: one effect, with its receipt. Its payload may hold what another
 * block keeps private, so it is private.
 */
export const compensationBlock: Block = defineBlock({
  name: 'tally.compensation',
  version: '1',
  sideEffects: 'non_idempotent',
  private: { input: true, output: true },
  input: compensationInput,
  run: (ctx, { effect, request, sideEffects }) => ctx.effect(effect, { request, sideEffects })
})

/** What a deferred step answers in its composite's result. */
export const deferredResult = { deferred: true } as const

/**
 * A block that only checks what it is to do later: it stands for a deferred one until its commit.
 */
export function putOff(block: Block): Block {
  const { kernel: _, ...rest } = block
  return Object.freeze<Block>({
    ...rest,
    parseOutput: (value) => ({ ok: true, value }),
    run: () => deferredResult
  })
}

/** Who runs an attempt: the provider of a fallback, which the kernel chooses itself (C3). */
export function blockOf(
  { block, provider }: Pick<AttemptCommand, 'block' | 'provider'>,
  named: (name: string) => Block | undefined
): Block | undefined {
  if (block === compensationBlock.name) return compensationBlock
  const own = named(block)
  return own?.kernel !== undefined || provider === null ? own : named(provider)
}
