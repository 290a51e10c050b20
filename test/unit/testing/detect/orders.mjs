/** Blocks of the order example, as a list that detectors can be given. */
import { blocksOf } from '../../../../dist/examples/05-orders/blocks.js'

export const orders = blocksOf(2)
