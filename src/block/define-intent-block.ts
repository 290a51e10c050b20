import { z } from 'zod'
import type { Block } from './define.js'
import { defineBlock } from './define.js'
import type { KernelWork } from './intent-port.js'
import type { SideEffectClass } from './protocol.js'

/** A leaf whose code is the kernel's. Not for code from outside: it can write any state. */
export function defineIntentBlock(definition: {
  readonly name: string
  readonly version: string
  readonly sideEffects: SideEffectClass
  readonly work: KernelWork
}): Block {
  const { name, version, sideEffects, work } = definition
  const block = defineBlock({
    name,
    version,
    sideEffects,
    input: z.json(),
    run: (ctx) => ctx.fail('invalid_operation')
  })
  // Its input is checked by the kernel itself.
  return Object.freeze<Block>({
    ...block,
    parseInput: (value) => ({ ok: true, value }),
    kernel: work
  })
}
