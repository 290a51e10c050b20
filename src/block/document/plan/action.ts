import type { ParentSink } from '../../chart/parent-table.js'
import type { CompositeEvent } from '../../protocol.js'
import type { PlanContext } from './node-state.js'

/** The functions that `machines/plan.ts` names, over one compiled plan. Pure, never throwing. */
export type PlanAction = (
  context: PlanContext,
  event: CompositeEvent,
  params: object,
  sink: ParentSink
) => PlanContext
