import { canonicalize, type Json, type JsonObject } from '../../core/index.js'
import type { FlowDocument, FlowNode } from '../document/flow.js'
import type { Issues } from '../document/issue.js'
import type { PlanDocument } from '../document/plan-document.js'
import type { PlanOrigin } from '../document/plan-import.js'
import type { Protocols } from './catalogue.js'
import { exportedExecution, exportPlan, type PlannedFlow } from './export-plan.js'

/** Members of a plan's node that say what is done, and when. */
const telling = [
  'chain',
  'kind',
  'condition',
  'assert',
  'until',
  'bindings',
  'execution',
  'writes'
] as const

/**
 * Refuses a plan that is another one than its protocols give: whatever has written it, nothing but
 * what a protocol says is executed under that protocol's name.
 */
export function checkOrigin(
  { plan }: { readonly plan: PlanDocument },
  planned: PlannedFlow,
  issues: Issues
): void {
  const again = exportPlan(planned)
  const expected = new Map(
    (again['nodes'] as readonly JsonObject[]).map((node) => [node['id'], node] as const)
  )
  for (const [index, node] of plan.nodes.entries()) {
    const here = issues.below(['nodes', index], { nodeId: node.id })
    const wanted = expected.get(node.id)
    expected.delete(node.id)
    if (wanted === undefined) {
      here.error('plan_mismatch', 'what the plan names as its source has no such node')
      continue
    }
    const given = { ...node, execution: exportedExecution(node.execution) } as unknown as JsonObject
    for (const name of telling) {
      if (name === 'writes' && given[name] === undefined) continue
      if (textOf(given[name], name) === textOf(wanted[name], name)) continue
      const message = `its ${name} is not what ${node.source?.protocol} gives for it`
      here.error('plan_mismatch', message, [name])
    }
  }
  for (const id of expected.keys()) {
    issues.error('plan_mismatch', `the plan leaves out ${String(id)}`, ['nodes'])
  }
}

// What is ours beside an execution is compared, too, but not what others have put there.
function textOf(value: Json | undefined, name: (typeof telling)[number]): string {
  if (value === undefined) return ''
  if (name !== 'bindings') return canonicalize(value)
  return canonicalize({ params: (value as JsonObject)['params'] ?? {} })
}

/** A workflow whose undeclared inputs have the types of the parameters that they are given to. */
export function withInputTypes(
  flow: FlowDocument,
  { undeclared }: PlanOrigin,
  protocols: Protocols,
  issues: Issues
): FlowDocument {
  if (undeclared.length === 0) return flow
  const types = new Map<string, string>()
  for (const node of flow.nodes as readonly FlowNode[]) {
    const protocol = protocols.get(node.protocol)
    const callable =
      node.type === 'action_ref'
        ? protocol?.actions[node.action ?? '']
        : protocol?.queries[node.query ?? '']
    for (const { name, type } of callable?.params ?? []) {
      const value = node.args[name]
      if (value === undefined || !('ref' in value) || !value.ref.startsWith('inputs.')) continue
      const input = value.ref.slice('inputs.'.length)
      if (!types.has(input)) types.set(input, type)
    }
  }
  const inputs = { ...flow.inputs }
  for (const name of undeclared) {
    const type = types.get(name)
    const input = inputs[name]
    if (type !== undefined && input !== undefined) inputs[name] = { ...input, type }
    else {
      const message = `nothing says of which type the input ${name} is`
      issues.error('unknown_reference', `${message}: give it to a parameter`, ['nodes'])
    }
  }
  return { ...flow, inputs }
}
