import { isJsonObject, isSecretReference, type Json, spendWork } from '../../core/index.js'
import { error, type FlowFinding, type FlowFindingCode } from './finding.js'
import { areCompatible, carriesData, type NodePorts, portsOf } from './ports.js'
import type { FlowDocument, FlowEdge, FlowPort } from './schema.js'

/**
 * What is wrong with a flow by itself, whatever its agents are. Cycles are legal: a plan loop is
 * one, and `maxSteps` bounds them all (semantics.md A2).
 */
export function validateFlow(flow: FlowDocument): readonly FlowFinding[] {
  return [
    ...duplicates(flow),
    ...validateStart(flow),
    ...validateEdges(flow),
    ...validateSecrets(flow),
    ...validateKeys(flow)
  ]
}

function duplicates({ graph, agents, extensions }: FlowDocument): readonly FlowFinding[] {
  const nodeIds = graph.nodes.map(({ nodeId }) => nodeId)
  const agentIds = agents.agentDefs.map(({ agentId }) => agentId)
  const ports = graph.nodes.flatMap((node, index) => {
    const { inputs, outputs } = portsOf(node, extensions.customNodeSpecs)
    const path = ['graph', 'nodes', index]
    const ids = (list: readonly FlowPort[]) => list.map(({ portId }) => portId)
    return [
      ...repeated(ids(inputs), 'duplicate_port_id', [...path, 'inputPorts']),
      ...repeated(ids(outputs), 'duplicate_port_id', [...path, 'outputPorts'])
    ]
  })
  return [
    ...repeated(nodeIds, 'duplicate_node_id', ['graph', 'nodes']),
    ...repeated(agentIds, 'duplicate_agent_id', ['agents', 'agentDefs']),
    ...ports
  ]
}

function repeated(
  ids: readonly string[],
  code: FlowFindingCode,
  path: readonly (string | number)[]
): readonly FlowFinding[] {
  const seen = new Set<string>()
  return ids.flatMap((id, index) => {
    if (!seen.has(id)) {
      seen.add(id)
      return []
    }
    return [error(code, [...path, index], `${id} stands there twice`)]
  })
}

function validateStart({ graph }: FlowDocument): readonly FlowFinding[] {
  if (graph.nodes.some(({ nodeId }) => nodeId === graph.startNodeId)) return []
  const message = `there is no node ${graph.startNodeId}`
  return [error('start_node_not_found', ['graph', 'startNodeId'], message)]
}

function validateEdges({ graph, extensions }: FlowDocument): readonly FlowFinding[] {
  const ports = new Map(
    graph.nodes.map((node) => [node.nodeId, portsOf(node, extensions.customNodeSpecs)])
  )
  const seen = new Set<string>()
  const fed = new Set<string>()
  return graph.edges.flatMap((edge, index) => {
    const path = ['graph', 'edges', index]
    const found = [...edgeEnds(edge, ports, path)]
    const key = JSON.stringify([edge.source, edge.target, edge.sourceHandle, edge.targetHandle])
    if (edge.source === edge.target) {
      found.push(error('self_edge', path, `${edge.source} leads to itself`))
    }
    if (seen.has(key)) found.push(error('duplicate_edge', path, 'the same edge stands before'))
    seen.add(key)
    const target = ports.get(edge.target)
    if (target === undefined || !carriesData(edge, target)) return found
    const input = JSON.stringify([edge.target, edge.targetHandle])
    if (fed.has(input)) {
      const message = `the input ${edge.targetHandle ?? ''} of ${edge.target} has two sources`
      found.push(error('input_has_many_sources', path, message))
    }
    fed.add(input)
    return found
  })
}

function edgeEnds(
  edge: FlowEdge,
  ports: ReadonlyMap<string, NodePorts>,
  path: readonly (string | number)[]
): readonly FlowFinding[] {
  const source = ports.get(edge.source)
  const target = ports.get(edge.target)
  const found: FlowFinding[] = []
  if (source === undefined) {
    const message = `there is no node ${edge.source}`
    found.push(error('edge_source_not_found', [...path, 'source'], message))
  }
  if (target === undefined) {
    const message = `there is no node ${edge.target}`
    found.push(error('edge_target_not_found', [...path, 'target'], message))
  }
  const from = source === undefined ? undefined : named(source.outputs, edge.sourceHandle)
  const to = target === undefined ? undefined : named(target.inputs, edge.targetHandle)
  if (from === null) {
    const message = `${edge.source} has no output ${edge.sourceHandle ?? ''}`
    found.push(error('edge_port_not_found', [...path, 'sourceHandle'], message))
  }
  if (to === null) {
    const message = `${edge.target} has no input ${edge.targetHandle ?? ''}`
    found.push(error('edge_port_not_found', [...path, 'targetHandle'], message))
  }
  if (from && to && !areCompatible(from.dataType, to.dataType)) {
    const message = `${from.dataType} does not fit ${to.dataType}`
    found.push(error('port_type_mismatch', path, message))
  }
  return found
}

/** Undefined when the edge names none, null when the named one is not there. */
function named(
  ports: readonly FlowPort[],
  handle: string | null | undefined
): FlowPort | null | undefined {
  if (handle === null || handle === undefined || handle === '') return undefined
  spendWork(1 + (ports.length >> 4))
  return ports.find(({ portId }) => portId === handle) ?? null
}

function validateSecrets({ agents, runtime, graph }: FlowDocument): readonly FlowFinding[] {
  const places: readonly (readonly [readonly (string | number)[], string | undefined])[] = [
    [['runtime', 'adapterConfig', 'apiKey'], runtime.adapterConfig.apiKey],
    ...agents.agentDefs.map(
      ({ adapterConfig }, index) =>
        [['agents', 'agentDefs', index, 'adapterConfig', 'apiKey'], adapterConfig.apiKey] as const
    ),
    ...graph.nodes.map(
      ({ config }, index) =>
        [['graph', 'nodes', index, 'config', 'credential'], config.credential] as const
    )
  ]
  return places.flatMap(([path, value]) =>
    value === undefined || isSecretReference(value)
      ? []
      : [error('secret_not_reference', path, 'a secret is given as env:NAME or file:PATH')]
  )
}

/** Ledger values have no keys that begin with `$`. */
function validateKeys({ agents, runtime, graph }: FlowDocument): readonly FlowFinding[] {
  const places: readonly (readonly [readonly (string | number)[], unknown])[] = [
    [['agents'], agents.agentDefs],
    [['runtime'], runtime],
    [['graph', 'nodes'], graph.nodes]
  ]
  return places.flatMap(([path, value]) => {
    const found = reservedKey(value as Json)
    if (found === undefined) return []
    return [error('reserved_key', path, `the key ${found} begins with a reserved sign`)]
  })
}

function reservedKey(value: Json): string | undefined {
  if (Array.isArray(value)) return value.map(reservedKey).find((key) => key !== undefined)
  if (!isJsonObject(value)) return undefined
  for (const [key, member] of Object.entries(value)) {
    const found = key.startsWith('$') ? key : reservedKey(member)
    if (found !== undefined) return found
  }
  return undefined
}
