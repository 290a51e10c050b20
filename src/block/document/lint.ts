import {
  type Diagnostic,
  type DocumentDefinition,
  type DocumentPath,
  entryOf,
  type GraphDefinition,
  isPlanDefinition,
  type PlanDefinition
} from './definition.js'

/**
 * Doubtful things in a valid graph (B4): a branch list without a default, branches behind a
 * default, nodes that nothing leads to, fallback where there are no providers. Cycles are fine:
 * `max_steps` bounds them.
 */
export function lintGraph(graph: GraphDefinition, path: DocumentPath = []): readonly Diagnostic[] {
  const found: Diagnostic[] = []
  const warn = (at: DocumentPath, message: string) => {
    found.push({ reason: 'lint', path: [...path, ...at], message })
  }
  for (const [source, branches] of Object.entries(graph.transitions)) {
    const total = branches.findIndex(({ condition }) => condition.kind === 'default')
    if (total < 0) {
      warn(['transitions', source], 'no default branch: the run may end with no_transition')
    } else if (total < branches.length - 1) {
      warn(['transitions', source, total + 1], 'this branch stands behind the default')
    }
  }
  const reachable = reachableNodes(graph)
  for (const [name, node] of Object.entries(graph.nodes)) {
    if (!reachable.has(name)) warn(['nodes', name], 'nothing leads to this node')
    if (node.work.kind === 'block') continue
    if (node.recovery.some(({ kind }) => kind === 'fallback')) {
      warn(['nodes', name, 'recovery'], 'a composite has no providers to fall back to')
    }
    if (node.work.kind === 'composite') {
      const inside = lintGraph(node.work.graph, [...path, 'nodes', name, 'composite'])
      for (const one of inside) found.push(one)
    }
  }
  return found
}

function reachableNodes(graph: GraphDefinition): ReadonlySet<string> {
  const seen = new Set<string>()
  const open = [graph.entryPoint]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
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
  return isPlanDefinition(definition) ? lintPlan(definition) : lintGraph(definition)
}

/**
 * Doubtful things in a valid plan: a lane that no node takes, fallback where there are no
 * providers, and whatever is doubtful in composites inside.
 */
function lintPlan({ nodes, lanes }: PlanDefinition): readonly Diagnostic[] {
  const found: Diagnostic[] = []
  const warn = (path: DocumentPath, message: string) => {
    found.push({ reason: 'lint', path, message })
  }
  const taken = new Set(nodes.map(({ lane }) => lane))
  for (const lane of Object.keys(lanes)) {
    if (!taken.has(lane)) warn(['lanes', lane], 'no node is in this lane')
  }
  for (const [nodeIndex, { work, recovery }] of nodes.entries()) {
    if (work.kind === 'block') continue
    if (recovery.some(({ kind }) => kind === 'fallback')) {
      warn(['nodes', nodeIndex, 'recovery'], 'a composite has no providers to fall back to')
    }
    if (work.kind === 'composite') {
      const inside = lintGraph(work.graph, ['nodes', nodeIndex, 'composite'])
      for (const one of inside) found.push(one)
    }
  }
  return found
}
