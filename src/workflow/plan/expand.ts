import { isSliceFull, type Json, type Pieces, spendWork } from '../../core/index.js'
import type { Reference } from '../../expression/index.js'
import { type FlowDocument, overrideOf } from '../document/flow.js'
import type { Issues } from '../document/issue.js'
import { hardConstraints, type ParamDocument, protocolKey } from '../document/protocol.js'
import type { AisValue } from '../document/value.js'
import type { ScopedValue } from '../value/compile.js'
import { executionValues, isConditionOfCall } from '../value/execution-values.js'
import { deployedContract } from './catalogue.js'
import type { Expansion } from './expansion.js'
import { orderGraph } from './order.js'
import type { AisPlanNode, PlanCalculated, PlanContract, PlanParam, PlanRisk } from './plan.js'
import { checkCondition, checkConditions } from './reading.js'
import { type ResolvedNode, type ResolvedStep, readReturns } from './resolve.js'
import { StepReader } from './step-reader.js'
import { checkUnits } from './units.js'

/** A node of the plan that does not know yet which query answers it reads. */
export interface Expanded {
  readonly planNode: AisPlanNode
  readonly source: ResolvedNode
  /** Queries of its protocol that it reads. */
  readonly asks: ReadonlySet<string>
}

/** The nodes of the plan that a node of the workflow becomes: one, or one for each step (W1). */
export function* expandingNode(
  source: ResolvedNode,
  expansion: Expansion,
  issues: Issues
): Pieces<readonly Expanded[]> {
  const params = yield* findingParams(source, expansion, issues)
  const expanded: Expanded[] = []
  for (const [index, step] of source.steps.entries()) {
    spendWork(STEPS_OF_NODE)
    const earlier = source.steps.slice(0, index)
    // Of several steps only the first tells what is wrong with values that all of them share.
    const shared = index === 0 ? issues : issues.silenced()
    const reader = new StepReader(source, earlier, expansion)
    const parts = { source, step, earlier, params, reader, expansion }
    expanded.push(yield* expandingStep(parts, shared, issues))
    if (isSliceFull()) yield
  }
  return expanded
}

/** Work of one node of the plan besides its values, and of the node of a definition it becomes. */
const STEPS_OF_NODE = 400

interface StepParts {
  readonly source: ResolvedNode
  readonly step: ResolvedStep
  readonly earlier: readonly ResolvedStep[]
  readonly params: readonly PlanParam[]
  readonly reader: StepReader
  readonly expansion: Expansion
}

function* expandingStep(parts: StepParts, shared: Issues, issues: Issues): Pieces<Expanded> {
  const { source, step, earlier, params, reader, expansion } = parts
  const { node, action } = source
  const isLast = step.id === node.id
  const conditions: ScopedValue[] = []
  checkConditions(source, step, shared, expansion.values)
  if (node.condition !== undefined) {
    conditions.push({ scope: 'flow', value: node.condition })
    yield* reader.flow(node.condition, ['condition'], shared)
  }
  if (step.condition !== null) {
    conditions.push({ scope: 'protocol', value: step.condition })
    yield* reader.protocol(step.condition, ['execution', 'condition'], issues)
  }
  for (const [name, value] of Object.entries(node.args)) {
    yield* reader.flow(value, ['args', name], shared)
  }
  const calculated = yield* calculatedOf(source, reader, shared)
  yield* readingExecution(parts, issues)
  const preconditions = yield* preconditionsOf(parts, issues)
  const risk = yield* readingRisk(parts, shared)
  if (isLast) {
    if (node.until !== undefined) yield* reader.own(node.until, ['until'], issues)
    if (node.assert !== undefined) yield* reader.own(node.assert, ['assert'], issues)
  }
  const previous = earlier.at(-1)
  if (previous !== undefined) reader.deps.add(previous.id)
  for (const dep of node.deps) {
    if (dep === node.id) shared.error('self_dep', 'a node cannot wait for itself', ['deps'])
    else if (expansion.nodeIds.has(dep)) reader.deps.add(dep)
    else shared.error('unknown_dep', `there is no node ${dep}`, ['deps'])
  }
  const deps = [...reader.deps].sort()
  const planNode: AisPlanNode = {
    id: step.id,
    chain: step.chain,
    kind: action === null ? 'query' : 'action',
    source: {
      node: node.id,
      protocol: protocolKey(source.protocol),
      name: source.name,
      step: step.step
    },
    deps,
    conditions,
    preconditions,
    params,
    calculated,
    contracts: contractsOf(parts, issues),
    queries: {},
    execution: step.execution,
    ...blockOf(source, step, issues),
    pattern: source.pattern,
    returns: isLast ? source.returns : readReturns(step.execution),
    assert: isLast ? (node.assert ?? null) : null,
    assertMessage: isLast ? (node.assert_message ?? null) : null,
    until: isLast ? (node.until ?? null) : null,
    retry: retryOf(source),
    timeoutMs: node.timeout_ms ?? null,
    onError: node.on_error ?? expansion.flow.on_error ?? expansion.onError,
    simulate: isSimulated(expansion.flow, node.id),
    risk,
    amounts: [...reader.amounts].sort(),
    ...placesOf([...deps, node.id], expansion)
  }
  return { planNode, source, asks: reader.asks }
}

/** What an action or query is carried out with. */
function* readingExecution(
  { step, reader, expansion: { values } }: StepParts,
  issues: Issues
): Pieces<void> {
  for (const { value, path } of executionValues(step.execution)) {
    const at = ['execution', ...path]
    yield* reader.protocol(value, at, issues)
    if (isConditionOfCall(path)) checkCondition(value, at, issues, values)
  }
}

/** Text is for people; of several steps the first one checks. */
function* preconditionsOf(
  { source: { action }, earlier, reader, expansion: { values } }: StepParts,
  issues: Issues
): Pieces<readonly AisValue[]> {
  const found: AisValue[] = []
  for (const [index, value] of (action?.pre_conditions ?? []).entries()) {
    if (typeof value === 'string' || earlier.length > 0) continue
    found.push(value)
    const at = ['pre_conditions', index]
    yield* reader.protocol(value, at, issues)
    checkCondition(value, at, issues, values)
  }
  return found
}

/** Nodes that another one reads under ids that would be taken for steps. */
function placesOf(
  ids: readonly string[],
  { places }: Expansion
): { readonly places?: NonNullable<AisPlanNode['places']> } {
  const found = ids.flatMap((id) => {
    const place = places.get(id)
    return place === undefined ? [] : [[id, place] as const]
  })
  return found.length === 0 ? {} : { places: Object.fromEntries(found) }
}

/** The state that a query reads; only reads of a contract can be given one. */
function blockOf(
  { callable }: ResolvedNode,
  { execution: { type } }: ResolvedStep,
  issues: Issues
): { readonly block?: string } {
  const consistency = 'consistency' in callable ? callable.consistency : undefined
  if (consistency?.require_same_block === true && !oneBlock.has(type)) {
    issues.error('schema_violation', `nothing says that a ${type} reads one block alone`)
  }
  const tag = consistency?.block_tag
  if (tag === undefined) return {}
  if (type !== 'evm_read' && type !== 'evm_multiread') {
    issues.error('schema_violation', 'block_tag is for evm_read and evm_multiread alone')
  }
  return { block: String(tag) }
}

/** Reads that see one state, however many calls they are. */
const oneBlock: ReadonlySet<string> = new Set([
  'evm_read',
  'evm_multiread',
  'evm_rpc',
  'solana_read'
])

function* findingParams(
  { node, callable }: ResolvedNode,
  expansion: Expansion,
  issues: Issues
): Pieces<readonly PlanParam[]> {
  const names = new Set(callable.params.map(({ name }) => name))
  for (const name of Object.keys(node.args)) {
    if (names.has(name)) continue
    if (isSliceFull()) yield
    issues.error('extra_argument', `${node.protocol} takes no ${name} here`, ['args', name])
  }
  return callable.params.map((param): PlanParam => {
    const { name, type, required, default: fallback, constraints, asset_ref: assetRef } = param
    const given = Object.hasOwn(node.args, name) ? node.args[name] : undefined
    const value = given ?? (fallback === undefined ? null : { lit: fallback as Json })
    if (value === null && required) {
      issues.error('missing_argument', `it needs the argument ${name}`, ['args'])
    }
    if (given !== undefined) {
      checkUnits({ name, type, value: given }, expansion, issues.below(['args', name]))
    }
    return {
      name,
      type,
      value,
      constraints: constraints === undefined ? null : plainConstraints(constraints),
      assetRef: assetRef ?? null
    }
  })
}

function* calculatedOf(
  { node, callable, protocol }: ResolvedNode,
  reader: StepReader,
  issues: Issues
): Pieces<readonly PlanCalculated[]> {
  const fields = new Map<string, PlanCalculated>()
  const reads = new Map<string, readonly Reference[]>()
  for (const [name, { expr }] of Object.entries(callable.calculated_fields)) {
    if (Object.hasOwn(node.calculated_overrides, name)) continue
    fields.set(name, { name, scope: 'protocol', value: expr })
    reads.set(name, yield* reader.protocol(expr, ['calculated_fields', name], issues))
  }
  for (const [name, override] of Object.entries(node.calculated_overrides)) {
    if (!Object.hasOwn(callable.calculated_fields, name)) {
      const message = `${node.protocol} calculates no ${name} here`
      issues.error('unknown_reference', message, ['calculated_overrides', name])
    }
    const scoped = overrideOf(override)
    fields.set(name, { name, ...scoped })
    const at = ['calculated_overrides', name]
    if (scoped.scope === 'override') {
      reads.set(name, yield* reader.override(scoped.value, [...at, 'expr'], issues))
      continue
    }
    yield* reader.flow(scoped.value, at, issues)
    // A bare override is the workflow's: what it reads of `calculated` is the workflow's, too.
    reads.set(name, [])
  }
  const deps = new Map(
    [...fields.keys()].map((name) => {
      const own = (reads.get(name) ?? [])
        .filter(({ root, path }) => root === 'calculated' && fields.has(String(path[0])))
        .map(({ path }) => String(path[0]))
      return [name, [...new Set(own)]] as const
    })
  )
  const { order, cycle } = orderGraph(deps)
  if (cycle !== undefined) {
    const message = `calculated fields need each other: ${cycle.join(' -> ')}`
    issues.of(protocolKey(protocol)).error('cycle', message)
  }
  return order.flatMap((name) => fields.get(name) ?? [])
}

function contractsOf(parts: StepParts, issues: Issues): readonly PlanContract[] {
  const { source, step, reader, expansion } = parts
  return [...reader.contracts].sort().map((name): PlanContract => {
    spendWork(expansion.used.length)
    const found = deployedContract(name, source.protocol, step.chain, expansion.used)
    if (found === undefined || found === 'ambiguous') {
      const why = found === undefined ? 'no deployment says' : 'several deployments say'
      const message = `${why} where ${name} is on ${step.chain}: it has to be given at run time`
      issues.note('contract_not_deployed', message)
      return { name, address: null, from: null, isShared: false }
    }
    return { name, ...found, isShared: false }
  })
}

function isSimulated({ preflight }: FlowDocument, id: string): boolean {
  const simulate = preflight?.simulate ?? false
  return typeof simulate === 'boolean' ? simulate : simulate[id] === true
}

function retryOf({ node }: ResolvedNode): AisPlanNode['retry'] {
  if (node.retry === undefined) return null
  const { interval_ms, max_attempts, backoff, max_interval_ms } = node.retry
  return {
    intervalMs: interval_ms,
    maxAttempts: max_attempts ?? null,
    backoff,
    maxIntervalMs: max_interval_ms ?? null
  }
}

function* readingRisk({ source, reader }: StepParts, issues: Issues): Pieces<PlanRisk | null> {
  const risk = riskOf(source, issues)
  for (const [name, value] of Object.entries(risk?.bounds ?? {})) {
    yield* reader.protocol(value, ['hard_constraints', name], issues)
  }
  return risk
}

function riskOf({ action, protocol }: ResolvedNode, issues: Issues): PlanRisk | null {
  if (action === null) return null
  const { risk_level: level, risk_tags: tags, hard_constraints: given = {} } = action
  const { extensions: _, ...named } = given
  const written: [string, unknown][] = []
  const open: [string, AisValue][] = []
  for (const [name, bound] of Object.entries(named)) {
    if (typeof bound !== 'object') written.push([name, bound])
    else if ('lit' in bound) written.push([name, bound.lit])
    else open.push([name, bound])
  }
  const parsed = hardConstraints.safeParse(Object.fromEntries(written))
  for (const { path, message } of parsed.error?.issues ?? []) {
    const at = ['hard_constraints', ...path.map(String)]
    issues.of(protocolKey(protocol)).error('invalid_value', message, at)
  }
  const bounds = open.length === 0 ? {} : { bounds: Object.fromEntries(open) }
  return { level, tags: [...tags].sort(), constraints: parsed.data ?? {}, ...bounds }
}

function plainConstraints({
  extensions: _,
  ...constraints
}: NonNullable<ParamDocument['constraints']>): Readonly<Record<string, Json>> {
  return JSON.parse(JSON.stringify(constraints))
}
