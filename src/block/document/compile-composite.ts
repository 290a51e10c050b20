import { blockChart } from '../../../machines/block.js'
import {
  type ChartNode,
  type CompositeNode,
  compositeChart,
  compositeChartVersion
} from '../../../machines/composite.js'
import { highest } from '../../code/index.js'
import {
  hashingOwn,
  isSliceFull,
  type Json,
  type Pieces,
  passSteps,
  spendWork
} from '../../core/index.js'
import { makingCompositeLogic } from '../chart/composite.js'
import type {
  CompositeGraph,
  PlannedBranch,
  PlannedNode,
  PlannedValue
} from '../chart/composite-graph.js'
import { type CompiledValue, findingMentions } from '../chart/expressions.js'
import { rowsOf } from '../chart/rows.js'
import {
  type CompileContext,
  type CompileSession,
  logicsOf,
  namesOf,
  optionsOf,
  type Problem,
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
  const config = yield* chartOf(definition, plan)
  const { name, version } = definition
  return {
    kind: 'composite',
    name,
    version,
    sideEffects: highest([...nodes.values()].map(({ sideEffects }) => sideEffects)),
    isOutermostOverlay: plan.isOutermostOverlay,
    config,
    configHash: yield* hashingOwn(config),
    definitionHash: yield* hashingOwn({
      schema: compositeSchemaName,
      charts: { block: blockChart.version, composite: compositeChartVersion },
      definition,
      blocks: namesOf(nodes),
      ...functionVersions(definition, session.registry)
    }),
    plan,
    logic: yield* makingCompositeLogic({ config, plan, children: logicsOf(plan, nodes) }),
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

/** Work of a node that is planned, besides its values, and of its part of the chart. */
const STEPS_OF_PLANNED = 16
const STEPS_OF_CHART = 8

function* planOf(
  definition: CompositeDefinition,
  children: ReadonlyMap<string, CompiledNode>,
  place: CompileContext,
  session: CompileSession
): Pieces<CompositeGraph> {
  const values = yield* valuesOf(definition, children, place, session)
  const responses = yield* keptResponses(values, [...children.keys()])
  function* planned(expression: CompiledValue | null): Pieces<PlannedValue | null> {
    return expression === null ? null : { expression, reads: yield* responses.readBy(expression) }
  }
  const nodes = new Map<string, PlannedNode>()
  for (const [name, child] of children) {
    const node = entryOf(definition.nodes, name)
    if (node === undefined) continue
    passSteps(STEPS_OF_PLANNED)
    if (isSliceFull()) yield
    const path = [...place.path, 'nodes', name]
    nodes.set(name, {
      name,
      block: referenceOf(child),
      sideEffects: child.sideEffects,
      src: srcOf(name, child),
      options: optionsOf(node, node.onError === 'ask', yield* session.ceilings(node, child, path)),
      input: yield* planned(values.inputs.get(name) ?? null),
      contextKeys: node.context,
      confirmWhen: yield* session.confirmWhen(node, { ...place, path }),
      branches: yield* branchesOf(definition, name, place, session),
      keptAt: responses.placeOf(name)
    })
    yield* session.checkRetryPolicy(node, child, path)
  }
  for (const { path, message } of yield* deferredProblems(definition, values)) {
    session.refuse('invalid_graph', [...place.path, ...path], message)
  }
  const { registry } = session
  return {
    entry: definition.entryPoint,
    maxSteps: definition.maxSteps,
    nodes,
    kept: responses.names,
    noResponses: rowsOf(responses.names.map(() => null)),
    output: yield* planned(values.output),
    isScoped: place.isInOverlay || definition.atomic,
    isOutermostOverlay: definition.atomic && !place.isInOverlay,
    repair: (name) => registry.repair(name)
  }
}

function* branchesOf(
  { transitions }: CompositeDefinition,
  name: string,
  place: CompileContext,
  session: CompileSession
): Pieces<readonly PlannedBranch[]> {
  const branches: PlannedBranch[] = []
  let isReached = true
  for (const [index, branch] of (entryOf(transitions, name) ?? []).entries()) {
    passSteps(1)
    if (isSliceFull()) yield
    const path = [...place.path, 'transitions', name, index, 'condition']
    if (!isReached) {
      yield* session.unreached(branch.condition, { ...place, path })
      continue
    }
    const resolved = yield* session.condition(branch.condition, { ...place, path })
    if (resolved === undefined) continue
    const { predicate, label } = resolved
    branches.push({ target: branch.target, condition: predicate, label })
    // What stands behind a branch that always matches is not.
    isReached = predicate !== null
  }
  return branches
}

function* valuesOf(
  definition: CompositeDefinition,
  children: ReadonlyMap<string, CompiledNode>,
  { path, isUsed }: CompileContext,
  session: CompileSession
): Pieces<GraphValues> {
  const nodes = new Set(Object.keys(definition.nodes))
  const valueAt = (value: Json | undefined, ...way: readonly string[]) =>
    session.value(value, { path: [...path, ...way], isUsed, nodes })
  const inputs = new Map<string, CompiledValue | null>()
  for (const name of children.keys()) {
    if (isSliceFull()) yield
    const input = entryOf(definition.nodes, name)?.input
    inputs.set(name, yield* valueAt(input, 'nodes', name, 'input'))
  }
  return { inputs, output: yield* valueAt(definition.output, 'output') }
}

/** The responses that some value of a graph reads, and which of them each value may read. */
function* keptResponses({ inputs, output }: GraphValues, nodes: readonly string[]) {
  const all = yield* findingMentions([...inputs.values(), output])
  // Sorted: a place stands in checkpoints, and keys of a journal's definition are in another order.
  const names = nodes.filter((name) => all.all || all.names.has(name)).sort()
  const places = new Map(names.map((name, place) => [name, place]))
  const every = names.map((_, place) => place)
  function* readBy(value: CompiledValue): Pieces<readonly number[]> {
    const read = yield* findingMentions([value])
    if (read.all) return every
    const known = [...read.names].flatMap((name) => places.get(name) ?? [])
    return known.sort((one, other) => one - other)
  }
  return { names, readBy, placeOf: (name: string) => places.get(name) ?? null }
}

function* chartOf(definition: CompositeDefinition, plan: CompositeGraph): Pieces<ChartNode> {
  const filling = compositeChart({
    id: definition.name.replaceAll('.', '/'),
    entry: plan.entry,
    hasOutput: plan.output !== null,
    scoped: plan.isScoped,
    nodes: chartNodes(plan)
  })
  for (;;) {
    const { done, value } = filling.next()
    if (done === true) return value
    if (isSliceFull()) yield
  }
}

function* chartNodes({ nodes }: CompositeGraph): Iterable<CompositeNode> {
  for (const { name, input, keptAt, branches } of nodes.values()) {
    passSteps(STEPS_OF_CHART * (1 + branches.length))
    yield {
      name,
      hasInput: input !== null,
      kept: keptAt !== null,
      branches: branches.map(({ target, condition, label }) => ({
        target,
        ...(condition === null ? {} : { condition: label })
      }))
    }
  }
}

/** Where a composite reads what a deferred step does not have yet. */
function* deferredProblems(
  { nodes, transitions }: CompositeDefinition,
  { inputs, output }: GraphValues
): Pieces<readonly Problem[]> {
  const problems: Problem[] = []
  const deferred = Object.entries(nodes).filter(([, node]) => node.deferred === true)
  if (deferred.length === 0) return problems
  const readers = yield* readersOf(inputs)
  const readByOutput = yield* findingMentions([output])
  for (const [name] of deferred) {
    if (isSliceFull()) yield
    const branches = Object.hasOwn(transitions, name) ? (transitions[name] ?? []) : []
    if (branches.some(({ condition }) => condition.kind !== 'default')) {
      const message = `${name} is deferred: what follows cannot depend on its response`
      problems.push({ path: ['transitions', name], message })
    }
    for (const reader of readers(name)) {
      problems.push({ path: ['nodes', reader, 'input'], message: `${name} is deferred` })
    }
    if (readByOutput.all || readByOutput.names.has(name)) {
      problems.push({ path: ['output'], message: `${name} is deferred` })
    }
  }
  return problems
}

/** By the name of a node, those whose inputs read its response, or may. */
function* readersOf(inputs: GraphValues['inputs']): Pieces<(name: string) => readonly string[]> {
  const all: string[] = []
  const byName = new Map<string, string[]>()
  for (const [reader, input] of inputs) {
    const read = yield* findingMentions([input])
    if (read.all) all.push(reader)
    else {
      for (const name of read.names) {
        const known = byName.get(name)
        if (known === undefined) byName.set(name, [reader])
        else known.push(reader)
      }
    }
  }
  return (name) => {
    const readers = [...(byName.get(name) ?? []), ...all]
    spendWork(1 + readers.length)
    return readers
  }
}

/** The compiled values of a graph: its nodes' inputs, and its output. */
interface GraphValues {
  readonly inputs: ReadonlyMap<string, CompiledValue | null>
  readonly output: CompiledValue | null
}
