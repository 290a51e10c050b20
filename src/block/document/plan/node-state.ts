import { type BlockIdentity, idleRun } from '../../chart/chart-run.js'
import type { ParentRun } from '../../chart/parent.js'
import type { Rows } from '../../chart/rows.js'
import type { Response, WaitReason } from '../../protocol.js'
import type { PlanNodeEnd } from './definition.js'

/** How the nodes of one run of a plan stand. Plain JSON: all of it survives a restart. */

export type NodeState =
  /** Waits for nodes that it depends on. */
  | { readonly status: 'idle'; readonly missing: number }
  /** May start, and waits for its turn or for room in its lane; `next` in the lane's queue. */
  | { readonly status: 'queued'; readonly next: number | null }
  | { readonly status: 'running'; readonly isCancelled: boolean }
  | { readonly status: 'waiting'; readonly isCancelled: boolean; readonly sent: boolean }
  /** Ended; the data is kept where a value or the result needs it. */
  | { readonly status: PlanNodeEnd; readonly response: Response | null; readonly by: string | null }

/** A lane's room, and who waits for it: first and last of a queue that `next` joins. */
export interface LaneState {
  readonly running: number
  readonly first: number | null
  readonly last: number | null
}

export interface PlanContext extends ParentRun {
  readonly runId: string | null
  /**
   * Steps given to children of this path in this run. Every attempt takes one for each node, by its
   * place: so a unit's id does not depend on timing, and none is given twice (L6).
   */
  readonly childExecutions: number
  readonly nodes: Rows<NodeState>
  readonly lanes: Readonly<Record<string, LaneState>>
  /** Places that may start now; empty between two events. */
  readonly ready: readonly number[]
  /** Nodes under way, those that wait included. */
  readonly active: number
  readonly waiting: number
  /** Of those that wait, how many have sent something. */
  readonly sent: number
  /** Nodes that have not ended. */
  readonly open: number
  /** Every node before this place has ended. */
  readonly frontier: number
  /** Why the child waits that said so last. */
  readonly childReason: WaitReason
}

export type PlanCounters = Pick<PlanContext, 'childExecutions' | 'runId'>

export function idlePlan(
  identity: BlockIdentity,
  { childExecutions, runId }: PlanCounters = { childExecutions: 0, runId: null }
): PlanContext {
  return {
    runId,
    childExecutions,
    nodes: noNodes,
    lanes: noLanes,
    ready: noPlaces,
    active: 0,
    waiting: 0,
    sent: 0,
    open: 0,
    frontier: 0,
    childReason: 'external',
    held: null,
    scopeAt: 0,
    ...idleRun(identity)
  }
}

const noNodes: Rows<NodeState> = []
const noLanes: PlanContext['lanes'] = {}
export const noPlaces: readonly number[] = []

export function hasEnded(
  state: NodeState
): state is Extract<NodeState, { readonly status: PlanNodeEnd }> {
  return (
    state.status === 'done' ||
    state.status === 'failed' ||
    state.status === 'blocked' ||
    state.status === 'cancelled'
  )
}
