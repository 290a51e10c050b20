import type { Json } from '../../../core/index.js'
import type { PlannedNode } from '../../chart/composite-graph.js'
import type { Rows } from '../../chart/rows.js'
import type { Repair } from '../../retry-policy.js'
import type { CompiledExpression } from '../graph/expressions.js'
import type { PlanDelivery } from './definition.js'
import type { NodeState } from './node-state.js'

/** What a plan chart's functions look up: the compiled graph, beside the chart that is its data. */
export interface PlanLibrary {
  readonly delivery: PlanDelivery
  /** In the order of the plan: what a node depends on stands before it. */
  readonly nodes: readonly PlanNode[]
  /** Places in `nodes`, by id. */
  readonly places: ReadonlyMap<string, number>
  /** Places of the nodes that depend on nothing. */
  readonly roots: readonly number[]
  /** How every node stands before anything runs. */
  readonly initial: Rows<NodeState>
  readonly lanes: Readonly<Record<string, number>>
  readonly output: CompiledExpression<Json> | null
  readonly isScoped: boolean
  /** The plan whose commit is one receipt (C4). */
  readonly isOutermostOverlay: boolean
  repair(name: string): Repair | undefined
}

/** A node as the chart's functions need it. */
export interface PlanNode extends Omit<PlannedNode, 'branches' | 'input' | 'keptAt'> {
  readonly place: number
  readonly input: CompiledExpression<Json> | null
  /** Some value refers to this node's response. */
  readonly isKept: boolean
  /** Places of the nodes that it depends on, as declared, and of those that depend on it. */
  readonly deps: readonly number[]
  readonly dependents: readonly number[]
  /** Starts only when every node before it has ended (C2). */
  readonly isInLine: boolean
  /** A failure blocks only what depends on it (W9). */
  readonly continues: boolean
  readonly lane: string | null
}
