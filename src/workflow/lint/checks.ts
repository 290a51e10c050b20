import type { Issues } from '../document/issue.js'
import { issuesOf, type LintNode, type LintSubject } from './subject.js'
import { awaitedBy, waitingFor } from './waiting.js'

type Search = typeof waitingFor

/**
 * Checks that a protocol recommends around its actions and that the workflow does not make (W12):
 * queries before, queries after; and sends to another chain whose arrival no node waits for.
 */
export function lintChecks({ nodes, plan, byId }: LintSubject, issues: Issues): void {
  const before = asking(waitingFor)
  const after = asking(awaitedBy)
  let polled: ReadonlySet<string> | undefined
  for (const node of nodes) {
    const { action } = node
    if (action === null) continue
    const here = issuesOf(node, issues)
    for (const query of action.recommended_prechecks) {
      if (before(node, query).has(node.id)) continue
      here.note('recommended_check', recommended('before', node, query))
    }
    for (const query of action.recommended_postchecks) {
      if (after(node, query).has(node.id)) continue
      here.note('recommended_check', recommended('after', node, query))
    }
    if (!node.returns.some(({ name }) => name === 'message_id')) continue
    polled ??= awaitedBy(plan, (id) => byId.get(id)?.node.until !== undefined)
    if (polled.has(node.id)) continue
    here.note('recommended_check', 'no node polls whether what it sends has arrived')
  }

  /** Nodes that have, before or after them, a node that asks a query: one search for each query. */
  function asking(search: Search): (node: LintNode, query: string) => ReadonlySet<string> {
    const known = new Map<string, ReadonlySet<string>>()
    return ({ node: { protocol } }, query) => {
      const key = `${protocol} ${query}`
      const found = known.get(key) ?? search(plan, (id) => asks(byId.get(id), protocol, query))
      known.set(key, found)
      return found
    }
  }
}

function asks(other: LintNode | undefined, protocol: string, query: string): boolean {
  if (other === undefined) return false
  return other.action === null && other.name === query && other.node.protocol === protocol
}

function recommended(when: string, { name, node }: LintNode, query: string): string {
  return `${when} ${name} it is recommended to ask ${query} of ${node.protocol}`
}
