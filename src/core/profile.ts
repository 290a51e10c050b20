import type { JsonObject } from './json/value.js'

/**
 * Names what results of trusted code may depend on besides their inputs: V8's maths changed between
 * majors of Node (architecture.md D5).
 */
export function runtimeProfile(): JsonObject {
  return { js: `node-${process.versions.node.split('.')[0] ?? ''}` }
}
/** Oldest Node that this package runs on, as `engines` of its package.json says. */
export const NODE_VERSION_MIN = '20.19'

/** One plain sentence where a version of Node is too old for this package; undefined: it is not. */
export function nodeProblem(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [majorMin = 0, minorMin = 0] = NODE_VERSION_MIN.split('.').map(Number)
  if (major > majorMin || (major === majorMin && minor >= minorMin)) return undefined
  return `tallystick needs Node ${NODE_VERSION_MIN} or newer; this is Node ${version}.`
}

/** Throws that sentence where this process runs on such a Node. */
export function checkNode(): void {
  const problem = nodeProblem(process.versions.node)
  if (problem !== undefined) throw new Error(problem)
}
