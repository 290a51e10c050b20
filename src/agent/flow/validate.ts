import {
  FirstFindings,
  isJsonObject,
  isSecretReference,
  isSliceFull,
  type Json,
  type JsonArray,
  type JsonObject,
  type Pieces,
  passSteps,
  spendWork
} from '../../core/index.js'
import { error, type FlowFinding, moreFindings } from './finding.js'
import { areCompatible, carriesData, type NodePorts, portsOf } from './ports.js'
import type { FlowDocument, FlowEdge, FlowPort } from './schema.js'

type Found = FirstFindings<FlowFinding>
type Path = readonly (string | number)[]

/**
 * What is wrong with a flow by itself, whatever its agents are, as far as a report shows it. Cycles
 * are legal: a plan loop is one, and `maxSteps` bounds them all (semantics.md A2).
 */
export function* validatingFlow(flow: FlowDocument): Pieces<readonly FlowFinding[]> {
  const found: Found = new FirstFindings()
  yield* findDuplicates(flow, found)
  checkStart(flow, found)
  yield* checkEdges(flow, found)
  yield* checkSecrets(flow, found)
  yield* checkKeys(flow, found)
  return found.list(moreFindings)
}

/** Work of looking at a node, a port or an edge. */
const STEPS_OF_LOOK = 4
const STEPS_OF_EDGE = 16

function* findDuplicates({ graph, agents, extensions }: FlowDocument, found: Found): Pieces<void> {
  const nodeIds = graph.nodes.map(({ nodeId }) => nodeId)
  const agentIds = agents.agentDefs.map(({ agentId }) => agentId)
  yield* findRepeated(nodeIds, 'duplicate_node_id', ['graph', 'nodes'], found)
  yield* findRepeated(agentIds, 'duplicate_agent_id', ['agents', 'agentDefs'], found)
  for (const [index, node] of graph.nodes.entries()) {
    const { inputs, outputs } = portsOf(node, extensions.customNodeSpecs)
    const path = ['graph', 'nodes', index]
    const idsOf = (list: readonly FlowPort[]) => list.map(({ portId }) => portId)
    yield* findRepeated(idsOf(inputs), 'duplicate_port_id', [...path, 'inputPorts'], found)
    yield* findRepeated(idsOf(outputs), 'duplicate_port_id', [...path, 'outputPorts'], found)
  }
}

function* findRepeated(
  ids: readonly string[],
  code: FlowFinding['code'],
  path: Path,
  found: Found
): Pieces<void> {
  const seen = new Set<string>()
  for (const [index, id] of ids.entries()) {
    passSteps(STEPS_OF_LOOK)
    if (isSliceFull()) yield
    if (seen.has(id)) found.add(error(code, [...path, index], `${id} stands there twice`))
    seen.add(id)
  }
}

function checkStart({ graph }: FlowDocument, found: Found): void {
  if (graph.nodes.some(({ nodeId }) => nodeId === graph.startNodeId)) return
  const message = `there is no node ${graph.startNodeId}`
  found.add(error('start_node_not_found', ['graph', 'startNodeId'], message))
}

function* checkEdges({ graph, extensions }: FlowDocument, found: Found): Pieces<void> {
  const ports = new Map<string, NodePorts>()
  for (const node of graph.nodes) {
    if (isSliceFull()) yield
    ports.set(node.nodeId, portsOf(node, extensions.customNodeSpecs))
  }
  const seen = new Set<string>()
  const fed = new Set<string>()
  for (const [index, edge] of graph.edges.entries()) {
    passSteps(STEPS_OF_EDGE)
    if (isSliceFull()) yield
    const path = ['graph', 'edges', index]
    checkEnds(edge, ports, path, found)
    const key = JSON.stringify([edge.source, edge.target, edge.sourceHandle, edge.targetHandle])
    if (edge.source === edge.target) {
      found.add(error('self_edge', path, `${edge.source} leads to itself`))
    }
    if (seen.has(key)) found.add(error('duplicate_edge', path, 'the same edge stands before'))
    seen.add(key)
    const target = ports.get(edge.target)
    if (target === undefined || !carriesData(edge, target)) continue
    const input = JSON.stringify([edge.target, edge.targetHandle])
    if (fed.has(input)) {
      const message = `the input ${edge.targetHandle ?? ''} of ${edge.target} has two sources`
      found.add(error('input_has_many_sources', path, message))
    }
    fed.add(input)
  }
}

function checkEnds(
  edge: FlowEdge,
  ports: ReadonlyMap<string, NodePorts>,
  path: Path,
  found: Found
): void {
  const source = ports.get(edge.source)
  const target = ports.get(edge.target)
  if (source === undefined) {
    const message = `there is no node ${edge.source}`
    found.add(error('edge_source_not_found', [...path, 'source'], message))
  }
  if (target === undefined) {
    const message = `there is no node ${edge.target}`
    found.add(error('edge_target_not_found', [...path, 'target'], message))
  }
  const from = source === undefined ? undefined : named(source.outputs, edge.sourceHandle)
  const to = target === undefined ? undefined : named(target.inputs, edge.targetHandle)
  if (from === null) {
    const message = `${edge.source} has no output ${edge.sourceHandle ?? ''}`
    found.add(error('edge_port_not_found', [...path, 'sourceHandle'], message))
  }
  if (to === null) {
    const message = `${edge.target} has no input ${edge.targetHandle ?? ''}`
    found.add(error('edge_port_not_found', [...path, 'targetHandle'], message))
  }
  if (from && to && !areCompatible(from.dataType, to.dataType)) {
    found.add(error('port_type_mismatch', path, `${from.dataType} does not fit ${to.dataType}`))
  }
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

function* checkSecrets({ agents, runtime, graph }: FlowDocument, found: Found): Pieces<void> {
  const check = (path: Path, value: string | undefined) => {
    if (value === undefined || isSecretReference(value)) return
    found.add(error('secret_not_reference', path, 'a secret is given as env:NAME or file:PATH'))
  }
  check(['runtime', 'adapterConfig', 'apiKey'], runtime.adapterConfig.apiKey)
  for (const [index, { adapterConfig }] of agents.agentDefs.entries()) {
    passSteps(STEPS_OF_LOOK)
    if (isSliceFull()) yield
    check(['agents', 'agentDefs', index, 'adapterConfig', 'apiKey'], adapterConfig.apiKey)
  }
  for (const [index, { config }] of graph.nodes.entries()) {
    passSteps(STEPS_OF_LOOK)
    if (isSliceFull()) yield
    check(['graph', 'nodes', index, 'config', 'credential'], config.credential)
  }
}

/** Ledger values have no keys that begin with `$`. */
function* checkKeys({ agents, runtime, graph }: FlowDocument, found: Found): Pieces<void> {
  const places: readonly (readonly [Path, unknown])[] = [
    [['agents'], agents.agentDefs],
    [['runtime'], runtime],
    [['graph', 'nodes'], graph.nodes]
  ]
  for (const [path, value] of places) {
    const key = yield* reservedKey(value as Json)
    if (key === undefined) continue
    found.add(error('reserved_key', path, `the key ${key} begins with a reserved sign`))
  }
}

function* reservedKey(value: Json): Pieces<string | undefined> {
  if (!isContainer(value)) return undefined
  const isObject = isJsonObject(value)
  for (const [key, member] of Object.entries(value)) {
    if (isObject && key.startsWith('$')) return key
    passSteps(1)
    if (isSliceFull()) yield
    const found = isContainer(member) ? yield* reservedKey(member) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

function isContainer(value: Json): value is JsonArray | JsonObject {
  return typeof value === 'object' && value !== null
}
