import type { Json, JsonObject } from '../../src/core/index.js'

/** The graph of nodes that come one after the other. */
export function sequenceOf(
  nodes: Readonly<Record<string, Json>>,
  more: JsonObject = {}
): JsonObject {
  const names = Object.keys(nodes)
  const pairs = names.slice(1).map((name, n) => [names[n] ?? '', name] as const)
  return { entry_point: names[0] ?? '', nodes, transitions: Object.fromEntries(pairs), ...more }
}

/** A composite of such nodes. */
export function sequenceDocument(nodes: Readonly<Record<string, Json>>, name: string): Json {
  return { schema: 'tally-composite/1', name, version: '1.0.0', ...sequenceOf(nodes) }
}
