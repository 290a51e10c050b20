import { isJsonObject, type Json, type JsonObject } from '../../core/index.js'

const kindsByType: Readonly<Record<string, string>> = {
  agent: 'agent.main',
  input: 'input.prompt',
  output: 'control.finish',
  loop: 'control.plan-loop'
}

/** Brings a flow of schemaVersion 1.0 to 2.0: node kinds instead of node types. */
export function migrateFlow(document: JsonObject): JsonObject {
  const meta = isJsonObject(document['meta']) ? document['meta'] : {}
  if (meta['schemaVersion'] !== '1.0') return document
  const graph = isJsonObject(document['graph']) ? document['graph'] : {}
  const nodes = Array.isArray(graph['nodes']) ? graph['nodes'].map(migrateNode) : graph['nodes']
  return {
    ...document,
    meta: { ...meta, schemaVersion: '2.0' },
    graph: { ...graph, ...(nodes === undefined ? {} : { nodes }) }
  }
}

function migrateNode(node: Json): Json {
  if (!isJsonObject(node) || typeof node['nodeKind'] === 'string') return node
  const { nodeType, ...rest } = node
  if (typeof nodeType !== 'string') return node
  // A type without a kind of today keeps its name, and is refused by that name.
  const nodeKind = Object.hasOwn(kindsByType, nodeType) ? kindsByType[nodeType] : nodeType
  return { ...rest, nodeKind: nodeKind ?? nodeType }
}
