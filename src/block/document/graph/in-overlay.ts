import type { CompiledNode } from './compiled.js'
import type { CompositeDefinition, NodeDefinition } from './definition.js'
import type { Diagnostic, DocumentPath } from './diagnostic.js'
import type { CompiledValue } from './expressions.js'
import { mentions } from './mentions.js'
import type { BlockRegistry } from './registry.js'

/** What may stand inside an atomic composite, and how (C4). */

interface DocumentPosition {
  readonly path: DocumentPath
  readonly isInOverlay: boolean
}

type Problem = Pick<Diagnostic, 'path' | 'message'>

/**
 * What happens outside cannot be rolled back with an overlay: a write there needs something that
 * undoes it, or waits for the commit.
 */
export function overlayProblem(
  child: CompiledNode,
  { deferred, timeoutMs }: Pick<NodeDefinition, 'deferred' | 'timeoutMs'>,
  { path, isInOverlay }: DocumentPosition,
  registry: BlockRegistry
): Problem | undefined {
  if (deferred === true) {
    const at = [...path, 'deferred']
    if (!isInOverlay) {
      return { path: at, message: 'only a step inside an atomic composite can be deferred' }
    }
    if (child.kind !== 'leaf') {
      return { path: at, message: 'only a node that is a block can be deferred' }
    }
    if (timeoutMs === undefined) return undefined
    const message = 'a deferred step is done however long it takes: it has no timeout_ms'
    return { path: [...path, 'timeout_ms'], message }
  }
  if (!isInOverlay || child.kind !== 'leaf' || child.sideEffects === 'none') return undefined
  if (isReversible(child.reference, registry)) return undefined
  const { name, sideEffects } = child
  const message =
    `${name} acts outside (${sideEffects}); an atomic composite cannot undo that: ` +
    'declare a compensation, or defer the step'
  return { path, message }
}

function isReversible(reference: string, registry: BlockRegistry): boolean {
  const leaf = registry.block(reference)
  if (leaf?.compensate !== undefined) return true
  const effects = leaf?.capabilities ?? []
  const undone = effects.filter((one) => registry.provider?.(one)?.compensate !== undefined)
  return effects.length > 0 && undone.length === effects.length
}

/** Where a composite reads what a deferred step does not have yet. */
export function deferredProblems(
  { nodes, transitions }: CompositeDefinition,
  { inputs, output }: GraphValues
): readonly Problem[] {
  const problems: Problem[] = []
  for (const [name, node] of Object.entries(nodes)) {
    if (node.deferred !== true) continue
    const branches = Object.hasOwn(transitions, name) ? (transitions[name] ?? []) : []
    if (branches.some(({ condition }) => condition.kind !== 'default')) {
      const message = `${name} is deferred: what follows cannot depend on its response`
      problems.push({ path: ['transitions', name], message })
    }
    for (const [reader, input] of inputs) {
      if (!mentions(input, name)) continue
      problems.push({ path: ['nodes', reader, 'input'], message: `${name} is deferred` })
    }
    if (mentions(output, name)) {
      problems.push({ path: ['output'], message: `${name} is deferred` })
    }
  }
  return problems
}

/** The compiled values of a graph: its nodes' inputs, and its output. */
export interface GraphValues {
  readonly inputs: ReadonlyMap<string, CompiledValue | null>
  readonly output: CompiledValue | null
}
