import type { Issues } from '../document/issue.js'
import { issuesOf, type LintNode, type LintSubject } from './subject.js'

const unlimited: ReadonlySet<unknown> = new Set(['max', String(2n ** 256n - 1n)])

/** Approvals without limit, to an address that the caller names, or given without need. */
export function lintApprovals({ nodes }: LintSubject, issues: Issues): void {
  for (const node of nodes) {
    if (node.action?.risk_tags.includes('approval') !== true) continue
    const here = issuesOf(node, issues)
    const { args, condition } = node.node
    for (const [name, value] of Object.entries(args)) {
      if ('lit' in value && unlimited.has(value.lit)) {
        const message = 'it approves without limit: what the spender may take never ends'
        here.warn('risky_approval', message, ['args', name])
      }
    }
    if (isNamedByCaller(node)) {
      const message = 'the caller says who may spend; name a contract of a deployment instead'
      here.warn('risky_approval', message, ['args', 'spender'])
    }
    if (condition === undefined) {
      const message = 'it approves whether or not the allowance is enough; give it a condition'
      here.note('risky_approval', message)
    }
  }
}

function isNamedByCaller({ values }: LintNode): boolean {
  return values.some(
    ({ path, references }) =>
      path[0] === 'args' &&
      path[1] === 'spender' &&
      references.some(({ root }) => root === 'inputs')
  )
}
