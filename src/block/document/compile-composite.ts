import { blockChart } from '../../../machines/block.js'
import {
  type ChartNode,
  compositeChart,
  compositeChartVersion
} from '../../../machines/composite.js'
import { hashJson, isSliceFull, type Pieces } from '../../core/index.js'
import { compositeLogic } from '../chart/composite.js'
import type {
  CompositeGraph,
  PlannedBranch,
  PlannedNode,
  PlannedValue
} from '../chart/composite-graph.js'
import { type CompiledValue, mentionedNodes } from '../chart/expressions.js'
import { highest } from '../chart/protocol.js'
import { rowsOf } from '../chart/rows.js'
import {
  type CompileContext,
  type CompileSession,
  deferredProblems,
  type GraphValues,
  logicsOf,
  namesOf,
  optionsOf,
  referenceOf,
  srcOf
} from './compile-session.js'
import type { CompiledComposite, CompiledNode } from './compiled.js'
import { type CompositeDefinition, entryOf } from './definition.js'
import { functionVersions } from './registry.js'
import { compositeSchemaName } from './schema.js'

/** Undefined when something was found wrong, here or before: then nothing is built. */
export function* compositeIn(
  definition: CompositeDefinition,
  place: CompileContext,
  session: CompileSession
): Pieces<CompiledComposite | undefined> {
  const nodes = yield* childrenOf(definition, place, session)
  const plan = yield* planOf(definition, nodes, place, session)
  if (!session.found.isEmpty) return undefined
  const config = chartOf(definition, plan)
  const { name, version } = definition
  return {
    kind: 'composite',
    name,
    version,
    sideEffects: highest([...nodes.values()].map(({ sideEffects }) => sideEffects)),
    isOutermostOverlay: plan.isOutermostOverlay,
    config,
    configHash: hashJson(config),
    definitionHash: hashJson({
      schema: compositeSchemaName,
      charts: { block: blockChart.version, composite: compositeChartVersion },
      definition,
      blocks: namesOf(nodes),
      ...functionVersions(definition, session.registry)
    }),
    plan,
    logic: compositeLogic({ config, plan, children: logicsOf(plan, nodes) }),
    nodes
  }
}

function* childrenOf(
  definition: CompositeDefinition,
  place: CompileContext,
  session: CompileSession
): Pieces<ReadonlyMap<string, CompiledNode>> {
  const isInOverlay = place.isInOverlay || definition.atomic
  const nodes = new Map<string, CompiledNode>()
  for (const [name, node] of Object.entries(definition.nodes)) {
    const path = [...place.path, 'nodes', name]
    const child = yield* session.child(name, node, definition, { ...place, path, isInOverlay })
    if (child !== undefined) nodes.set(name, child)
  }
  return nodes
}

function* planOf(
  definition: CompositeDefinition,
  children: ReadonlyMap<string, CompiledNode>,
  place: CompileContext,
  session: CompileSession
): Pieces<CompositeGraph> {
  const values = yield* valuesOf(definition, children, place, session)
  const responses = keptResponses(values, [...children.keys()])
  const planned = (expression: CompiledValue | null): PlannedValue | null =>
    expression === null ? null : { expression, reads: responses.readBy(expression) }
  const nodes = new Map<string, PlannedNode>()
  for (const [name, child] of children) {
    const node = entryOf(definition.nodes, name)
    if (node === undefined) continue
    if (isSliceFull()) yield
    const path = [...place.path, 'nodes', name]
    nodes.set(name, {
      name,
      block: referenceOf(child),
      sideEffects: child.sideEffects,
      src: srcOf(name, child),
      options: optionsOf(node, node.onError === 'ask', session.ceilings(node, child, path)),
      input: planned(values.inputs.get(name) ?? null),
      contextKeys: node.context,
      confirmWhen: session.confirmWhen(node, path),
      branches: branchesOf(definition, name, place, session),
      keptAt: responses.placeOf(name)
    })
    session.checkRetryPolicy(node, child, path)
  }
  for (const { path, message } of deferredProblems(definition, values)) {
    session.refuse('invalid_graph', [...place.path, ...path], message)
  }
  const { registry } = session
  return {
    entry: definition.entryPoint,
    maxSteps: definition.maxSteps,
    nodes,
    kept: responses.names,
    noResponses: rowsOf(responses.names.map(() => null)),
    output: planned(values.output),
    isScoped: place.isInOverlay || definition.atomic,
    isOutermostOverlay: definition.atomic && !place.isInOverlay,
    repair: (name) => registry.repair(name)
  }
}

function branchesOf(
  { transitions }: CompositeDefinition,
  name: string,
  { path }: CompileContext,
  session: CompileSession
): readonly PlannedBranch[] {
  const branches: PlannedBranch[] = []
  for (const [index, branch] of (entryOf(transitions, name) ?? []).entries()) {
    const resolved = session.condition(branch.condition)
    if (!resolved.ok) {
      const at = [...path, 'transitions', name, index, 'condition']
      session.refuse('condition_resolution_error', at, resolved.problem)
      continue
    }
    const { predicate, label } = resolved
    branches.push({ target: branch.target, condition: predicate, label })
    // What stands behind a branch that always matches is never reached.
    if (predicate === null) break
  }
  return branches
}

function* valuesOf(
  definition: CompositeDefinition,
  children: ReadonlyMap<string, CompiledNode>,
  { path }: CompileContext,
  session: CompileSession
): Pieces<GraphValues> {
  const roots = ['request', 'nodes']
  const inputs = new Map<string, CompiledValue | null>()
  for (const name of children.keys()) {
    if (isSliceFull()) yield
    const input = entryOf(definition.nodes, name)?.input
    inputs.set(name, session.value(input, roots, [...path, 'nodes', name, 'input']))
  }
  return { inputs, output: session.value(definition.output, roots, [...path, 'output']) }
}

/** The responses that some value of a graph reads, and which of them each value may read. */
function keptResponses({ inputs, output }: GraphValues, nodes: readonly string[]) {
  const all = mentionedNodes([...inputs.values(), output])
  // Sorted: a place stands in checkpoints, and keys of a journal's definition are in another order.
  const names = nodes.filter((name) => all.all || all.names.has(name)).sort()
  const places = new Map(names.map((name, place) => [name, place]))
  const every = names.map((_, place) => place)
  const readBy = (value: CompiledValue): readonly number[] => {
    const read = mentionedNodes([value])
    if (read.all) return every
    const known = [...read.names].flatMap((name) => places.get(name) ?? [])
    return known.sort((one, other) => one - other)
  }
  return { names, readBy, placeOf: (name: string) => places.get(name) ?? null }
}

function chartOf(definition: CompositeDefinition, plan: CompositeGraph): ChartNode {
  return compositeChart({
    id: definition.name.replaceAll('.', '/'),
    entry: plan.entry,
    hasOutput: plan.output !== null,
    scoped: plan.isScoped,
    nodes: [...plan.nodes.values()].map((node) => ({
      name: node.name,
      hasInput: node.input !== null,
      kept: node.keptAt !== null,
      branches: node.branches.map(({ target, condition, label }) => ({
        target,
        ...(condition === null ? {} : { condition: label })
      }))
    }))
  })
}
