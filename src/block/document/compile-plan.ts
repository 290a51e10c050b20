import { blockChart } from '../../../machines/block.js'
import { planChart, planChartVersion } from '../../../machines/plan.js'
import { highest } from '../../code/index.js'
import { hashingOwn, isSliceFull, type Pieces, passSteps, present } from '../../core/index.js'
import { type CompiledValue, findingMentions } from '../chart/expressions.js'
import { makingPlanLogic } from '../chart/plan.js'
import type { NodeState, PlanLibrary, PlanNode } from '../chart/plan-progress.js'
import { rowsOf } from '../chart/rows.js'
import {
  type CompileContext,
  type CompileSession,
  logicsOf,
  namesOf,
  optionsOf,
  referenceOf,
  srcOf
} from './compile-session.js'
import type { CompiledNode, CompiledPlanGraph } from './compiled.js'
import {
  type DocumentPath,
  type PlanDefinition,
  type PlanNodeDefinition,
  planSchemaName
} from './definition.js'
import { functionVersions } from './registry.js'
import { problemsOf, validatingPlan } from './validate.js'

/** Undefined when something was found wrong, here or before: then nothing is built. */
export function* planIn(
  definition: PlanDefinition,
  nodeIndex: CompileContext,
  session: CompileSession
): Pieces<CompiledPlanGraph | undefined> {
  const ordered = yield* validatingPlan(definition, nodeIndex.path)
  session.found.add(problemsOf(ordered))
  checkOverlay(definition, nodeIndex, session)
  const { inputs, output } = yield* valuesOf(definition, nodeIndex, session)
  yield* checkDeferred(definition, output, nodeIndex, session)
  if (!ordered.ok) return undefined
  const { order } = ordered
  const children = yield* childrenOf(definition, nodeIndex, session)
  const library = yield* libraryOf(
    definition,
    { order, children, inputs, output },
    nodeIndex,
    session
  )
  if (!session.found.isEmpty) return undefined
  const { name, version } = definition
  const config = planChart({
    id: name.replaceAll('.', '/'),
    hasOutput: library.output !== null,
    scoped: library.isScoped
  })
  return {
    kind: 'plan',
    name,
    version,
    sideEffects: highest([...children.values()].map(({ sideEffects }) => sideEffects)),
    isOutermostOverlay: library.isOutermostOverlay,
    config,
    configHash: yield* hashingOwn(config),
    definitionHash: yield* hashingOwn({
      schema: planSchemaName,
      charts: { block: blockChart.version, plan: planChartVersion },
      definition,
      blocks: namesOf(children),
      ...functionVersions(definition, session.registry)
    }),
    plan: library,
    logic: yield* makingPlanLogic({ config, library, children: logicsOf(library, children) }),
    nodes: children
  }
}

/** On an overlay only the declared order gives one receipt whatever the timing (D3). */
function checkOverlay(
  { order, atomic }: PlanDefinition,
  { path, isInOverlay }: CompileContext,
  session: CompileSession
): void {
  if (order === 'declared' || !(atomic || isInOverlay)) return
  const message = 'an atomic plan, and a plan inside an atomic composite, needs order: declared'
  session.refuse('invalid_graph', [...path, 'order'], message)
}

/** Work of one dependency, and of a node that is planned besides its values. */
const STEPS_OF_LOOK = 2
const STEPS_OF_PLANNED = 16

/** A deferred node has no response before the plan has committed (C4). */
function* checkDeferred(
  { nodes }: PlanDefinition,
  output: CompiledValue | null,
  { path }: CompileContext,
  session: CompileSession
): Pieces<void> {
  const waiting = new Set(nodes.filter(({ deferred }) => deferred === true).map(({ id }) => id))
  if (waiting.size === 0) return
  for (const [index, { deps }] of nodes.entries()) {
    for (const id of new Set(deps)) {
      passSteps(STEPS_OF_LOOK)
      if (isSliceFull()) yield
      if (!waiting.has(id)) continue
      session.refuse('invalid_graph', [...path, 'nodes', index, 'deps'], `${id} is deferred`)
    }
  }
  const read = yield* findingMentions([output])
  for (const id of waiting) {
    if (!read.all && !read.names.has(id)) continue
    session.refuse('invalid_graph', [...path, 'output'], `${id} is deferred`)
  }
}

function* childrenOf(
  definition: PlanDefinition,
  nodeIndex: CompileContext,
  session: CompileSession
): Pieces<ReadonlyMap<string, CompiledNode>> {
  const isInOverlay = nodeIndex.isInOverlay || definition.atomic
  const children = new Map<string, CompiledNode>()
  for (const [index, node] of definition.nodes.entries()) {
    const path = [...nodeIndex.path, 'nodes', index]
    const child = yield* session.child(node.id, node, definition, {
      ...nodeIndex,
      path,
      isInOverlay
    })
    if (child !== undefined) children.set(node.id, child)
  }
  return children
}

function* libraryOf(
  definition: PlanDefinition,
  parts: {
    /** Indexes of the nodes in the document, in the order of the plan. */
    readonly order: readonly number[]
    readonly children: ReadonlyMap<string, CompiledNode>
    readonly inputs: ReadonlyMap<string, CompiledValue | null>
    readonly output: CompiledValue | null
  },
  nodeIndex: CompileContext,
  session: CompileSession
): Pieces<PlanLibrary> {
  const { order, children, inputs, output } = parts
  const { nodes, order: delivery, lanes, atomic } = definition
  const nodeIndexes = new Map(order.map((index, at) => [nodes[index]?.id ?? '', at]))
  const links = yield* linksOf(definition, order, nodeIndexes)
  const isKept = yield* keeping(inputs, output)
  const planned: PlanNode[] = []
  for (const index of order) {
    const node = present(nodes[index], `node ${index}`)
    const child = children.get(node.id)
    if (child === undefined) continue
    passSteps(STEPS_OF_PLANNED)
    if (isSliceFull()) yield
    const path = [...nodeIndex.path, 'nodes', index]
    const input = inputs.get(node.id) ?? null
    if (input !== null) yield* checkingReads(node, input, path, session)
    const options = optionsOf(
      node,
      node.onError === 'ask',
      yield* session.ceilings(node, child, path)
    )
    // Spread last, or each node has a hidden class of its own and all that look at nodes are slow.
    planned.push({
      name: node.id,
      block: referenceOf(child),
      sideEffects: child.sideEffects,
      src: srcOf(node.id, child),
      options: node.parks === true ? { ...options, parks: {} } : options,
      input,
      contextKeys: node.context,
      confirmWhen: yield* session.confirmWhen(node, { ...nodeIndex, path }),
      isKept: isKept(node),
      place: planned.length,
      isInLine: delivery === 'declared' && (!definition.parallel || child.sideEffects !== 'none'),
      continues: node.onError === 'continue',
      lane: node.lane ?? null,
      ...present(links[planned.length], 'links of a node')
    })
    yield* session.checkRetryPolicy(node, child, path)
  }
  const { registry } = session
  return {
    delivery,
    nodes: planned,
    places: nodeIndexes,
    roots: planned.filter(({ deps }) => deps.length === 0).map(({ place: at }) => at),
    initial: rowsOf(
      planned.map(({ deps }): NodeState => ({ status: 'idle', missing: deps.length }))
    ),
    lanes,
    output,
    isScoped: nodeIndex.isInOverlay || atomic,
    isOutermostOverlay: atomic && !nodeIndex.isInOverlay,
    repair: (name) => registry.repair(name)
  }
}

/** Places before and after each node, in the order of the plan. */
function* linksOf(
  { nodes }: PlanDefinition,
  order: readonly number[],
  nodeIndexes: ReadonlyMap<string, number>
): Pieces<readonly Pick<PlanNode, 'deps' | 'dependents'>[]> {
  const links: { readonly deps: readonly number[]; readonly dependents: number[] }[] = []
  for (const index of order) {
    const deps: number[] = []
    passSteps(STEPS_OF_LOOK)
    if (isSliceFull()) yield
    for (const dep of nodes[index]?.deps ?? []) {
      passSteps(STEPS_OF_LOOK)
      if (isSliceFull()) yield
      deps.push(nodeIndexes.get(dep) ?? 0)
    }
    links.push({ deps, dependents: [] })
  }
  for (const [nodeIndex, { deps }] of links.entries()) {
    passSteps(1)
    if (isSliceFull()) yield
    for (const dep of deps) {
      passSteps(1)
      if (isSliceFull()) yield
      links[dep]?.dependents.push(nodeIndex)
    }
  }
  return links
}

/** What nodes are given, and what the plan gives. */
function* valuesOf(
  { nodes, output }: PlanDefinition,
  { path, isUsed }: CompileContext,
  session: CompileSession
): Pieces<{
  readonly inputs: ReadonlyMap<string, CompiledValue | null>
  readonly output: CompiledValue | null
}> {
  const inputs = new Map<string, CompiledValue | null>()
  const within = { isUsed, nodes: new Set(nodes.map(({ id }) => id)) }
  for (const [index, { id, input }] of nodes.entries()) {
    if (isSliceFull()) yield
    const at = [...path, 'nodes', index, 'input']
    inputs.set(id, yield* session.value(input, { path: at, ...within }))
  }
  const at = [...path, 'output']
  return { inputs, output: yield* session.value(output, { path: at, ...within }) }
}

/** Whether what a node returned is needed later: by the result, or by some value. */
function* keeping(
  inputs: ReadonlyMap<string, CompiledValue | null>,
  output: CompiledValue | null
): Pieces<(node: PlanNodeDefinition) => boolean> {
  if (output === null) return () => true
  const read = yield* findingMentions([...inputs.values(), output])
  return ({ id }) => read.all || read.names.has(id)
}

/** An input reads by name only nodes that are done for sure when it is evaluated. */
function* checkingReads(
  { deps }: PlanNodeDefinition,
  input: CompiledValue,
  path: DocumentPath,
  session: CompileSession
): Pieces<void> {
  const read = yield* findingMentions([input])
  if (read.all) return
  const before = new Set(deps)
  for (const id of read.names) {
    if (before.has(id)) continue
    const message = `its input reads ${id}, which it does not depend on: name it in deps`
    session.refuse('invalid_graph', [...path, 'input'], message)
  }
}
