import type { Group } from '../row.js'
import { alone } from './alone.js'
import { together } from './together.js'

/** In the order in which they run. */
export const groups: readonly Group[] = [together, alone]
