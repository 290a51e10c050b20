import {
  atOnce,
  canonicalize,
  type Hash,
  hashJson,
  isSliceFull,
  type Json,
  limits,
  type Pieces,
  passSteps,
  payWork,
  writingLength
} from '../../core/index.js'
import { checkingProtocol } from '../document/check-protocol.js'
import type { FlowDocument, FlowNode, OnError } from '../document/flow.js'
import { type Issue, Issues } from '../document/issue.js'
import type { PackDocument } from '../document/pack.js'
import { atOrigin, type PlanOrigin } from '../document/plan-import.js'
import { type ProtocolDocument, protocolKey } from '../document/protocol.js'
import type { AisValue } from '../document/value.js'
import { flowPolicy } from '../policy/policy.js'
import { typedAs } from '../type/check.js'
import type { CompileValues } from '../value/compile.js'
import { inputAmounts, returnAmounts } from './amounts.js'
import { catalogueOf } from './catalogue.js'
import { checkIncluded } from './check-pack.js'
import { type Expanded, expandingNode } from './expand.js'
import type { Expansion } from './expansion.js'
import { orderGraph } from './order.js'
import { type AisPlan, type AisPlanNode, type PlanPlaces, planSchemaName } from './plan.js'
import { checkOrigin, withInputTypes } from './plan-origin.js'
import { readingValue } from './reading.js'
import { type ResolvedNode, resolveNode } from './resolve.js'

/** A workflow to plan, with the protocols and packs that it names. */
export interface PlanOptions {
  readonly flow: FlowDocument
  /** Of a workflow that was read from a plan: it must come to that plan again. */
  readonly origin?: PlanOrigin
  readonly protocols: Iterable<ProtocolDocument>
  /** What compiles values: `valuesFor(flow, ...protocols)`. */
  readonly values: CompileValues
  /** Chain of nodes that name none, when the workflow has no default either. */
  readonly defaultChain?: string
  readonly pack?: PackDocument
  /** All packs, if there are several. */
  readonly packs?: readonly PackDocument[]
  /** What the failure of a node leads to where nothing is written; default `ask` (W13). */
  readonly onError?: OnError
}

/** The plan of a workflow, or what is wrong with it. */
export type PlanResult =
  | {
      readonly ok: true
      /** What was planned: that of a plan with the types of what it does not declare. */
      readonly flow: FlowDocument
      readonly plan: AisPlan
      /** SHA-256 of the plan's canonical JSON. */
      readonly planHash: Hash
      readonly issues: readonly Issue[]
      readonly resolved: ReadonlyMap<string, ResolvedNode>
    }
  | { readonly ok: false; readonly issues: readonly Issue[] }

/**
 * Makes the plan of a workflow (W1, W2): looks up protocols, chains and executions, finds
 * dependencies in the syntax trees of its values, takes composites apart. Pure; what is wrong is
 * data.
 */
export function planFlow(options: PlanOptions): PlanResult {
  return atOnce(planningFlow(options))
}

/** {@link planFlow} in pieces: other work may be done wherever it yields. */
export function* planningFlow(options: PlanOptions): Pieces<PlanResult> {
  const { origin } = options
  if (origin === undefined) return yield* planning(options, new Issues())
  const issues = new Issues()
  const protocols = catalogueOf(options.protocols)
  const flow = withInputTypes(options.flow, origin, protocols, issues)
  const planned = yield* planning({ ...options, flow, protocols: protocols.values() }, issues)
  if (!planned.ok || origin.plan === null) return movedTo(planned, origin)
  const found = new Issues()
  checkOrigin({ plan: origin.plan }, planned, found)
  return found.hasErrors ? { ok: false, issues: found.list } : movedTo(planned, origin)
}

function movedTo(planned: PlanResult, origin: PlanOrigin): PlanResult {
  const issues = planned.issues.map((issue) => atOrigin(issue, origin))
  if (!planned.ok) return { ok: false, issues }
  const { flow, plan, resolved } = planned
  return {
    ok: true,
    flow,
    plan,
    get planHash() {
      return planned.planHash
    },
    issues,
    resolved
  }
}

function* planning(options: PlanOptions, issues: Issues): Pieces<PlanResult> {
  const { flow, values, pack, packs = pack === undefined ? [] : [pack] } = options
  yield* checkingInputs(flow, issues)
  const resolved = yield* resolvingAll(options, issues)
  checkSimulated(flow, issues)
  for (const { path, message } of flowPolicy(flow.policy ?? {})?.error?.issues ?? []) {
    issues.error('schema_violation', message, ['policy', ...path.map(String)])
  }
  const used = usedProtocols([...resolved.values()])
  for (const protocol of used) {
    yield* checkingProtocol(protocol, issues.of(protocolKey(protocol)))
  }
  checkIncluded({ flow, packs, resolved, issues })
  const expansion: Expansion = {
    flow,
    values,
    resolved,
    nodeIds: new Set(flow.nodes.map(({ id }) => id)),
    inputs: new Set(Object.keys(flow.inputs)),
    used,
    places: placesIn(resolved),
    onError: options.onError ?? 'ask'
  }
  const expanded: Expanded[] = []
  for (const node of resolved.values()) {
    const here = issues.below(node.path, { nodeId: node.node.id })
    expanded.push(...(yield* expandingNode(node, expansion, here)))
  }
  const outputAmounts = yield* readingOutputs(expansion, issues)
  const joined = yield* joiningQueries(expanded, issues)
  const nodes = ordered(withSharedNames(joined), issues)
  if (issues.hasErrors || nodes === undefined) return { ok: false, issues: issues.list }
  const plan: AisPlan = {
    schema: planSchemaName,
    name: flow.meta.name,
    version: flow.meta.version,
    inputs: Object.fromEntries(
      Object.entries(flow.inputs).map(([name, { type, required, default: fallback }]) => [
        name,
        { type, required, ...(fallback === undefined ? {} : { default: fallback as Json }) }
      ])
    ),
    policy: (flow.policy ?? {}) as Readonly<Record<string, Json>>,
    nodes,
    outputs: flow.outputs ?? {},
    amounts: outputAmounts,
    requiresPack: requiredPack(flow),
    ...(expansion.places.size === 0 ? {} : { places: Object.fromEntries(expansion.places) })
  }
  // Nodes share executions in memory, and not as text: it may be more than 32 bits can count.
  payWork(Math.floor((yield* writingLength(plan)) / CHARS_OF_STEP))
  return {
    ok: true,
    flow,
    plan,
    // A run has the hash of its definition: few readers ask for this one.
    get planHash() {
      return hashJson(plan)
    },
    issues: issues.list,
    resolved
  }
}

function requiredPack({ requires_pack: needed }: FlowDocument): AisPlan['requiresPack'] {
  return needed === undefined ? null : { name: needed.name, version: needed.version }
}

/** "__" joins a node and its step; a node that has it itself is told apart by its place. */
function placesIn(resolved: ReadonlyMap<string, ResolvedNode>): Expansion['places'] {
  const places = new Map<string, PlanPlaces[string]>()
  for (const { node, steps } of resolved.values()) {
    if (!node.id.includes('__')) continue
    for (const { id, step } of steps) {
      places.set(id, { node: node.id, step: id === node.id ? null : step })
    }
  }
  return places
}

/** The bytes by which a plan is known, as text. */
export function planText(plan: AisPlan): string {
  return canonicalize(plan)
}

/** Characters of a plan that are one step of work. */
const CHARS_OF_STEP = 16
/** Work of an input, and of looking up a node. */
const STEPS_OF_LOOK = 16

function* checkingInputs(flow: FlowDocument, issues: Issues): Pieces<void> {
  for (const [name, { type, default: fallback }] of Object.entries(flow.inputs)) {
    passSteps(STEPS_OF_LOOK)
    if (isSliceFull()) yield
    if (fallback === undefined) continue
    const typed = typedAs(type, fallback as Json)
    if (typed.ok) continue
    issues.error('invalid_default', `default: ${typed.problem}`, ['inputs', name, 'default'])
  }
}

function* resolvingAll(
  options: PlanOptions,
  issues: Issues
): Pieces<ReadonlyMap<string, ResolvedNode>> {
  const { flow, defaultChain } = options
  const protocols = catalogueOf(options.protocols)
  const resolved = new Map<string, ResolvedNode>()
  const taken = new Set<string>(reservedIds)
  let count = 0
  for (const [index, node] of (flow.nodes as readonly FlowNode[]).entries()) {
    passSteps(STEPS_OF_LOOK)
    if (isSliceFull()) yield
    const path = ['nodes', index]
    const here = issues.below(path, { nodeId: node.id })
    const found = resolveNode(node, path, { flow, protocols, defaultChain }, here)
    for (const id of found?.steps.map((step) => step.id) ?? [node.id]) {
      if (taken.has(id)) here.error('duplicate_node_id', `the node id ${id} stands twice`, ['id'])
      else if (id.length > nodeIdLengthMax) {
        here.error('schema_violation', `the id ${id} of a step is too long`, ['id'])
      }
      taken.add(id)
    }
    if (node.until !== undefined && node.retry === undefined) {
      here.error('polling_refused', 'until needs retry: how often it is asked again', ['retry'])
    }
    if (found === undefined) continue
    count += found.steps.length
    if (!resolved.has(node.id)) resolved.set(node.id, found)
  }
  if (count > limits.GRAPH_NODES_MAX) {
    const message = `a plan has at most ${limits.GRAPH_NODES_MAX} nodes, this one ${count}`
    issues.error('too_many_nodes', message, ['nodes'])
  }
  return resolved
}

const nodeIdLengthMax = 64
/** Nodes that the engine adds. */
const reservedIds = ['run__outputs', 'run__inputs']

/** Whatever names a node means one: a simulation that is asked for must not be left out. */
function checkSimulated({ preflight, nodes }: FlowDocument, issues: Issues): void {
  const simulate = preflight?.simulate ?? false
  if (typeof simulate === 'boolean') return
  const ids = new Set(nodes.map(({ id }) => id))
  for (const id of Object.keys(simulate)) {
    if (ids.has(id)) continue
    issues.error('unknown_reference', `there is no node ${id}`, ['preflight', 'simulate', id])
  }
}

function usedProtocols(nodes: readonly ResolvedNode[]): readonly ProtocolDocument[] {
  const byKey = new Map(nodes.map(({ protocol }) => [protocolKey(protocol), protocol]))
  return [...byKey].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, one]) => one)
}

/** What outputs read must exist; gives the types of it. */
function* readingOutputs(expansion: Expansion, issues: Issues): Pieces<readonly string[]> {
  const { flow, values, nodeIds, inputs, resolved } = expansion
  const none: ReadonlySet<string> = new Set()
  const around = { values, nodeIds, inputs, params: none, queries: none, steps: none }
  const amounts = new Set(inputAmounts(flow))
  for (const [name, value] of Object.entries(flow.outputs ?? {}) as [string, AisValue][]) {
    const read = yield* readingValue({ scope: 'flow', value }, ['outputs', name], around, issues)
    if (isSliceFull()) yield
    for (const { root, path } of read) {
      passSteps(1)
      if (isSliceFull()) yield
      const node = root === 'nodes' ? resolved.get(String(path[0])) : undefined
      if (node === undefined) continue
      const at = `nodes.${node.node.id}.outputs`
      for (const pattern of returnAmounts(at, node.returns)) amounts.add(pattern)
    }
  }
  return [...amounts].sort()
}

/**
 * Joins the queries that a protocol's action reads to the nodes that ask them: what is asked for
 * must stand in the workflow exactly once among the nodes it waits for.
 */
function* joiningQueries(
  expanded: readonly Expanded[],
  issues: Issues
): Pieces<readonly AisPlanNode[]> {
  if (expanded.every(({ source }) => (source.action?.requires_queries ?? []).length === 0)) {
    return expanded.map(({ planNode }) => planNode)
  }
  const byId = new Map(expanded.map((one) => [one.planNode.id, one]))
  const joined: AisPlanNode[] = []
  for (const { planNode, source } of expanded) {
    if (isSliceFull()) yield
    const wanted = source.action?.requires_queries ?? []
    const queries: Record<string, string> = {}
    const deps = new Set(planNode.deps)
    for (const name of wanted) {
      const answers = planNode.deps.filter((id) => {
        const other = byId.get(id)?.planNode.source
        return other?.protocol === planNode.source.protocol && other.name === name
      })
      const [answer] = answers
      if (answer === undefined || answers.length > 1) {
        const message =
          `${source.name} needs the answer to ${name}: exactly one of the nodes that it waits ` +
          'for must ask that query'
        issues
          .below(source.path, { nodeId: planNode.source.node })
          .error('missing_query', message, ['deps'])
      } else {
        queries[name] = answer
        deps.add(answer)
      }
    }
    const amounts = Object.entries(queries).flatMap(([name, id]) =>
      returnAmounts(`query.${name}`, byId.get(id)?.planNode.returns ?? [])
    )
    joined.push({
      ...planNode,
      queries,
      deps: [...deps].sort(),
      amounts: [...new Set([...planNode.amounts, ...amounts])].sort()
    })
  }
  return joined
}

/** Marks contract names that mean one thing in the whole workflow: one chain, one deployment. */
function withSharedNames(nodes: readonly AisPlanNode[]): readonly AisPlanNode[] {
  const meanings = new Map<string, Set<string>>()
  for (const { chain, contracts } of nodes) {
    for (const { name, from } of contracts) {
      const known = meanings.get(name) ?? new Set()
      meanings.set(name, known.add(`${chain} ${from ?? ''}`))
    }
  }
  return nodes.map((node) => ({
    ...node,
    contracts: node.contracts.map((contract) => ({
      ...contract,
      isShared: meanings.get(contract.name)?.size === 1
    }))
  }))
}

function ordered(
  nodes: readonly AisPlanNode[],
  issues: Issues
): readonly AisPlanNode[] | undefined {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const deps = new Map(
    nodes.map((node) => [node.id, node.deps.filter((id) => byId.has(id))] as const)
  )
  const { order, cycle } = orderGraph(deps)
  if (cycle !== undefined) {
    const message = `nodes wait for each other: ${[...cycle, cycle[0]].join(' -> ')}`
    issues.error('cycle', message, ['nodes'])
    return undefined
  }
  return order.flatMap((id) => byId.get(id) ?? [])
}
