import type { SideEffectClass } from '../../code/index.js'
import type { AdapterSettings, ExpectedOutput, TurnMode } from '../adapters/adapter.js'
import type { PromptSegment } from '../assets/segments.js'
import type { ModelPricing, ReturnStrategy, SwitchMode } from '../flow/schema.js'
import type { NodeEntry } from '../position/flow-position.js'
import type { BoundTool } from './tool.js'

/** An agent with everything that a turn of it needs: plain JSON, kept in the compiled flow. */
export interface BoundAgent {
  readonly agentId: string
  readonly adapterKind: string
  /** Of flow and agent; secrets are references. */
  readonly adapterConfig: AdapterSettings
  readonly segments: readonly PromptSegment[]
  readonly tools: readonly BoundTool[]
  /** Tool calls are done on the other side: an answer hands none back. */
  readonly runsTools: boolean
  /** Class of a turn, without the tools that the runtime does. */
  readonly sideEffects: SideEffectClass
  readonly turnMs: number
  /** Absent: no limit. */
  readonly sessionMs?: number
  readonly budgets: Budget
  readonly pricing?: ModelPricing
  readonly model?: string
  readonly temperature?: number
  readonly maxTokens?: number
  readonly delegation: DelegationPolicy
}

/** Bounds of what an agent or a flow may use in one run; absent: none. */
export interface Budget {
  readonly maxTokens?: number
  /** Decimal text. */
  readonly maxCostUsd?: string
  /** Turns. */
  readonly maxSteps?: number
  readonly maxWallClockMs?: number
}

export interface DelegationPolicy {
  /** Empty: any agent of the flow. */
  readonly allowedAgents: readonly string[]
  readonly switchModes: readonly SwitchMode[]
  readonly returnStrategy: ReturnStrategy
  readonly maxDelegations: number
}

/** Payload of the block `agent.turn`. */
export interface TurnPayload {
  readonly entry: NodeEntry
  readonly node: TurnNode
  readonly agent: BoundAgent
  /** Agents that it may hand tasks to, by id. */
  readonly delegates: Readonly<Record<string, BoundAgent>>
  readonly flowBudget: Budget
}

/** What the node of a flow says of its turns. */
export interface TurnNode {
  readonly turnMode: TurnMode
  readonly segments: readonly PromptSegment[]
  readonly expectedOutput?: ExpectedOutput
  readonly outputRetries: number
  /** Tries of a turn that failed with a retryable error, the first included. */
  readonly tries: number
  readonly retryMs: number
  readonly delegateTo?: string
}
