import { isRead } from '../document/execution.js'
import type { Issues } from '../document/issue.js'
import type { PackDocument } from '../document/pack.js'
import type { AisPlanNode } from '../plan/plan.js'
import { undecodable } from '../policy/measure.js'
import { issuesOf, type LintSubject } from './subject.js'

const bounds = ['max_spend', 'max_spend_per_run', 'allowed_recipients'] as const

/** Actions that a bound refuses whatever they do, because nothing decodes their calls (W15). */
export function lintMeasures({ plan, packs, byId }: LintSubject, issues: Issues): void {
  for (const node of plan.nodes) {
    if (node.risk === null || isRead(node.execution.type)) continue
    const bound = boundOn(node, packs)
    const call = bound === undefined ? undefined : undecodable(node.execution)
    const source = byId.get(node.source.node)
    if (call === undefined || source === undefined) continue
    const message = `${bound} refuses it: ${call} is none of the calls that are decoded`
    issuesOf(source, issues).warn('unmeasured_bound', message)
  }
}

function boundOn(node: AisPlanNode, packs: readonly PackDocument[]): string | undefined {
  const [protocol = ''] = node.source.protocol.split('@')
  const action = `${protocol}.${node.source.name}`
  const given: readonly (object | undefined)[] = [
    node.risk?.constraints,
    node.risk?.bounds,
    ...packs.flatMap(({ policy, overrides }) => [
      policy?.hard_constraints_defaults,
      policy?.hard_constraints,
      overrides?.actions?.[action]?.hard_constraints
    ])
  ]
  return bounds.find((name) => given.some((one) => one !== undefined && Object.hasOwn(one, name)))
}
