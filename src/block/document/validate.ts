import { isSliceFull, limits, type Pieces, passSteps } from '../../core/index.js'
import {
  type Diagnostic,
  type DocumentPath,
  entryOf,
  type GraphDefinition,
  type PlanDefinition,
  Problems
} from './definition.js'

/**
 * What the seed asks for before anything runs (B4): the entry point, every transition's source and
 * every target exist. Nested graphs are checked too. An empty list: valid.
 */
export function* validatingGraph(graph: GraphDefinition): Pieces<readonly Diagnostic[]> {
  const found = new Problems()
  yield* validating(graph, [], 0, found)
  return found.list
}

/** Work of one node, transition or dependency. */
const STEPS_OF_LOOK = 2

function* validating(
  graph: GraphDefinition,
  path: DocumentPath,
  depth: number,
  found: Problems
): Pieces<void> {
  if (depth >= limits.GRAPH_DEPTH_MAX) {
    const message = `composites are nested deeper than ${limits.GRAPH_DEPTH_MAX}`
    found.refuse('invalid_graph', path, message)
    return
  }
  const mustExist = (name: string, at: DocumentPath) => {
    if (entryOf(graph.nodes, name) !== undefined) return
    found.refuse('unknown_node', [...path, ...at], `no node ${name}`)
  }
  mustExist(graph.entryPoint, ['entry_point'])
  for (const [source, branches] of Object.entries(graph.transitions)) {
    passSteps(STEPS_OF_LOOK)
    if (isSliceFull()) yield
    mustExist(source, ['transitions', source])
    for (const [index, { target }] of branches.entries()) {
      passSteps(STEPS_OF_LOOK)
      if (isSliceFull()) yield
      mustExist(target, ['transitions', source, index])
    }
  }
  for (const [name, { work }] of Object.entries(graph.nodes)) {
    passSteps(STEPS_OF_LOOK)
    if (isSliceFull()) yield
    if (work.kind !== 'composite') continue
    yield* validating(work.graph, [...path, 'nodes', name, 'composite'], depth + 1, found)
  }
}

/** What the order of a plan is worked out from. */
export interface Dependent {
  readonly id: string
  readonly deps: readonly string[]
}

export type PlanOrder =
  | {
      readonly ok: true
      /** Indexes of the nodes: level by level, within a level as declared. */
      readonly order: readonly number[]
    }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

/**
 * The order in which a plan's nodes are taken (C2): a node stands behind all that it depends on,
 * and ties go by document order. Refuses duplicate ids, unknown dependencies and cycles.
 */
export function* ordering(nodes: readonly Dependent[], path: DocumentPath = []): Pieces<PlanOrder> {
  const found = new Problems()
  const refuse = (reason: Diagnostic['reason'], at: DocumentPath, message: string) => {
    found.refuse(reason, [...path, 'nodes', ...at], message)
  }
  const nodeIndexes = new Map<string, number>()
  for (const [nodeIndex, { id }] of nodes.entries()) {
    passSteps(STEPS_OF_LOOK)
    if (isSliceFull()) yield
    if (nodeIndexes.has(id))
      refuse('invalid_graph', [nodeIndex, 'id'], `two nodes have the id ${id}`)
    else nodeIndexes.set(id, nodeIndex)
  }
  const dependents: number[][] = nodes.map(() => [])
  const missing: number[] = []
  for (const [nodeIndex, { deps }] of nodes.entries()) {
    passSteps(STEPS_OF_LOOK)
    if (isSliceFull()) yield
    for (const [index, dep] of deps.entries()) {
      passSteps(STEPS_OF_LOOK)
      if (isSliceFull()) yield
      const before = nodeIndexes.get(dep)
      if (before === undefined) refuse('unknown_node', [nodeIndex, 'deps', index], `no node ${dep}`)
      else dependents[before]?.push(nodeIndex)
    }
    if (new Set(deps).size < deps.length) {
      refuse('invalid_graph', [nodeIndex, 'deps'], 'a dependency is named twice')
    }
    missing.push(deps.length)
  }
  if (!found.isEmpty) return { ok: false, diagnostics: found.list }
  const order = yield* byLevels(dependents, missing)
  if (order.length === nodes.length) return { ok: true, order }
  const cycle = cycleOf(nodes, nodeIndexes, missing)
  const first = nodeIndexes.get(cycle[0] ?? '') ?? 0
  refuse('invalid_graph', [first, 'deps'], `the nodes depend on each other: ${cycle.join(' -> ')}`)
  return { ok: false, diagnostics: found.list }
}

/** Takes away, level by level, what depends on nothing that is left; `missing` is used up. */
function* byLevels(
  dependents: readonly (readonly number[])[],
  missing: number[]
): Pieces<number[]> {
  const order: number[] = []
  let level = [...missing.keys()].filter((nodeIndex) => missing[nodeIndex] === 0)
  while (level.length > 0) {
    for (const nodeIndex of level) order.push(nodeIndex)
    const next: number[] = []
    for (const nodeIndex of level) {
      passSteps(1 + (dependents[nodeIndex]?.length ?? 0))
      if (isSliceFull()) yield
      for (const dependent of dependents[nodeIndex] ?? []) {
        const left = (missing[dependent] ?? 0) - 1
        missing[dependent] = left
        if (left === 0) next.push(dependent)
      }
    }
    level = next.sort((one, other) => one - other)
  }
  return order
}

/** Ids along one cycle among the nodes that still miss something; the first is named twice. */
function cycleOf(
  nodes: readonly Dependent[],
  nodeIndexes: ReadonlyMap<string, number>,
  missing: readonly number[]
): readonly string[] {
  const isLeft = (id: string) => (missing[nodeIndexes.get(id) ?? -1] ?? 0) > 0
  const steps = new Map<string, number>()
  let id = nodes.find((node) => isLeft(node.id))?.id
  while (id !== undefined && !steps.has(id)) {
    steps.set(id, steps.size)
    id = nodes[nodeIndexes.get(id) ?? -1]?.deps.find(isLeft)
  }
  const cycle = [...steps.keys()].slice(steps.get(id ?? '') ?? 0)
  const shown = cycle.length > SHOWN_MAX ? [...cycle.slice(0, SHOWN_MAX), '...'] : cycle
  return id === undefined ? shown : [...shown, id]
}

/** Ids of a cycle that a message names. */
const SHOWN_MAX = 32

/** What must hold before anything runs (C2), and the order in which the nodes are taken then. */
export function* validatingPlan(
  definition: Pick<PlanDefinition, 'nodes' | 'lanes' | 'order' | 'parallel'>,
  path: DocumentPath = []
): Pieces<PlanOrder> {
  const { nodes, lanes, order: delivery, parallel } = definition
  const found = new Problems()
  const refuse = (at: DocumentPath, message: string) => {
    found.refuse('invalid_graph', [...path, ...at], message)
  }
  if (nodes.length === 0) refuse(['nodes'], 'a plan has at least one node')
  if (nodes.length > limits.GRAPH_NODES_MAX) {
    const count = `${limits.GRAPH_NODES_MAX} nodes, this one ${nodes.length}`
    refuse(['nodes'], `a plan has at most ${count}`)
    return { ok: false, diagnostics: found.list }
  }
  if (delivery === 'declared' && Object.keys(lanes).length > 0) {
    refuse(['lanes'], 'lanes need order: arrival; which node comes first would hang on timing')
  }
  if (delivery === 'arrival' && !parallel) {
    refuse(['parallel'], 'one node after the other needs order: declared; or give one lane')
  }
  for (const [nodeIndex, { lane, work, confirm }] of nodes.entries()) {
    passSteps(STEPS_OF_LOOK)
    if (isSliceFull()) yield
    if (lane !== undefined && !Object.hasOwn(lanes, lane)) {
      refuse(['nodes', nodeIndex, 'lane'], `no lane ${lane}`)
    }
    if (confirm !== undefined && work.kind !== 'block') {
      const message = 'only a node that is a block can ask for confirmation'
      refuse(['nodes', nodeIndex, 'confirm'], `${message}; confirm the nodes inside`)
    }
  }
  const ordered = yield* ordering(nodes, path)
  if (!ordered.ok) found.add(ordered.diagnostics)
  return found.isEmpty ? ordered : { ok: false, diagnostics: found.list }
}

/** What keeps a plan from having an order. */
export function problemsOf(ordered: PlanOrder): readonly Diagnostic[] {
  return ordered.ok ? [] : ordered.diagnostics
}
