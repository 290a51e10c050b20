import type { ChartNode } from '../../../machines/composite.js'
import type { SideEffectClass } from '../../code/index.js'
import type { Hash } from '../../core/index.js'
import type { CompositeLogic } from '../chart/composite.js'
import type { CompositeGraph } from '../chart/composite-graph.js'
import type { CompileExpressions } from '../chart/expressions.js'
import type { FunctionLibrary, FunctionLogic } from '../chart/function.js'
import type { PlanLogic } from '../chart/plan.js'
import type { PlanLibrary } from '../chart/plan-progress.js'
import type { Diagnostic } from './definition.js'
import type { BlockRegistry } from './registry.js'

/** What compiled composites and plans have in common. */
export interface CompiledParent {
  readonly name: string
  readonly version: string
  /** The highest class of its leaves (B9). */
  readonly sideEffects: SideEffectClass
  /** Its commit is one receipt (C4); false inside another atomic one. */
  readonly isOutermostOverlay: boolean
  /** The chart as JSON, for drawing and for the checkpoint's `configHash`. */
  readonly config: ChartNode
  readonly configHash: Hash
  /** Covers definition, chart versions and the versions of all blocks; not the source code. */
  readonly definitionHash: Hash
  readonly nodes: ReadonlyMap<string, CompiledNode>
}

/** A composite ready to run. One of these serves any number of runs. */
export interface CompiledComposite extends CompiledParent {
  readonly kind: 'composite'
  readonly plan: CompositeGraph
  /** What `createActor` takes; input is a `BlockIdentity`. */
  readonly logic: CompositeLogic
}

/** A plan ready to run. One of these serves any number of runs. */
export interface CompiledPlanGraph extends CompiledParent {
  readonly kind: 'plan'
  readonly plan: PlanLibrary
  readonly logic: PlanLogic
}

/** A workflow function ready to run (B12). One of these serves any number of runs. */
export interface CompiledFunction extends CompiledParent {
  readonly kind: 'function'
  readonly plan: FunctionLibrary & { readonly nodes: ReadonlyMap<string, never> }
  readonly logic: FunctionLogic
  /** Its atomic parts, each of which is a child. */
  readonly scope?: CompiledFunction
}

/** What a run can have for its root. */
export type CompiledDocument = CompiledComposite | CompiledPlanGraph

/** A block with children. */
export type CompiledWithChildren = CompiledDocument | CompiledFunction

export type CompiledNode = CompiledLeaf | CompiledDocument

export interface CompiledLeaf {
  readonly kind: 'leaf'
  /** How its node names it: `pay`, or `pay@1.0.0` (B10). */
  readonly reference: string
  readonly name: string
  readonly version: string
  readonly sideEffects: SideEffectClass
}

export interface CompileOptions {
  readonly registry: BlockRegistry
  /** Without it, a graph that uses CEL or values does not compile. */
  readonly expressions?: CompileExpressions
}

export type CompileResult<Compiled extends CompiledDocument = CompiledComposite> = (
  | { readonly ok: true; readonly compiled: Compiled }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }
) & {
  /** References of the document itself that lead nowhere, as far as its values compile. */
  readonly doubtful: readonly Diagnostic[]
}
