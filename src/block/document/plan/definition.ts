import type { Json } from '../../../core/index.js'
import type { CompositeDefinition, NodeDefinition } from '../graph/definition.js'

/** Name of the document schema, and what tells a plan's definition from a composite's. */
export const planSchemaName = 'tally-plan/1'

/**
 * A dependency graph as the compiler takes it: the document with its defaults filled in. Plain
 * JSON; it stands in the run's first journal entry.
 */
export interface PlanDefinition {
  readonly schema: typeof planSchemaName
  readonly name: string
  readonly version: string
  /**
   * How results are delivered (D3). `arrival`: as they come, so that a slow branch never holds up a
   * quick one. `declared`: in the order of the nodes, so that receipts do not depend on timing
   * (C2).
   */
  readonly order: PlanDelivery
  /** With `declared` only: false runs one node after the other, to the same receipts. */
  readonly parallel: boolean
  /** Runs on an overlay and leaves one receipt, or nothing (C4). */
  readonly atomic: boolean
  /** How many nodes of a lane may run at once; with `arrival` only (W11). */
  readonly lanes: Readonly<Record<string, number>>
  /** In document order. */
  readonly nodes: readonly PlanNodeDefinition[]
  /** Over `request` and `nodes.<id>.response`; without it the result lists every node. */
  readonly output?: Json
}

export type PlanDelivery = 'arrival' | 'declared'

export interface PlanNodeDefinition extends Omit<NodeDefinition, 'onError'> {
  /** Unique in the plan; the last part of the actor path. */
  readonly id: string
  /** Nodes that must be done before this one starts. */
  readonly deps: readonly string[]
  /**
   * What a failure that recovery does not cure leads to (W9). `stop`: nothing new starts and the
   * plan fails. `continue`: only what depends on the node is blocked. `ask`: a person decides.
   */
  readonly onError: 'stop' | 'continue' | 'ask'
  readonly lane?: string
}

/** What a run can have for its root, as `run.started` keeps it. */
export type DocumentDefinition = CompositeDefinition | PlanDefinition

export function isPlanDefinition(definition: DocumentDefinition): definition is PlanDefinition {
  return 'schema' in definition && definition.schema === planSchemaName
}

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
