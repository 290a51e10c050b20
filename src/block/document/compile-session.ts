import type { AnyActorLogic } from 'xstate'
import { exceeds, type NodeOptions } from '../../code/index.js'
import {
  isSliceFull,
  isTallyError,
  type Json,
  limits,
  type Pieces,
  passSteps,
  spendWork
} from '../../core/index.js'
import type { Predicate } from '../chart/composite-graph.js'
import type { CompiledValue, ValueReference } from '../chart/expressions.js'
import { type LeafLibrary, leafLogic } from '../chart/leaf.js'
import { type Ceilings, ceilingsOf, leavesOf, repeatedBlock, unfitApprovers } from './ceilings.js'
import type {
  CompiledComposite,
  CompiledLeaf,
  CompiledNode,
  CompiledPlanGraph,
  CompileOptions
} from './compiled.js'
import {
  type CompositeDefinition,
  type ConditionDefinition,
  type Diagnostic,
  type DocumentDefinition,
  type DocumentPath,
  isPlanDefinition,
  type NodeDefinition,
  type PlanDefinition,
  Problems
} from './definition.js'
import { lintingReferences } from './lint.js'
import {
  type BlockRegistry,
  type LeafDefinition,
  type ResolvedCondition,
  resolveCondition
} from './registry.js'
import { validatingGraph } from './validate.js'

/** Work of one node, whose part of the chart is built and hashed. */
const STEPS_OF_NODE = 150
/** Work of looking at a provider of a fallback. */
const STEPS_OF_PROVIDER = 8

/** What the values of a graph may read. */
const valueRoots = ['request', 'nodes']
/** A condition names none. */
const noNodes: ReadonlySet<string> = new Set()

/** Where in the document something is compiled. */
export interface CompileContext {
  readonly path: DocumentPath
  readonly depth: number
  /** Inside an atomic composite or plan. */
  readonly isInOverlay: boolean
  /** Inside a document that this one uses: what is doubtful there is told of that document. */
  readonly isUsed: boolean
}

/** Where a value stands, and the nodes that it may name. */
interface ValuePlace extends Pick<CompileContext, 'path' | 'isUsed'> {
  readonly nodes: ReadonlySet<string>
}

/** Compiles the two kinds of parents; each may have the other inside. */
export interface ParentCompilers {
  composite(
    definition: CompositeDefinition,
    place: CompileContext,
    session: CompileSession
  ): Pieces<CompiledComposite | undefined>
  plan(
    definition: PlanDefinition,
    place: CompileContext,
    session: CompileSession
  ): Pieces<CompiledPlanGraph | undefined>
}

/** A parent of nodes, as its children are named after it. */
interface NodeParent {
  readonly name: string
  readonly version: string
}

/**
 * What compiling one document shares among all that is nested in it: where names lead, and what was
 * found wrong, or doubtful. A finder of something wrong says so and continues; nothing is built
 * then.
 */
export class CompileSession {
  readonly registry: CompileOptions['registry']
  readonly found = new Problems()
  /** What is no problem yet: references that lead nowhere. */
  readonly doubtful = new Problems('lint')
  readonly #expressions: CompileOptions['expressions']
  readonly #parents: ParentCompilers

  constructor(options: CompileOptions, parents: ParentCompilers) {
    this.registry = options.registry
    this.#expressions = options.expressions
    this.#parents = parents
  }

  refuse(reason: Diagnostic['reason'], path: DocumentPath, message: string): void {
    this.found.refuse(reason, path, message)
  }

  /** What a node runs; undefined when something was found wrong. `place` is the node's own. */
  *child(
    id: string,
    node: Pick<NodeDefinition, 'work' | 'sideEffects' | 'deferred' | 'timeoutMs'>,
    parent: NodeParent,
    place: CompileContext
  ): Pieces<CompiledNode | undefined> {
    spendWork(STEPS_OF_NODE)
    if (isSliceFull()) yield
    const child = yield* this.#work(`${parent.name}.${id}`, node, parent, place)
    if (child === undefined) return undefined
    const problem = overlayProblem(child, node, place, this.registry)
    if (problem !== undefined) this.refuse('invalid_graph', problem.path, problem.message)
    return withClass(child, node)
  }

  *#work(
    name: string,
    { work }: Pick<NodeDefinition, 'work'>,
    { version }: NodeParent,
    place: CompileContext
  ): Pieces<CompiledNode | undefined> {
    const { path, depth } = place
    if (work.kind === 'block') {
      const leaf = this.registry.block(work.block)
      if (leaf !== undefined) return { kind: 'leaf', reference: work.block, ...pickLeaf(leaf) }
      this.refuse('unknown_block', [...path, 'block'], `no block is registered as ${work.block}`)
      return undefined
    }
    if (depth + 1 >= limits.GRAPH_DEPTH_MAX) {
      const message = `composites are nested deeper than ${limits.GRAPH_DEPTH_MAX}`
      this.refuse('invalid_graph', path, message)
      return undefined
    }
    if (work.kind === 'composite') {
      const inner = { ...place, path: [...path, 'composite'], depth: depth + 1 }
      return yield* this.#parents.composite({ name, version, ...work.graph }, inner, this)
    }
    const used = this.registry.composite(work.use)
    if (used !== undefined)
      return yield* this.#used(used, { ...place, depth: depth + 1, isUsed: true })
    this.refuse('unknown_block', [...path, 'use'], `no composite is registered as ${work.use}`)
    return undefined
  }

  *#used(
    used: DocumentDefinition,
    place: CompileContext
  ): Pieces<CompiledComposite | CompiledPlanGraph | undefined> {
    if (isPlanDefinition(used)) return yield* this.#parents.plan(used, place, this)
    const invalid = yield* validatingGraph(used)
    if (invalid.length === 0) return yield* this.#parents.composite(used, place, this)
    const { path } = place
    this.found.add(invalid.map((one) => ({ ...one, path: [...path, 'use', ...one.path] })))
    return undefined
  }

  /** When a node asks; `place` is the node's own. */
  *confirmWhen(
    node: Pick<NodeDefinition, 'confirm'>,
    place: Omit<ValuePlace, 'nodes'>
  ): Pieces<Predicate | null> {
    const when = node.confirm?.when
    if (when === undefined) return null
    const path = [...place.path, 'confirm', 'when']
    return (yield* this.condition(when, { ...place, path }))?.predicate ?? null
  }

  /** Undefined when it was refused. */
  *condition(
    condition: ConditionDefinition,
    place: Omit<ValuePlace, 'nodes'>
  ): Pieces<(ResolvedCondition & { readonly ok: true }) | undefined> {
    const resolved = resolveCondition(condition, this.registry, this.#expressions)
    if (resolved.ok) {
      yield* this.#doubt(resolved.references, place, noNodes)
      return resolved
    }
    this.refuse('condition_resolution_error', place.path, resolved.problem)
    return undefined
  }

  /** A condition that is never asked is not refused, whatever it names. */
  *unreached(condition: ConditionDefinition, place: Omit<ValuePlace, 'nodes'>): Pieces<void> {
    if (place.isUsed || condition.kind !== 'cel') return
    const resolved = resolveCondition(condition, this.registry, this.#expressions)
    if (resolved.ok) yield* this.#doubt(resolved.references, place, noNodes)
  }

  *value(value: Json | undefined, place: ValuePlace): Pieces<CompiledValue | null> {
    const compiled = yield* this.#value(value, place.path)
    if (compiled !== null) yield* this.#doubt(compiled.references, place, place.nodes)
    return compiled
  }

  *#doubt(
    references: readonly ValueReference[],
    { path, isUsed }: Omit<ValuePlace, 'nodes'>,
    nodes: ReadonlySet<string>
  ): Pieces<void> {
    if (isUsed || references.length === 0) return
    yield* lintingReferences(references, { path, nodes }, this.doubtful)
  }

  *#value(value: Json | undefined, path: DocumentPath): Pieces<CompiledValue | null> {
    if (value === undefined) return null
    if (this.#expressions === undefined) {
      this.refuse('invalid_graph', path, 'no expression compiler is given')
      return null
    }
    try {
      const compiling = this.#expressions.compilingValue?.(value, { roots: valueRoots })
      if (compiling !== undefined) return yield* compiling
      return this.#expressions.compileValue(value, { roots: valueRoots })
    } catch (error) {
      if (isTallyError(error, 'document.too_much_work')) throw error
      const message = error instanceof Error ? error.message : 'it cannot be compiled'
      this.refuse('invalid_graph', path, message)
      return null
    }
  }

  *checkRetryPolicy(
    { recovery }: Pick<NodeDefinition, 'recovery'>,
    child: CompiledNode,
    path: DocumentPath
  ): Pieces<void> {
    for (const [index, entry] of recovery.entries()) {
      const at = [...path, 'recovery', index]
      if (entry.kind === 'repair' && this.registry.repair(entry.repair) === undefined) {
        this.refuse('invalid_graph', at, `no repair is registered as ${entry.repair}`)
      }
      if (entry.kind !== 'fallback') continue
      for (const provider of entry.providers) {
        passSteps(STEPS_OF_PROVIDER)
        if (isSliceFull()) yield
        this.#checkProvider(provider, child, at)
      }
    }
  }

  /** Checks how a node recovers; gives the bounds that its blocks set. */
  *ceilings(
    node: Pick<NodeDefinition, 'recovery' | 'timeoutMs' | 'deferred' | 'confirm'>,
    child: CompiledNode,
    path: DocumentPath
  ): Pieces<Ceilings> {
    const leaves = yield* leavesOf(node, child, this.registry)
    const unfit = unfitApprovers(node, leaves)
    if (unfit !== undefined) {
      const message = `${unfit} has other approvers, and neither list is the stricter`
      this.refuse('invalid_graph', [...path, 'confirm', 'approvers'], message)
    }
    const repeated = repeatedBlock(leaves)
    if (repeated !== undefined) {
      const message = `${repeated} has a limit of attempts: a node names it once`
      this.refuse('invalid_graph', [...path, 'recovery'], message)
    }
    return ceilingsOf(node, leaves)
  }

  /** A provider of a fallback is another block that answers the same request (C3). */
  #checkProvider(name: string, child: CompiledNode, path: DocumentPath): void {
    // A leaf of the kernel looks for its provider when it runs: packages come and go.
    if (this.registry.block(referenceOf(child))?.kernel !== undefined) return
    const leaf = this.registry.block(name)
    if (leaf === undefined) {
      this.refuse('unknown_block', path, `no block is registered as ${name}`)
    } else if (exceeds(leaf.sideEffects, child.sideEffects)) {
      const message = `${name} may do more outside than ${child.name}: ${leaf.sideEffects}`
      this.refuse('invalid_graph', path, message)
    }
  }
}

function pickLeaf(leaf: LeafDefinition): Omit<CompiledLeaf, 'kind' | 'reference'> {
  const { name, version, sideEffects } = leaf
  return { name, version, sideEffects }
}

// A document may say what a block does outside; the node's word then counts for the composite too.
function withClass(child: CompiledNode, node: Pick<NodeDefinition, 'sideEffects'>): CompiledNode {
  if (node.sideEffects === undefined) return child
  return { ...child, sideEffects: node.sideEffects }
}

/** What a node asks of the child that it executes, as its document says. */
export function optionsOf(
  node: Omit<NodeDefinition, 'work' | 'input' | 'context' | 'onError'>,
  asks: boolean,
  { timeoutMs, attempts }: Ceilings
): NodeOptions {
  const { recovery, confirm, sideEffects, deferred } = node
  return {
    ...(recovery.length === 0 ? {} : { recovery }),
    ...(asks ? { onError: 'ask' } : {}),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(attempts === undefined ? {} : { attempts }),
    ...(confirm === undefined ? {} : { confirm: askedIn(confirm) }),
    ...(sideEffects === undefined ? {} : { sideEffects }),
    ...(deferred === true ? { deferred } : {})
  }
}

function askedIn({
  message,
  approvers
}: NonNullable<NodeDefinition['confirm']>): NonNullable<NodeOptions['confirm']> {
  return {
    ...(message === undefined ? {} : { message }),
    ...(approvers === undefined ? {} : { approvers })
  }
}

/** The name by which a node's child is found again while a run continues. */
export function referenceOf(child: CompiledNode): string {
  return child.kind === 'leaf' ? child.reference : child.name
}

/** Name under which the logic of a node's child is registered. */
export function srcOf(id: string, child: CompiledNode): string {
  return child.kind === 'leaf' ? 'leaf' : `composite:${id}`
}

/** Names and versions of what a definition's nodes lead to: they are part of its hash. */
export function namesOf(nodes: ReadonlyMap<string, CompiledNode>): readonly Json[] {
  // By name: a definition that comes back from the ledger has its keys sorted.
  const sorted = [...nodes].sort(([a], [b]) => (a < b ? -1 : 1))
  return sorted.map(([node, child]) =>
    child.kind === 'leaf'
      ? { node, name: child.name, version: child.version }
      : { node, name: child.name, definitionHash: child.definitionHash }
  )
}

/** Logic of the children of a graph, by `src` name. */
export function logicsOf(
  library: LeafLibrary,
  nodes: ReadonlyMap<string, CompiledNode>
): Readonly<Record<string, AnyActorLogic>> {
  const logics: Record<string, AnyActorLogic> = { leaf: leafLogic(library) }
  for (const [name, child] of nodes) {
    if (child.kind !== 'leaf') logics[srcOf(name, child)] = child.logic
  }
  return logics
}

/** Something wrong at a place of the graph that is compiled. */
export type Problem = Pick<Diagnostic, 'path' | 'message'>

/**
 * What happens outside cannot be rolled back with an overlay: a write there needs something that
 * undoes it, or waits for the commit.
 */
function overlayProblem(
  child: CompiledNode,
  { deferred, timeoutMs }: Pick<NodeDefinition, 'deferred' | 'timeoutMs'>,
  { path, isInOverlay }: CompileContext,
  registry: BlockRegistry
): Problem | undefined {
  if (deferred === true) {
    const at = [...path, 'deferred']
    if (!isInOverlay) {
      return { path: at, message: 'only a step inside an atomic composite can be deferred' }
    }
    if (child.kind !== 'leaf') {
      return { path: at, message: 'only a node that is a block can be deferred' }
    }
    if (timeoutMs === undefined) return undefined
    const message = 'a deferred step is done however long it takes: it has no timeout_ms'
    return { path: [...path, 'timeout_ms'], message }
  }
  if (!isInOverlay || child.kind !== 'leaf' || child.sideEffects === 'none') return undefined
  if (isReversible(child.reference, registry)) return undefined
  const { name, sideEffects } = child
  const message =
    `${name} acts outside (${sideEffects}); an atomic composite cannot undo that: ` +
    'declare a compensation, or defer the step'
  return { path, message }
}

function isReversible(reference: string, registry: BlockRegistry): boolean {
  const leaf = registry.block(reference)
  if (leaf?.compensate !== undefined) return true
  const effects = leaf?.capabilities ?? []
  const undone = effects.filter((one) => registry.provider?.(one)?.compensate !== undefined)
  return effects.length > 0 && undone.length === effects.length
}
