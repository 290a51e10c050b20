import type { Json } from '../core/index.js'
import type { BlockContext } from './context.js'
import type { SideEffectClass } from './protocol.js'

/** What executing a leaf needs of its block. */
export interface BlockCode {
  readonly sideEffects: SideEffectClass
  readonly capabilities: readonly string[]
  parseInput(value: Json): Parsed
  parseOutput(value: unknown): Parsed
  run(ctx: BlockContext, input: unknown): unknown
}

export type Parsed =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string }
