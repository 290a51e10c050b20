import type { NodeOptions, Request, Response, SideEffectClass } from '../../code/index.js'
import type { Json } from '../../core/index.js'
import type { CompiledExpression, Evaluated } from './expressions.js'
import type { Repair } from './retry-policy.js'
import type { Rows } from './rows.js'

/**
 * What a composite chart's functions look up: the compiled graph, beside the chart that is its
 * data.
 */
export interface CompositeGraph {
  readonly entry: string
  readonly maxSteps: number
  readonly nodes: ReadonlyMap<string, PlannedNode>
  /** Nodes that some value refers to, in the order of their places. */
  readonly kept: readonly string[]
  /** Before any of them has ended. */
  readonly noResponses: Responses
  readonly output: PlannedValue | null
  readonly isScoped: boolean
  /** The composite whose commit is one receipt (C4). */
  readonly isOutermostOverlay: boolean
  repair(name: string): Repair | undefined
}

export interface PlannedNode {
  readonly name: string
  readonly block: string
  readonly sideEffects: SideEffectClass
  /** Name under which the child's logic is registered: restored children are looked up by it. */
  readonly src: string
  readonly options: NodeOptions
  readonly input: PlannedValue | null
  readonly contextKeys: readonly string[]
  /**
   * Whether a confirmation is needed, by the child's request; null: `options.confirm` says it all.
   */
  readonly confirmWhen: Predicate | null
  /** In order; a null condition always matches. */
  readonly branches: readonly PlannedBranch[]
  /** Its place among the responses that some value refers to; null: none does. */
  readonly keptAt: number | null
}

/** Responses that some value refers to, by the places of their nodes; null: not ended. */
export type Responses = Rows<Response | null>

export interface PlannedValue {
  readonly expression: CompiledExpression<Json>
  /** Places of the responses that it may read: a value is not shown all of a long graph. */
  readonly reads: readonly number[]
}

export interface PlannedBranch {
  readonly target: string
  readonly condition: Predicate | null
  /** The condition as written, for messages. */
  readonly label: string
}

/** A condition, named or CEL. Never throws. */
export type Predicate = (response: Response, request: Request) => Evaluated<boolean>

/** What a node's end leads to. */
export type Choice =
  | { readonly kind: 'failed' }
  | { readonly kind: 'end' }
  | { readonly kind: 'branch'; readonly branch: number }
  | { readonly kind: 'condition'; readonly condition: string; readonly code: string }
  | { readonly kind: 'none' }

/** First match in order (B4); a condition that cannot be evaluated stops the search. */
export function choose(node: PlannedNode, response: Response, request: Request): Choice {
  if (!response.success) return { kind: 'failed' }
  if (node.branches.length === 0) return { kind: 'end' }
  for (const [branch, { condition, label }] of node.branches.entries()) {
    if (condition === null) return { kind: 'branch', branch }
    const answer = condition(response, request)
    if (!answer.ok) return { kind: 'condition', condition: label, code: answer.code }
    if (answer.value) return { kind: 'branch', branch }
  }
  return { kind: 'none' }
}

/**
 * Requests and responses are plain JSON by contract; their interfaces only lack the index
 * signature.
 */
export function asJson(value: Request | Response): Json {
  return value as unknown as Json
}
