import { type FlowFinding, warning } from './finding.js'
import { carriesData, portsOf } from './ports.js'
import type { FlowDocument } from './schema.js'

/** What is doubtful in a valid flow. */
export function lintFlow(flow: FlowDocument): readonly FlowFinding[] {
  return [...unreachable(flow), ...disconnected(flow), ...endless(flow)]
}

function reachedFrom(start: string, { graph }: FlowDocument): ReadonlySet<string> {
  const targets = new Map<string, string[]>()
  for (const { source, target } of graph.edges) {
    const known = targets.get(source)
    if (known === undefined) targets.set(source, [target])
    else known.push(target)
  }
  const reached = new Set([start])
  // A set grows while it is walked, so this visits each node once.
  for (const node of reached) for (const next of targets.get(node) ?? []) reached.add(next)
  return reached
}

function unreachable(flow: FlowDocument): readonly FlowFinding[] {
  const reached = reachedFrom(flow.graph.startNodeId, flow)
  return flow.graph.nodes.flatMap(({ nodeId }, index) =>
    reached.has(nodeId)
      ? []
      : [warning('unreachable_node', ['graph', 'nodes', index], `nothing leads to ${nodeId}`)]
  )
}

function disconnected({ graph, extensions }: FlowDocument): readonly FlowFinding[] {
  const fed = new Set(
    graph.edges.map(({ target, targetHandle }) => JSON.stringify([target, targetHandle]))
  )
  return graph.nodes.flatMap((node, index) =>
    portsOf(node, extensions.customNodeSpecs).inputs.flatMap((port) => {
      if (!port.required || port.defaultValue !== undefined || port.dataType === 'flow') return []
      if (fed.has(JSON.stringify([node.nodeId, port.portId]))) return []
      const message = `the input ${port.portId} of ${node.nodeId} is required and has no source`
      return [warning('required_input_disconnected', ['graph', 'nodes', index], message)]
    })
  )
}

function endless(flow: FlowDocument): readonly FlowFinding[] {
  const { graph, extensions } = flow
  const found: FlowFinding[] = []
  const done = graph.edges.filter(({ sourceHandle }) => sourceHandle === 'done')
  const leftAtDone = new Set(done.map(({ source }) => source))
  for (const [index, { nodeId, nodeKind }] of graph.nodes.entries()) {
    if (nodeKind === 'control.plan-loop' && !leftAtDone.has(nodeId)) {
      const message = `no edge leaves ${nodeId} at done; its first edge is followed instead`
      found.push(warning('loop_without_end', ['graph', 'nodes', index], message))
    }
  }
  if (!graph.nodes.some(({ nodeKind }) => nodeKind === 'control.finish')) {
    const message = 'there is no control.finish; the result is what the last node gives'
    found.push(warning('no_finish', ['graph', 'nodes'], message))
  }
  const byId = new Map(graph.nodes.map((node) => [node.nodeId, node]))
  for (const [index, edge] of graph.edges.entries()) {
    const target = byId.get(edge.target)
    if (target === undefined || !edge.dataEdge) continue
    if (!carriesData({ ...edge, dataEdge: false }, portsOf(target, extensions.customNodeSpecs))) {
      const message = `a data edge ends at no data input of ${edge.target}`
      found.push(warning('required_input_disconnected', ['graph', 'edges', index], message))
    }
  }
  return found
}
