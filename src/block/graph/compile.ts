import type { AnyActorLogic } from 'xstate'
import { blockChart } from '../../../machines/block.js'
import {
  type ChartNode,
  compositeChart,
  compositeChartVersion
} from '../../../machines/composite.js'
import { type Hash, hashJson, type Json, limits } from '../../core/index.js'
import { type CompositeMachine, compositeMachine } from '../chart/composite-machine.js'
import type {
  CompositePlan,
  PlannedBranch,
  PlannedNode,
  Predicate
} from '../chart/composite-plan.js'
import { type CompositeLogic, compositeLogic } from '../chart/composite-table.js'
import { leafLogic } from '../chart/leaf-table.js'
import type { NodeOptions, SideEffectClass } from '../protocol.js'
import { exceeds, highest } from '../side-effects.js'
import {
  type CompositeDefinition,
  entryOf,
  type GraphDefinition,
  type NodeDefinition
} from './definition.js'
import type { Diagnostic, DocumentPath } from './diagnostic.js'
import type { CompiledExpression, CompileExpressions } from './expressions.js'
import { type Mentions, mentionedNodes } from './mentions.js'
import { resolveCondition } from './predicates.js'
import type { BlockRegistry } from './registry.js'
import { compositeSchemaName } from './schema.js'
import { validateGraph } from './validate.js'

/** A composite ready to run. One of these serves any number of runs. */
export interface CompiledComposite {
  readonly kind: 'composite'
  readonly name: string
  readonly version: string
  /** The highest class of its leaves (B9). */
  readonly sideEffects: SideEffectClass
  /** Its commit is one receipt (C4); false inside another atomic composite. */
  readonly isOutermostScope: boolean
  /** The chart as JSON, for drawing and for the checkpoint's `configHash`. */
  readonly config: ChartNode
  readonly configHash: Hash
  /** Covers definition, chart versions and the versions of all blocks; not the source code. */
  readonly definitionHash: Hash
  readonly plan: CompositePlan
  /** The chart in XState's own interpreter, made when first asked for, by fold and inspectors. */
  machine(): CompositeMachine
  /** What `createActor` takes; input is a `BlockIdentity`. */
  readonly logic: CompositeLogic
  readonly nodes: ReadonlyMap<string, CompiledNode>
}

export type CompiledNode = CompiledLeaf | CompiledComposite

export interface CompiledLeaf {
  readonly kind: 'leaf'
  readonly name: string
  readonly version: string
  readonly sideEffects: SideEffectClass
}

export interface CompileOptions {
  readonly registry: BlockRegistry
  /** Without it, a graph that uses CEL or values does not compile. */
  readonly expressions?: CompileExpressions
}

export type CompileResult =
  | { readonly ok: true; readonly compiled: CompiledComposite }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

/**
 * Compiles a graph to a chart (B4, B6). Everything a name leads to is resolved here, so that a run
 * never meets an unknown block, condition or repair. Never throws for a bad definition.
 */
export function compileComposite(
  definition: CompositeDefinition,
  options: CompileOptions
): CompileResult {
  const found: Diagnostic[] = [...validateGraph(definition)]
  if (found.length > 0) return { ok: false, diagnostics: found }
  const compiled = new Compiler(options, found).composite(definition, {
    path: [],
    depth: 0,
    isInScope: false
  })
  return compiled === undefined ? { ok: false, diagnostics: found } : { ok: true, compiled }
}

interface Place {
  readonly path: DocumentPath
  readonly depth: number
  /** Inside an atomic composite. */
  readonly isInScope: boolean
}

class Compiler {
  readonly #registry: BlockRegistry
  readonly #expressions: CompileExpressions | undefined
  readonly #found: Diagnostic[]

  constructor(options: CompileOptions, found: Diagnostic[]) {
    this.#registry = options.registry
    this.#expressions = options.expressions
    this.#found = found
  }

  /** Undefined when something was found wrong, here or before: then nothing is built. */
  composite(definition: CompositeDefinition, place: Place): CompiledComposite | undefined {
    const isScoped = place.isInScope || definition.atomic
    const nodes = this.#children(definition, { ...place, isInScope: isScoped })
    const plan = this.#plan(definition, nodes, place)
    if (this.#found.length > 0) return undefined
    const children: Record<string, AnyActorLogic> = { leaf: leafLogic(plan) }
    for (const [name, node] of nodes) {
      if (node.kind === 'composite') children[compositeSrc(name)] = node.logic
    }
    const config = chartOf(definition, plan)
    const parts = { config, plan, children }
    return {
      kind: 'composite',
      name: definition.name,
      version: definition.version,
      sideEffects: highest([...nodes.values()].map(({ sideEffects }) => sideEffects)),
      isOutermostScope: plan.isOutermostScope,
      config,
      configHash: hashJson(config),
      definitionHash: definitionHashOf(definition, nodes),
      plan,
      machine: once(() => compositeMachine(parts)),
      logic: compositeLogic(parts),
      nodes
    }
  }

  #children(definition: CompositeDefinition, place: Place): ReadonlyMap<string, CompiledNode> {
    const nodes = new Map<string, CompiledNode>()
    for (const [name, node] of Object.entries(definition.nodes)) {
      const path = [...place.path, 'nodes', name]
      const child = this.#child(`${definition.name}.${name}`, node, definition, { ...place, path })
      if (child === undefined) continue
      if (place.isInScope) this.#checkReversible(child, path)
      nodes.set(name, withClass(child, node))
    }
    return nodes
  }

  #child(
    name: string,
    { work }: NodeDefinition,
    parent: CompositeDefinition,
    place: Place
  ): CompiledNode | undefined {
    const { path, depth } = place
    if (work.kind === 'block') {
      const leaf = this.#registry.block(work.block)
      if (leaf !== undefined) return { kind: 'leaf', ...pickLeaf(leaf) }
      this.#refuse('unknown_block', [...path, 'block'], `no block is registered as ${work.block}`)
      return undefined
    }
    if (depth + 1 >= limits.GRAPH_DEPTH_MAX) {
      const message = `composites are nested deeper than ${limits.GRAPH_DEPTH_MAX}`
      this.#refuse('invalid_graph', path, message)
      return undefined
    }
    if (work.kind === 'composite') {
      const inner = { ...place, path: [...path, 'composite'], depth: depth + 1 }
      return this.composite({ name, version: parent.version, ...work.graph }, inner)
    }
    const used = this.#registry.composite(work.use)
    const invalid = used === undefined ? [] : validateGraph(used)
    if (used !== undefined && invalid.length === 0) {
      return this.composite(used, { ...place, depth: depth + 1 })
    }
    if (used === undefined) {
      this.#refuse('unknown_block', [...path, 'use'], `no composite is registered as ${work.use}`)
    }
    this.#found.push(...invalid.map((one) => ({ ...one, path: [...path, 'use', ...one.path] })))
    return undefined
  }

  #plan(
    definition: CompositeDefinition,
    children: ReadonlyMap<string, CompiledNode>,
    place: Place
  ): CompositePlan {
    const values = Object.values(definition.nodes).map(({ input }) => input ?? null)
    const mentions = mentionedNodes([...values, definition.output ?? null])
    const nodes = new Map<string, PlannedNode>()
    for (const [name, child] of children) {
      const node = entryOf(definition.nodes, name)
      if (node === undefined) continue
      const path = [...place.path, 'nodes', name]
      nodes.set(name, {
        name,
        block: child.name,
        sideEffects: child.sideEffects,
        src: child.kind === 'leaf' ? 'leaf' : compositeSrc(name),
        options: optionsOf(node),
        input: this.#value(node.input, ['request', 'nodes'], [...path, 'input']),
        contextKeys: node.context,
        confirmWhen: this.#confirmWhen(node, path),
        branches: this.#branches(definition, name, place.path),
        isKept: isMentioned(mentions, name)
      })
      this.#checkRecovery(node, child, path)
    }
    const repairs = this.#registry
    return {
      entry: definition.entryPoint,
      maxSteps: definition.maxSteps,
      nodes,
      output: this.#value(definition.output, ['request', 'nodes'], [...place.path, 'output']),
      isScoped: place.isInScope || definition.atomic,
      isOutermostScope: definition.atomic && !place.isInScope,
      repair: (name) => repairs.repair(name)
    }
  }

  #branches(graph: GraphDefinition, name: string, path: DocumentPath): readonly PlannedBranch[] {
    const branches: PlannedBranch[] = []
    for (const [index, branch] of (entryOf(graph.transitions, name) ?? []).entries()) {
      const at = [...path, 'transitions', name, index, 'condition']
      const resolved = resolveCondition(branch.condition, this.#registry, this.#expressions)
      if (!resolved.ok) {
        this.#refuse('condition_resolution_error', at, resolved.problem)
        continue
      }
      const { predicate, label } = resolved
      branches.push({ target: branch.target, condition: predicate, label })
      // What stands behind a branch that always matches is never reached.
      if (predicate === null) break
    }
    return branches
  }

  #confirmWhen(node: NodeDefinition, path: DocumentPath): Predicate | null {
    const when = node.confirm?.when
    if (when === undefined) return null
    const resolved = resolveCondition(when, this.#registry, this.#expressions)
    if (resolved.ok) return resolved.predicate
    this.#refuse('condition_resolution_error', [...path, 'confirm', 'when'], resolved.problem)
    return null
  }

  #value(
    value: Json | undefined,
    roots: readonly string[],
    path: DocumentPath
  ): CompiledExpression<Json> | null {
    if (value === undefined) return null
    if (this.#expressions === undefined) {
      this.#refuse('invalid_graph', path, 'no expression compiler is given')
      return null
    }
    try {
      return this.#expressions.compileValue(value, { roots })
    } catch (error) {
      const message = error instanceof Error ? error.message : 'it cannot be compiled'
      this.#refuse('invalid_graph', path, message)
      return null
    }
  }

  #checkRecovery(node: NodeDefinition, child: CompiledNode, path: DocumentPath): void {
    for (const [index, entry] of node.recovery.entries()) {
      const at = [...path, 'recovery', index]
      if (entry.kind === 'repair' && this.#registry.repair(entry.repair) === undefined) {
        this.#refuse('invalid_graph', at, `no repair is registered as ${entry.repair}`)
      }
      if (entry.kind !== 'fallback') continue
      for (const provider of entry.providers) this.#checkProvider(provider, child, at)
    }
  }

  /** What happens outside cannot be rolled back with an overlay (C4). */
  #checkReversible(child: CompiledNode, path: DocumentPath): void {
    if (child.kind !== 'leaf' || child.sideEffects === 'none') return
    const { name, sideEffects } = child
    const message = `${name} acts outside (${sideEffects}); an atomic composite cannot undo that`
    this.#refuse('invalid_graph', path, message)
  }

  /** A provider of a fallback is another block that answers the same request (C3). */
  #checkProvider(name: string, child: CompiledNode, path: DocumentPath): void {
    const leaf = this.#registry.block(name)
    if (leaf === undefined) {
      this.#refuse('unknown_block', path, `no block is registered as ${name}`)
    } else if (exceeds(leaf.sideEffects, child.sideEffects)) {
      const message = `${name} may do more outside than ${child.name}: ${leaf.sideEffects}`
      this.#refuse('invalid_graph', path, message)
    }
  }

  #refuse(reason: Diagnostic['reason'], path: DocumentPath, message: string): void {
    this.#found.push({ reason, path, message })
  }
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

function compositeSrc(node: string): string {
  return `composite:${node}`
}

function pickLeaf(leaf: Omit<CompiledLeaf, 'kind'>): Omit<CompiledLeaf, 'kind'> {
  const { name, version, sideEffects } = leaf
  return { name, version, sideEffects }
}

// A document may say what a block does outside; the node's word then counts for the composite too.
function withClass(child: CompiledNode, node: NodeDefinition): CompiledNode {
  if (node.sideEffects === undefined) return child
  return { ...child, sideEffects: node.sideEffects }
}

function isMentioned(mentions: Mentions, name: string): boolean {
  return mentions.all || mentions.names.has(name)
}

function optionsOf(node: NodeDefinition): NodeOptions {
  const { recovery, onError, timeoutMs, confirm, sideEffects } = node
  const message = confirm?.message
  return {
    ...(recovery.length === 0 ? {} : { recovery }),
    ...(onError === 'stop' ? {} : { onError }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(confirm === undefined ? {} : { confirm: message === undefined ? {} : { message } }),
    ...(sideEffects === undefined ? {} : { sideEffects })
  }
}

function chartOf(definition: CompositeDefinition, plan: CompositePlan): ChartNode {
  return compositeChart({
    id: definition.name.replaceAll('.', '/'),
    entry: plan.entry,
    hasOutput: plan.output !== null,
    scoped: plan.isScoped,
    nodes: [...plan.nodes.values()].map((node) => ({
      name: node.name,
      hasInput: node.input !== null,
      kept: node.isKept,
      branches: node.branches.map(({ target, condition, label }) => ({
        target,
        ...(condition === null ? {} : { condition: label })
      }))
    }))
  })
}

function definitionHashOf(
  definition: CompositeDefinition,
  nodes: ReadonlyMap<string, CompiledNode>
): Hash {
  // By name: a definition that comes back from the ledger has its keys sorted.
  const sorted = [...nodes].sort(([a], [b]) => (a < b ? -1 : 1))
  const blocks = sorted.map(([node, child]) =>
    child.kind === 'leaf'
      ? { node, name: child.name, version: child.version }
      : { node, name: child.name, definitionHash: child.definitionHash }
  )
  return hashJson({
    schema: compositeSchemaName,
    charts: { block: blockChart.version, composite: compositeChartVersion },
    definition,
    blocks
  })
}
