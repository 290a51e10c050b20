import type { Block, defineBlock } from '../../../src/block/index.js'
import type { Json } from '../../../src/core/index.js'

export function workerBlocks(define: typeof defineBlock, worldPath: string): readonly Block[]
export const workerDocument: Json
export const COUNTS_PER_RUN: number
