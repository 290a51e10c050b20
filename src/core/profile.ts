import type { JsonObject } from './json/value.js'

/**
 * Names what results of trusted code may depend on besides their inputs: V8's maths changed between
 * majors of Node (architecture.md D5).
 */
export function runtimeProfile(): JsonObject {
  return { js: `node-${process.versions.node.split('.')[0] ?? ''}` }
}
