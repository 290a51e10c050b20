import type { Issues } from '../document/issue.js'
import { issuesOf, type LintNode, type LintSubject } from './subject.js'

/**
 * What a document asks for and nothing here checks: preconditions in text, capabilities of an
 * engine. It is said rather than passed over.
 */
export function lintUnchecked({ nodes }: LintSubject, issues: Issues): void {
  for (const node of nodes) {
    const here = issuesOf(node, issues)
    const texts = (node.action?.pre_conditions ?? []).filter((one) => typeof one === 'string')
    for (const text of texts) {
      const message = `the precondition "${text}" of ${node.name} is text, which is for people`
      here.note('not_checked', `${message}; write {cel: ...} to have it checked`)
    }
    for (const capability of capabilitiesOf(node)) {
      const message = `${node.name} needs the capability ${capability} of whatever executes it`
      here.note('not_checked', message)
    }
  }
}

function capabilitiesOf({ protocol, callable, steps }: LintNode): readonly string[] {
  const types: ReadonlySet<string> = new Set(steps.map(({ execution }) => execution.type))
  const wanted = [
    ...(protocol.capabilities_required ?? []),
    ...(callable.capabilities_required ?? [])
  ]
  // An execution type is looked up when the node is checked.
  return [...new Set(wanted)].filter((one) => !types.has(one)).sort()
}
