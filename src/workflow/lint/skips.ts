import { canonicalizing, isSliceFull, type Pieces, passSteps } from '../../core/index.js'
import type { Issues } from '../document/issue.js'
import { issuesOf, type LintNode, type LintSubject, type ReadValue } from './subject.js'

/**
 * Reads of what a skipped node would have given (W6). A node counts as skippable when it has a
 * condition, or an action of one step with a condition. Guarded is a read whose own value or whose
 * node's condition tests it with `has()`, or whose node has the same condition.
 */
export function* lintingSkips({ nodes, byId }: LintSubject, issues: Issues): Pieces<void> {
  const conditions = yield* conditionNumbers(nodes)
  for (const node of nodes) {
    const here = issuesOf(node, issues)
    const own = conditions.get(node.id)
    const byCondition = testedNodes(node.values.find(({ path }) => path[0] === 'condition'))
    for (const value of node.values) {
      const byValue = testedNodes(value)
      for (const { root, path, tested } of value.references) {
        passSteps(STEPS_OF_REFERENCE)
        if (isSliceFull()) yield
        const other = root === 'nodes' ? byId.get(String(path[0])) : undefined
        if (other === undefined || other.id === node.id || tested || !isSkippable(other)) continue
        if (byValue.has(other.id) || byCondition.has(other.id)) continue
        if (own !== undefined && own === conditions.get(other.id)) continue
        const message =
          `${other.id} may be skipped, and then has no outputs; test it with ` +
          `has(nodes.${other.id}.outputs), or give this node the same condition`
        here.warn('skipped_reference', message, value.path)
      }
    }
  }
}

/** Work of looking at what a value reads. */
const STEPS_OF_REFERENCE = 2

function isSkippable({ node, steps }: LintNode): boolean {
  return node.condition !== undefined || steps.at(-1)?.condition != null
}

function testedNodes(value: ReadValue | undefined): ReadonlySet<string | number> {
  const references = value?.references ?? []
  return new Set(
    references.flatMap(({ root, path, tested }) =>
      tested && root === 'nodes' ? (path[0] ?? []) : []
    )
  )
}

/** By node, a number for its condition: two that say the same have the same. */
function* conditionNumbers(nodes: readonly LintNode[]): Pieces<ReadonlyMap<string, number>> {
  const numbers = new Map<string, number>()
  const byNode = new Map<string, number>()
  for (const { id, node } of nodes) {
    if (node.condition === undefined) continue
    const text = yield* canonicalizing(node.condition)
    const number = numbers.get(text) ?? numbers.size
    numbers.set(text, number)
    byNode.set(id, number)
  }
  return byNode
}
