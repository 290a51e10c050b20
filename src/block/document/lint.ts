import { atOnce, isSliceFull, type Pieces, passSteps } from '../../core/index.js'
import type { ValueReference } from '../chart/expressions.js'
import {
  type Diagnostic,
  type DocumentDefinition,
  type DocumentPath,
  entryOf,
  type GraphDefinition,
  isPlanDefinition,
  type NodeDefinition,
  type PlanDefinition,
  type Problems
} from './definition.js'

/** Work of looking at a node, a lane or a branch. */
const STEPS_OF_LOOK = 4

/** Takes what is doubtful, from wherever it is found. */
type Found = Diagnostic[]

function warn(found: Found, path: DocumentPath, message: string): void {
  found.push({ reason: 'lint', path, message })
}

/**
 * Doubtful things in a valid graph (B4): a branch list without a default, branches behind a
 * default, nodes that nothing leads to, fallback where there are no providers. Cycles are fine:
 * `max_steps` bounds them.
 */
function* lintingGraph(graph: GraphDefinition, path: DocumentPath, found: Found): Pieces<void> {
  for (const [source, branches] of Object.entries(graph.transitions)) {
    passSteps(STEPS_OF_LOOK + branches.length)
    if (isSliceFull()) yield
    const total = branches.findIndex(({ condition }) => condition.kind === 'default')
    const at = [...path, 'transitions', source]
    if (total < 0) {
      warn(found, at, 'no default branch: the run may end with no_transition')
    } else if (total < branches.length - 1) {
      warn(found, [...at, total + 1], 'this branch stands behind the default')
    }
  }
  const reachable = yield* reachableNodes(graph)
  for (const [name, node] of Object.entries(graph.nodes)) {
    const at = [...path, 'nodes', name]
    if (!reachable.has(name)) warn(found, at, 'nothing leads to this node')
    yield* lintingNode(node, at, found)
  }
}

function* lintingNode(
  { work, recovery }: Pick<NodeDefinition, 'work' | 'recovery'>,
  path: DocumentPath,
  found: Found
): Pieces<void> {
  passSteps(STEPS_OF_LOOK)
  if (isSliceFull()) yield
  if (work.kind === 'block') return
  if (recovery.some(({ kind }) => kind === 'fallback')) {
    warn(found, [...path, 'recovery'], 'a composite has no providers to fall back to')
  }
  if (work.kind === 'composite') yield* lintingGraph(work.graph, [...path, 'composite'], found)
}

function* reachableNodes(graph: GraphDefinition): Pieces<ReadonlySet<string>> {
  const seen = new Set<string>()
  const open = [graph.entryPoint]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    passSteps(STEPS_OF_LOOK)
    if (isSliceFull()) yield
    if (seen.has(name)) continue
    seen.add(name)
    for (const { condition, target } of entryOf(graph.transitions, name) ?? []) {
      open.push(target)
      if (condition.kind === 'default') break
    }
  }
  return seen
}

/** Doubtful things in a valid document, a composite's or a plan's. */
export function lintDocument(definition: DocumentDefinition): readonly Diagnostic[] {
  return atOnce(lintingDocument(definition))
}

/** {@link lintDocument} in pieces: other work may be done wherever it yields. */
export function* lintingDocument(definition: DocumentDefinition): Pieces<readonly Diagnostic[]> {
  const found: Found = []
  if (isPlanDefinition(definition)) yield* lintingPlan(definition, found)
  else yield* lintingGraph(definition, [], found)
  return found
}

/**
 * Doubtful things in a valid plan: a lane that no node takes, fallback where there are no
 * providers, and whatever is doubtful in composites inside.
 */
function* lintingPlan({ nodes, lanes }: PlanDefinition, found: Found): Pieces<void> {
  const taken = new Set(nodes.map(({ lane }) => lane))
  for (const lane of Object.keys(lanes)) {
    passSteps(STEPS_OF_LOOK)
    if (isSliceFull()) yield
    if (!taken.has(lane)) warn(found, ['lanes', lane], 'no node is in this lane')
  }
  for (const [nodeIndex, node] of nodes.entries()) {
    yield* lintingNode(node, ['nodes', nodeIndex], found)
  }
}

const requestMembers = ['payload', 'context', 'metadata']
const responseMembers = ['success', 'data', 'reason', 'details', 'errorType', 'metadata']

/**
 * References that lead nowhere in a value that compiles (W3): to nodes that are not beside it, and
 * to members that no request and no response has. They would be found when it is evaluated.
 */
export function* lintingReferences(
  references: readonly ValueReference[],
  { path, nodes }: { readonly path: DocumentPath; readonly nodes: ReadonlySet<string> },
  found: Problems
): Pieces<void> {
  for (const { root, path: way } of references) {
    passSteps(STEPS_OF_LOOK)
    if (isSliceFull()) yield
    const problem = root === 'nodes' ? problemOfNode(way, nodes) : problemOf(root, way)
    if (problem !== undefined) found.refuse('lint', path, problem)
  }
}

function problemOfNode(
  way: ValueReference['path'],
  nodes: ReadonlySet<string>
): string | undefined {
  const [name, member, ...rest] = way
  if (name === undefined) return undefined
  if (!nodes.has(String(name))) {
    return `nodes.${name} leads nowhere: no node beside this one is called ${name}`
  }
  if (member === undefined) return undefined
  if (member !== 'response') {
    return `nodes.${name}.${member} leads nowhere: a node has its response, nodes.${name}.response`
  }
  return problemOf('response', rest, `nodes.${name}.response`)
}

function problemOf(
  root: string,
  [member]: ValueReference['path'],
  shown = root
): string | undefined {
  const known = root === 'request' ? requestMembers : responseMembers
  if (member === undefined || known.includes(String(member))) return undefined
  return `${shown}.${member} leads nowhere: ${shown} has ${known.join(', ')}`
}
