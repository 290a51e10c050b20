import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { compensationBlock } from '../../../../src/block/run/overlay-tasks.js'
import { type Block, defineBlock, defineIntentBlock } from '../../../../src/code/index.js'
import { limits } from '../../../../src/core/index.js'
import { resolveBlock } from '../../../../src/intent/index.js'

/** What a program would define to get the same block. */
function defined({ name, version }: Block, input: z.ZodType): Block {
  return defineBlock({ name, version, input, run: () => null })
}

describe('blocks of this library', () => {
  it('have the hash that receipts name for good, without making their schemas', () => {
    const undone = z.object({
      undoes: z.json(),
      effect: z.string(),
      request: z.json(),
      sideEffects: z.enum(['none', 'idempotent', 'non_idempotent'])
    })
    const action = z.strictObject({
      action: z.string(),
      description: z.string().optional(),
      inputs: z.json().optional()
    })
    const told = z.strictObject({
      text: z.string().min(1).max(limits.RAW_INTENT_LENGTH_MAX),
      actions: z.array(action).max(limits.KNOWN_ACTIONS_MAX),
      provider: z.string().nullable()
    })
    const work = { run: () => null, codeOf: async () => undefined }
    const kernel = defineIntentBlock({ name: 'a', version: '1', sideEffects: 'none', work })
    expect(compensationBlock.codeHash).toBe(defined(compensationBlock, undone).codeHash)
    expect(resolveBlock.codeHash).toBe(defined(resolveBlock, told).codeHash)
    expect(kernel.codeHash).toBe(defined(kernel, z.json()).codeHash)
  })
})
