import type { Reference } from '../../expression/index.js'
import type { FlowDocument } from '../document/flow.js'
import { importsOf } from '../document/flow.js'
import { type Issue, Issues } from '../document/issue.js'
import type { AisValue } from '../document/value.js'
import type { AisPlan } from '../plan/plan.js'
import type { ResolvedNode } from '../plan/resolve.js'
import { type CompileValues, compileAisValue, type Scope } from '../value/compile.js'
import { lintAmounts } from './amounts.js'
import { lintApprovals } from './approvals.js'
import { lintChecks } from './checks.js'
import { lintGraph } from './graph.js'
import { lintSkips } from './skips.js'
import type { LintNode, LintSubject, ReadValue } from './subject.js'

/**
 * Doubts about a workflow that can be planned (W12): recommended checks that are missing, units
 * that do not fit, reads of skipped nodes, and more. Warnings, none of which stops a run.
 */
export function lintFlow({
  flow,
  plan,
  resolved,
  values
}: {
  readonly flow: FlowDocument
  readonly plan: AisPlan
  readonly resolved: ReadonlyMap<string, ResolvedNode>
  readonly values: CompileValues
}): readonly Issue[] {
  const found: Issue[] = []
  const issues = new Issues(found)
  const ancestors = ancestorsIn(plan)
  const nodes = [...resolved.values()].map(
    (node): LintNode => ({
      ...node,
      id: node.node.id,
      values: valuesOf(node, values),
      ancestors: ancestors.get(node.node.id) ?? new Set()
    })
  )
  const subject = { flow, plan, nodes, byId: new Map(nodes.map((node) => [node.id, node])) }
  for (const rule of rules) rule(subject, issues)
  lintUnused(subject, issues)
  return found
}

const rules: readonly ((subject: LintSubject, issues: Issues) => void)[] = [
  lintGraph,
  lintSkips,
  lintChecks,
  lintApprovals,
  lintAmounts
]

function valuesOf(resolved: ResolvedNode, values: CompileValues): readonly ReadValue[] {
  const { node } = resolved
  const written: (readonly [readonly (string | number)[], AisValue])[] = [
    ...Object.entries(node.args).map(([name, value]) => [['args', name], value] as const),
    ...Object.entries(node.calculated_overrides).map(
      ([name, value]) => [['calculated_overrides', name], value] as const
    )
  ]
  for (const key of ['condition', 'until', 'assert'] as const) {
    const value = node[key]
    if (value !== undefined) written.push([[key], value])
  }
  return written.map(([path, value]) => ({
    value,
    scope: 'flow',
    path,
    references: referencesOf(value, 'flow', values)
  }))
}

function referencesOf(value: AisValue, scope: Scope, values: CompileValues): readonly Reference[] {
  const result = compileAisValue({ scope, value }, '', values)
  return result.ok ? result.compiled.references : []
}

/** Which nodes of the workflow each waits for; steps count as their node. */
function ancestorsIn(plan: AisPlan): ReadonlyMap<string, ReadonlySet<string>> {
  const byPlanId = new Map<string, Set<string>>()
  const byNode = new Map<string, Set<string>>()
  const nodeOf = new Map(plan.nodes.map(({ id, source }) => [id, source.node]))
  for (const { id, deps, source } of plan.nodes) {
    const all = new Set<string>()
    for (const dep of deps) {
      all.add(nodeOf.get(dep) ?? dep)
      for (const one of byPlanId.get(dep) ?? []) all.add(one)
    }
    all.delete(source.node)
    byPlanId.set(id, all)
    const known = byNode.get(source.node) ?? new Set()
    for (const one of all) known.add(one)
    byNode.set(source.node, known)
  }
  return byNode
}

function lintUnused({ flow, nodes }: LintSubject, issues: Issues): void {
  const read = new Set(
    nodes.flatMap(({ values }) =>
      values.flatMap(({ references }) =>
        references.filter(({ root }) => root === 'inputs').map(({ path }) => String(path[0] ?? '*'))
      )
    )
  )
  const outputs = JSON.stringify(flow.outputs ?? {})
  for (const name of Object.keys(flow.inputs)) {
    if (read.has(name) || read.has('*') || outputs.includes(`inputs.${name}`)) continue
    issues.note('unused_input', `no value reads the input ${name}`, ['inputs', name])
  }
  const used = new Set(flow.nodes.map(({ protocol }) => protocol))
  for (const [index, { protocol }] of importsOf(flow).entries()) {
    if (used.has(protocol)) continue
    issues.note('unused_import', `no node uses ${protocol}`, ['imports', 'protocols', index])
  }
}
