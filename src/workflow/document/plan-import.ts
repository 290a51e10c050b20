import {
  canonicalize,
  type DocumentPath,
  isJsonObject,
  type Json,
  type JsonObject
} from '../../core/index.js'
import { flowSchemaNames } from './flow.js'
import type { Issue } from './issue.js'
import type { PlanDocument, PlanDocumentNode, PlanSkeleton } from './plan-document.js'

/** Under this name the `extensions` of a plan hold what AIS's plans have no place for. */
export const planExtension = 'tallystick'

/** Where a workflow comes from that was made of a plan, or of a skeleton of one. */
export interface PlanOrigin {
  /** Null for a skeleton. */
  readonly plan: PlanDocument | null
  /** By the place of a node in the workflow, its place in the document. */
  readonly places: readonly number[]
  /** Inputs that are read and not declared: they have the types of what they are given to. */
  readonly undeclared: readonly string[]
}

export type ImportedPlan =
  | { readonly ok: true; readonly flow: Json; readonly origin: PlanOrigin }
  | { readonly ok: false; readonly index: number; readonly problem: string }

/**
 * The workflow that a plan says it was made of. Nothing of a plan is executed: its workflow is
 * planned again from the protocols that are given, and must come to the same plan, so that a plan
 * passes every gate that a workflow passes.
 */
export function flowOfPlan(plan: PlanDocument): ImportedPlan {
  const groups = new Map<string, { last: number; members: PlanDocumentNode[] }>()
  for (const [index, node] of plan.nodes.entries()) {
    const { source } = node
    if (source?.protocol === undefined || (source.action ?? source.query) === undefined) {
      const problem =
        'it names no action or query of a protocol, so no policy can know what it does'
      return { ok: false, index, problem }
    }
    const id = source.node_id ?? node.id
    const group = groups.get(id) ?? { last: index, members: [] }
    if (node.id === id) group.last = index
    group.members.push(node)
    groups.set(id, group)
  }
  const ids = new Set(groups.keys())
  const nodes = [...groups].map(([id, { last, members }]) => {
    return flowNode(id, plan.nodes[last] as PlanDocumentNode, members, ids)
  })
  const own = extensionOf(plan)
  const undeclared = own['inputs'] === undefined ? inputsIn(nodes) : []
  const workflow = plan.nodes.find(({ source }) => source?.workflow !== undefined)?.source?.workflow
  const flow = defined({
    schema: flowSchemaNames[1],
    meta: {
      name: workflow?.name ?? plan.meta?.name ?? 'plan',
      version: workflow?.version ?? '0.0.0'
    },
    imports: own['imports'],
    inputs: own['inputs'] ?? inputsNamed(undeclared),
    outputs: own['outputs'],
    policy: own['policy'],
    preflight: own['preflight'],
    requires_pack: own['requires_pack'],
    on_error: own['on_error'],
    nodes
  })
  const places = [...groups.values()].map(({ last }) => last)
  return { ok: true, flow, origin: { plan, places, undeclared } }
}

/** The workflow that a skeleton is short for. */
export function flowOfSkeleton(skeleton: PlanSkeleton): {
  readonly flow: Json
  readonly origin: PlanOrigin
} {
  const { meta, default_chain: chain, nodes } = skeleton
  const undeclared = inputsIn(nodes as readonly Json[])
  const flow = defined({
    schema: flowSchemaNames[1],
    meta: { name: meta?.name ?? 'skeleton', version: '0.0.0' },
    default_chain: chain,
    inputs: inputsNamed(undeclared),
    nodes: nodes as Json
  })
  return { flow, origin: { plan: null, places: nodes.map((_, index) => index), undeclared } }
}

function flowNode(
  id: string,
  last: PlanDocumentNode,
  members: readonly PlanDocumentNode[],
  ids: ReadonlySet<string>
): JsonObject {
  const { source, chain, bindings, until, assert, timeout_ms: timeoutMs } = last
  const isAction = source?.action !== undefined
  const own = extensionOf(last)
  const deps = new Set(members.flatMap((one) => one.deps ?? []))
  const named = [...deps].filter((dep) => dep !== id && ids.has(dep)).sort()
  return defined({
    id,
    chain: own['chain'] ?? chain,
    type: isAction ? 'action_ref' : 'query_ref',
    protocol: source?.protocol,
    [isAction ? 'action' : 'query']: isAction ? source.action : source?.query,
    args: bindings?.params as Json | undefined,
    deps: named.length === 0 ? undefined : named,
    condition: conditionOf(own, members),
    until: until as Json | undefined,
    assert: assert as Json | undefined,
    assert_message: last.assert_message,
    retry: own['retry'] ?? (last.retry as Json | undefined),
    timeout_ms: timeoutMs,
    calculated_overrides: own['calculated_overrides'],
    on_error: own['on_error']
  })
}

/** The node's own condition: of several steps, the part that all have. */
function conditionOf(own: JsonObject, members: readonly PlanDocumentNode[]): Json | undefined {
  const { condition: kept } = own
  // Null: of several steps each has its own, and the node has none.
  if (kept !== undefined) return kept ?? undefined
  const all = members.map(({ condition }) => condition)
  if (all.some((one) => one === undefined)) return undefined
  const texts = all.map((one) => ({ one: one as unknown as Json, text: canonicalize(one) }))
  return texts.sort((left, right) => left.text.length - right.text.length)[0]?.one
}

function inputsIn(nodes: readonly Json[]): readonly string[] {
  const names = new Set<string>()
  for (const node of nodes) {
    for (const [, name = ''] of JSON.stringify(node).matchAll(/\binputs\.([A-Za-z_]\w{0,63})/g)) {
      names.add(name)
    }
  }
  return [...names].sort()
}

/** The planner finds their types, with the protocols. */
function inputsNamed(names: readonly string[]): Json | undefined {
  if (names.length === 0) return undefined
  return Object.fromEntries(names.map((name) => [name, { type: 'string', required: true }]))
}

/** What of ours stands beside what AIS knows. */
export function extensionOf({
  extensions
}: {
  readonly extensions?: Readonly<Record<string, unknown>> | undefined
}): JsonObject {
  const found = extensions?.[planExtension] as Json | undefined
  return found !== undefined && isJsonObject(found) ? found : {}
}

function defined(members: Readonly<Record<string, Json | undefined>>): JsonObject {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as JsonObject
}

/** An issue about a workflow, at its place in the plan that the workflow was made of. */
export function atOrigin(issue: Issue, { plan, places }: PlanOrigin): Issue {
  const [first, index, member, ...rest] = issue.path
  if (issue.protocol !== undefined || first !== 'nodes' || typeof index !== 'number') return issue
  const place = places[index]
  if (place === undefined) return issue
  const isArgument = plan !== null && member === 'args'
  const named: DocumentPath = isArgument
    ? ['bindings', 'params', ...rest]
    : member === undefined
      ? []
      : [member, ...rest]
  return { ...issue, path: ['nodes', place, ...named] }
}
