import { setup } from 'xstate'
import { intentChart } from '../../machines/intent.js'
import type { StageEvent } from './stages.js'

/**
 * The chart of machines/intent.ts with its types, for tools and inspectors: fold the events of a
 * {@link StageListener} through it to see where an intent is.
 */
export const intentMachine = setup({
  types: {
    events: {} as { readonly type: StageEvent | 'stage.committed' }
  }
}).createMachine(intentChart)
