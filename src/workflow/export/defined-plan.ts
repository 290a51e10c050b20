import { isJsonObject, type Json, type JsonObject } from '../../core/index.js'
import { planDocumentNames } from '../document/plan-document.js'
import { readSpecNode } from '../engine/node-spec.js'
import { exportedDefinitionNode } from '../plan/export-plan.js'

/** The planned nodes of a run's definition, by their names. */
export function definedNodes(definition: Json): ReadonlyMap<string, JsonObject> {
  const nodes = isJsonObject(definition) ? definition['nodes'] : undefined
  const found = new Map<string, JsonObject>()
  for (const node of Array.isArray(nodes) ? (nodes as readonly Json[]) : []) {
    const planned = ['input', 'object', 'spec', 'lit', 'node'].reduce(memberOf, node)
    if (isJsonObject(planned)) found.set(String(planned['id']), planned)
  }
  return found
}

/** The plan of AIS that a run carries out; a run of something else has no nodes of it. */
export function planOfDefinition(definition: Json): JsonObject {
  const about = isJsonObject(definition) ? definition : {}
  const { name = null, version = null } = about
  const nodes = [...definedNodes(definition).values()].map((node) =>
    exportedDefinitionNode(readSpecNode(node), {
      name: String(name),
      version: String(version)
    })
  )
  return { schema: planDocumentNames[1], meta: { name: String(name) }, nodes }
}

function memberOf(owner: Json, key: string): Json {
  return isJsonObject(owner) ? (owner[key] ?? null) : null
}
