import { canonicalize } from '../../core/index.js'
import type { Issues } from '../document/issue.js'
import { issuesOf, type LintNode, type LintSubject, type ReadValue } from './subject.js'

/**
 * Reads of what a skipped node would have given (W6). A node counts as skippable when it has a
 * condition, or an action of one step with a condition. Guarded is a read whose own value or whose
 * node's condition tests it with `has()`, or whose node has the same condition.
 */
export function lintSkips({ nodes, byId }: LintSubject, issues: Issues): void {
  for (const node of nodes) {
    const condition = node.values.find(({ path }) => path[0] === 'condition')
    for (const value of node.values) {
      for (const { root, path, tested } of value.references) {
        const other = root === 'nodes' ? byId.get(String(path[0])) : undefined
        if (other === undefined || other.id === node.id || tested || !isSkippable(other)) continue
        if (isGuarded(other, node, value, condition)) continue
        const message =
          `${other.id} may be skipped, and then has no outputs; test it with ` +
          `has(nodes.${other.id}.outputs), or give this node the same condition`
        issuesOf(node, issues).warn('skipped_reference', message, value.path)
      }
    }
  }
}

function isSkippable({ node, steps }: LintNode): boolean {
  return node.condition !== undefined || steps.at(-1)?.condition != null
}

function isGuarded(
  other: LintNode,
  node: LintNode,
  value: ReadValue,
  condition: ReadValue | undefined
): boolean {
  const tests = ({ references }: ReadValue) =>
    references.some(({ root, path, tested }) => tested && root === 'nodes' && path[0] === other.id)
  if (tests(value) || (condition !== undefined && tests(condition))) return true
  const [one, same] = [node.node.condition, other.node.condition]
  return one !== undefined && same !== undefined && canonicalize(one) === canonicalize(same)
}
