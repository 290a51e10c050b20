import type { Issues } from '../document/issue.js'
import { issuesOf, type LintNode, type LintSubject } from './subject.js'

/**
 * Checks that a protocol recommends around its actions and that the workflow does not make (W12):
 * queries before, queries after; and sends to another chain whose arrival no node waits for.
 */
export function lintChecks({ nodes, byId }: LintSubject, issues: Issues): void {
  for (const node of nodes) {
    const { action } = node
    if (action === null) continue
    const here = issuesOf(node, issues)
    const before = [...node.ancestors].flatMap((id) => byId.get(id) ?? [])
    for (const query of action.recommended_prechecks) {
      if (before.some((other) => asks(other, node, query))) continue
      here.note('recommended_check', recommended('before', node, query))
    }
    const after = nodes.filter((other) => other.ancestors.has(node.id))
    for (const query of action.recommended_postchecks) {
      if (after.some((other) => asks(other, node, query))) continue
      here.note('recommended_check', recommended('after', node, query))
    }
    if (!node.returns.some(({ name }) => name === 'message_id')) continue
    if (after.some((other) => other.node.until !== undefined)) continue
    here.note('recommended_check', 'no node polls whether what it sends has arrived')
  }
}

function asks(other: LintNode, node: LintNode, query: string): boolean {
  return other.action === null && other.name === query && other.node.protocol === node.node.protocol
}

function recommended(when: string, { name, node }: LintNode, query: string): string {
  return `${when} ${name} it is recommended to ask ${query} of ${node.protocol}`
}
