import type { Json } from '../../../core/index.js'
import type { RetryPolicyStep, SideEffectClass } from '../../protocol.js'

/** A composite as the compiler takes it: the document with its defaults filled in. Plain JSON. */
export interface CompositeDefinition extends GraphDefinition {
  readonly name: string
  readonly version: string
}

export interface GraphDefinition {
  readonly maxSteps: number
  readonly atomic: boolean
  readonly entryPoint: string
  /** In document order. */
  readonly nodes: Readonly<Record<string, NodeDefinition>>
  readonly transitions: Readonly<Record<string, readonly BranchDefinition[]>>
  readonly output?: Json
}

export interface NodeDefinition {
  readonly work: WorkDefinition
  readonly input?: Json
  readonly context: readonly string[]
  readonly recovery: readonly RetryPolicyStep[]
  readonly onError: 'stop' | 'ask'
  readonly timeoutMs?: number
  readonly confirm?: { readonly message?: string; readonly when?: ConditionDefinition }
  readonly sideEffects?: SideEffectClass
  /** Done after the commit of the atomic composite around it (C4). */
  readonly deferred?: true
}

export type WorkDefinition =
  | { readonly kind: 'block'; readonly block: string }
  /** Another document, registered under this name. */
  | { readonly kind: 'use'; readonly use: string }
  | { readonly kind: 'composite'; readonly graph: GraphDefinition }

/** A condition: `default` always matches. */
export type ConditionDefinition =
  | { readonly kind: 'default' }
  | { readonly kind: 'named'; readonly name: string }
  | { readonly kind: 'cel'; readonly cel: string }

export interface BranchDefinition {
  readonly condition: ConditionDefinition
  readonly target: string
}

/** Own entry of a record whose keys come from a document (`constructor` is a legal node name). */
export function entryOf<Value>(
  record: Readonly<Record<string, Value>>,
  key: string
): Value | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined
}
