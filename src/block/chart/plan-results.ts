import type { Json } from '../../core/index.js'

/**
 * How a plan delivers the results of its nodes (D3). `arrival`: as they come, so that a slow branch
 * never holds up a quick one. `declared`: in the order of the nodes, so that receipts do not depend
 * on timing (C2).
 */
export type PlanDelivery = 'arrival' | 'declared'

/** How one node of a plan stands in the end; `details.nodes` and the result list them by id. */
export interface PlanNodeResult {
  readonly status: PlanNodeEnd
  /** What the node returned; only in the result, and only when it is done. */
  readonly data?: Json
  /** Why it has failed or was cancelled. */
  readonly reason?: string
  /** The node, not done, that it depends on; only when it is blocked. */
  readonly by?: string
}

/**
 * `done`, also when a person has skipped it; `failed`; `blocked`: something that it depends on has
 * not been done; `cancelled`: it was under way, or not begun, when the plan was stopped.
 */
export type PlanNodeEnd = 'done' | 'failed' | 'blocked' | 'cancelled'
