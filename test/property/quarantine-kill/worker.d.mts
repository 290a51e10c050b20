import type { Block, defineBlock } from '../../../src/block/index.js'

/** The run whose results are the same each time. */
export const HONEST: string
/** The run whose first result is another one in each process. */
export const IMPURE: string
export function workerBlocks(define: typeof defineBlock, worldPath: string): readonly Block[]
