import type { Json } from '../../core/index.js'
import type { SimpleExecution } from '../document/execution.js'
import type { HardConstraints } from '../document/protocol.js'
import type { AisValue } from '../document/value.js'
import type { ScopedValue } from '../value/compile.js'

/**
 * A workflow with everything looked up that can be without running it (W1, W2): plain JSON whose
 * canonical bytes depend on nothing but what the documents mean. Key order, the order of nodes and
 * of their `deps`, and dependencies that are said twice leave no trace.
 */
export interface AisPlan {
  readonly schema: typeof planSchemaName
  readonly name: string
  readonly version: string
  readonly inputs: Readonly<Record<string, PlanInput>>
  /** Defaults of `policy`, which the caller of the plan may replace. */
  readonly policy: Readonly<Record<string, Json>>
  /** Sorted by depth in the graph, then by id. */
  readonly nodes: readonly AisPlanNode[]
  readonly outputs: Readonly<Record<string, AisValue>>
  /** Types of what outputs and other values of the workflow read. */
  readonly amounts: readonly string[]
  readonly requiresPack: { readonly name: string; readonly version: string } | null
  /** Of all nodes, where there are such; see {@link AisPlanNode.places}. */
  readonly places?: PlanPlaces
}

export const planSchemaName = 'ais-plan/0.0.3'

export interface PlanInput {
  readonly type: string
  readonly required: boolean
  readonly default?: Json
}

/** A node of an AIS plan. */
export interface AisPlanNode {
  readonly id: string
  /** CAIP-2. */
  readonly chain: string
  readonly kind: 'action' | 'query'
  readonly source: NodeSource
  /** Ids, sorted: what it names and what it waits for. */
  readonly deps: readonly string[]
  /** All must hold, else the node is skipped. */
  readonly conditions: readonly ScopedValue[]
  readonly preconditions: readonly AisValue[]
  readonly params: readonly PlanParam[]
  /** In an order in which each finds those it reads. */
  readonly calculated: readonly PlanCalculated[]
  readonly contracts: readonly PlanContract[]
  /** Names of the protocol's queries to the nodes that have asked them. */
  readonly queries: Readonly<Record<string, string>>
  readonly execution: SimpleExecution
  /** State that a query reads, where it says one: a tag, or a number as text. */
  readonly block?: string
  /** Key of the execution map that was chosen: exact, `namespace:*` or `*`. */
  readonly pattern: string
  readonly returns: readonly { readonly name: string; readonly type: string }[]
  readonly assert: AisValue | null
  readonly assertMessage: string | null
  readonly until: AisValue | null
  readonly retry: PlanRetry | null
  readonly timeoutMs: number | null
  readonly onError: 'stop' | 'continue' | 'ask'
  /** Whether the chain simulates it before it is signed. */
  readonly simulate: boolean
  /** Null for queries. */
  readonly risk: PlanRisk | null
  /** Paths whose text is an amount, for its expressions (W4). */
  readonly amounts: readonly string[]
  /** Of nodes that it reads: those whose ids hold "__" in the workflow already. */
  readonly places?: PlanPlaces
}

/** By id in the plan: the node of the workflow, and its step if it is one. */
export type PlanPlaces = Readonly<
  Record<string, { readonly node: string; readonly step: string | null }>
>

/** What of the documents a node comes from. */
export interface NodeSource {
  /** The workflow's node; a composite makes several of one. */
  readonly node: string
  readonly protocol: string
  /** Name of the action or query. */
  readonly name: string
  /** Step of a composite; null when the action is not one. */
  readonly step: string | null
}

export interface PlanParam {
  readonly name: string
  readonly type: string
  /** From the node's arguments, the default, or absent for a parameter that may be left out. */
  readonly value: AisValue | null
  readonly constraints: Readonly<Record<string, Json>> | null
  /** Parameter that is the asset of a token amount. */
  readonly assetRef: string | null
}

export interface PlanCalculated extends ScopedValue {
  readonly name: string
}

/** An address by name (W8). Null: only the runtime can say it. */
export interface PlanContract {
  readonly name: string
  readonly address: string | null
  /** Protocol whose deployment has it. */
  readonly from: string | null
  /** Whether the bare name means the same for every node that reads it. */
  readonly isShared: boolean
}

export interface PlanRetry {
  readonly intervalMs: number
  readonly maxAttempts: number | null
  readonly backoff: 'fixed' | 'linear' | 'exp'
  readonly maxIntervalMs: number | null
}

export interface PlanRisk {
  readonly level: number
  readonly tags: readonly string[]
  readonly constraints: HardConstraints
  /** Bounds that are known when the node is ready. */
  readonly bounds?: Readonly<Record<string, AisValue>>
}
