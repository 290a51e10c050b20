import { setup } from 'xstate'
import { blockChart } from '../../../machines/block.js'
import { limits } from '../../core/index.js'
import type { LeafEvent } from '../protocol.js'
import { type BlockIdentity, idleRun } from './chart-run.js'
import { type ChartAction, type ChartGuard, chartAction, tell } from './glue.js'
import { type LeafContext, type LeafLibrary, leafActions, leafGuards } from './leaf-actions.js'

/**
 * The leaf as an interpreted XState machine: what is drawn and inspected, and what the table is
 * compared with. Runs use the table.
 */
export function leafMachine(library: LeafLibrary) {
  const actions: Record<string, ChartAction<LeafContext, LeafEvent, never>> = { tell }
  for (const [name, action] of Object.entries(leafActions)) {
    actions[name] = chartAction((context, event, _params, sink) =>
      action(context, event, sink, library)
    )
  }
  const guards: Record<string, ChartGuard<LeafContext, LeafEvent>> = {}
  for (const [name, guard] of Object.entries(leafGuards)) {
    guards[name] = ({ context, event }) => guard(context, event, library)
  }
  return setup({
    types: {
      context: {} as LeafContext,
      events: {} as LeafEvent,
      input: {} as BlockIdentity
    },
    actions,
    guards
  }).createMachine({
    ...blockChart,
    context: ({ input }) => idleRun(input),
    options: { maxIterations: limits.CHART_ITERATIONS_MAX }
  })
}
