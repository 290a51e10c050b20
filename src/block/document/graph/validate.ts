import { limits } from '../../../core/index.js'
import { entryOf, type GraphDefinition } from './definition.js'
import type { Diagnostic, DocumentPath } from './diagnostic.js'

/**
 * What the seed asks for before anything runs (B4): the entry point, every transition's source and
 * every target exist. Nested graphs are checked too. An empty list: valid.
 */
export function validateGraph(graph: GraphDefinition): readonly Diagnostic[] {
  return validate(graph, [], 0)
}

function validate(
  graph: GraphDefinition,
  path: DocumentPath,
  depth: number
): readonly Diagnostic[] {
  if (depth >= limits.GRAPH_DEPTH_MAX) {
    const message = `composites are nested deeper than ${limits.GRAPH_DEPTH_MAX}`
    return [{ reason: 'invalid_graph', path, message }]
  }
  const found: Diagnostic[] = []
  const mustExist = (name: string, at: DocumentPath) => {
    if (entryOf(graph.nodes, name) !== undefined) return
    found.push({ reason: 'unknown_node', path: [...path, ...at], message: `no node ${name}` })
  }
  mustExist(graph.entryPoint, ['entry_point'])
  for (const [source, branches] of Object.entries(graph.transitions)) {
    mustExist(source, ['transitions', source])
    for (const [index, { target }] of branches.entries()) {
      mustExist(target, ['transitions', source, index])
    }
  }
  for (const [name, { work }] of Object.entries(graph.nodes)) {
    if (work.kind !== 'composite') continue
    found.push(...validate(work.graph, [...path, 'nodes', name, 'composite'], depth + 1))
  }
  return found
}
