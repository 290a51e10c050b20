import { entryOf, type GraphDefinition } from './definition.js'
import type { Diagnostic, DocumentPath } from './diagnostic.js'

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
      found.push(...lintGraph(node.work.graph, [...path, 'nodes', name, 'composite']))
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
