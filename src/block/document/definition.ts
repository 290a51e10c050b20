import type { RetryPolicyStep, SideEffectClass } from '../../code/index.js'
import {
  type Approvers,
  type DocumentPath,
  FirstFindings,
  type Json,
  type Locate,
  type Pieces,
  type ReportOptions,
  reported,
  reporting
} from '../../core/index.js'
import type { PlanDelivery } from '../chart/plan-results.js'

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
  readonly confirm?: {
    readonly message?: string
    readonly when?: ConditionDefinition
    /** Who has to sign the answer (K13). */
    readonly approvers?: Approvers
  }
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
  /** How results are delivered (D3). */
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
  /** With `ask`: its time does not run while a person decides, and ends no run (W13). */
  readonly parks?: true
  readonly lane?: string
}

/** What a run can have for its root, as `run.started` keeps it. */
export type DocumentDefinition = CompositeDefinition | PlanDefinition

export function isPlanDefinition(definition: DocumentDefinition): definition is PlanDefinition {
  return 'schema' in definition && definition.schema === planSchemaName
}

/** One thing wrong, or doubtful, in a composite document. */
export interface Diagnostic {
  /** Reason label of B5, or `lint` for a warning. */
  readonly reason:
    | 'invalid_graph'
    | 'unknown_node'
    | 'unknown_block'
    | 'condition_resolution_error'
    | 'lint'
  /** Keys from the root of the document. */
  readonly path: DocumentPath
  readonly message: string
  /** From 1; absent without the document's text. */
  readonly line?: number
  readonly column?: number
  /** In the last diagnostic of a report that leaves some out: how many. */
  readonly more?: number
}

export type { DocumentPath, Locate }

/** What is found wrong with one document, or doubtful in it, as far as a report shows it. */
export class Problems {
  readonly #found = new FirstFindings<Diagnostic>()
  readonly #reasonOfMore: Diagnostic['reason']

  /** What the note says that stands for those that are not shown. */
  constructor(reasonOfMore: Diagnostic['reason'] = 'invalid_graph') {
    this.#reasonOfMore = reasonOfMore
  }

  get isEmpty(): boolean {
    return this.#found.isEmpty
  }

  get list(): readonly Diagnostic[] {
    return this.#found.list((more) => moreProblems(more, this.#reasonOfMore))
  }

  refuse(reason: Diagnostic['reason'], path: DocumentPath, message: string): void {
    this.#found.add({ reason, path, message })
  }

  add(found: readonly Diagnostic[]): void {
    for (const one of found) this.#found.add(one)
  }
}

/** The note of a list that leaves problems out. */
export function moreProblems(
  more: number,
  reason: Diagnostic['reason'] = 'invalid_graph'
): Diagnostic {
  return { reason, path: [], message: `${more} more findings are not shown`, more }
}

/** Diagnostics as a report shows them: not too many, errors first when there are. */
export function reportedDiagnostics(
  found: readonly Diagnostic[],
  locate?: Locate
): readonly Diagnostic[] {
  return reported(found, reportOptions(locate))
}

/** {@link reportedDiagnostics} in pieces. */
export function reportingDiagnostics(
  found: readonly Diagnostic[],
  locate?: Locate
): Pieces<readonly Diagnostic[]> {
  return reporting(found, reportOptions(locate))
}

function reportOptions(locate: Locate | undefined): ReportOptions<Diagnostic> {
  return {
    locate,
    isError: ({ reason }) => reason !== 'lint',
    more: ({ more, message, hasErrors }) => ({
      reason: hasErrors ? 'invalid_graph' : 'lint',
      path: [],
      message,
      more
    })
  }
}
