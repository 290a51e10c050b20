import {
  type DocumentPath,
  isSliceFull,
  type Json,
  type Pieces,
  passSteps,
  spendWork
} from '../../core/index.js'
import type { Reference } from '../../expression/index.js'
import type { FlowDocument } from '../document/flow.js'
import type { Issues } from '../document/issue.js'
import { protocolKey } from '../document/protocol.js'
import type { AisValue } from '../document/value.js'
import type { ScopedValue } from '../value/compile.js'
import { executionValues } from '../value/execution-values.js'
import { amountsOf, inputAmounts, returnAmounts } from './amounts.js'
import { deployedContract } from './catalogue.js'
import type { Expansion } from './expansion.js'
import { orderGraph } from './order.js'
import type { AisPlanNode, PlanCalculated, PlanContract, PlanParam } from './plan.js'
import { checkCondition, readingValue, type Surroundings } from './reading.js'
import { type ResolvedNode, type ResolvedStep, readReturns } from './resolve.js'
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
  const params = paramsOf(source, expansion, issues)
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
/** Work of what a node has to have because a value reads something. */
const STEPS_OF_REFERENCE = 4

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
  checkConditions(source, step, shared)
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
  for (const { value, path } of executionValues(step.execution)) {
    yield* reader.protocol(value, ['execution', ...path], issues)
  }
  const preconditions = earlier.length === 0 ? (action?.pre_conditions ?? []) : []
  for (const [index, value] of preconditions.entries()) {
    yield* reader.protocol(value, ['pre_conditions', index], issues)
  }
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
    deps: [...reader.deps].sort(),
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
    risk: riskOf(source),
    amounts: [...reader.amounts].sort()
  }
  return { planNode, source, asks: reader.asks }
}

function checkConditions({ node }: ResolvedNode, step: ResolvedStep, issues: Issues): void {
  for (const which of ['condition', 'until', 'assert'] as const) {
    const value = node[which]
    if (value !== undefined) checkCondition(value, [which], issues)
  }
  if (step.condition === null) return
  checkCondition(step.condition, ['execution', 'condition'], issues)
}

/** The state that a query reads; only reads of a contract can be given one. */
function blockOf(
  { callable }: ResolvedNode,
  { execution: { type } }: ResolvedStep,
  issues: Issues
): { readonly block?: string } {
  const tag = 'consistency' in callable ? callable.consistency?.block_tag : undefined
  if (tag === undefined) return {}
  if (type !== 'evm_read' && type !== 'evm_multiread') {
    issues.error('schema_violation', 'block_tag is for evm_read and evm_multiread alone')
  }
  return { block: String(tag) }
}

/** Reads the values of one plan node and gathers what they need. */
class StepReader {
  readonly deps = new Set<string>()
  readonly contracts = new Set<string>()
  readonly amounts = new Set<string>()
  readonly asks = new Set<string>()
  readonly #source: ResolvedNode
  readonly #earlier: readonly ResolvedStep[]
  readonly #expansion: Expansion
  readonly #around: Surroundings

  constructor(source: ResolvedNode, earlier: readonly ResolvedStep[], expansion: Expansion) {
    this.#source = source
    this.#earlier = earlier
    this.#expansion = expansion
    const { action, callable } = source
    this.#around = {
      values: expansion.values,
      nodeIds: expansion.nodeIds,
      inputs: expansion.inputs,
      params: new Set(callable.params.map(({ name }) => name)),
      queries: new Set(action?.requires_queries ?? []),
      steps: new Set(earlier.map(({ step }) => step ?? ''))
    }
  }

  /** A value of the workflow; it may not read the node it belongs to. */
  flow(value: AisValue, at: DocumentPath, issues: Issues): Pieces<readonly Reference[]> {
    return this.#flow(value, at, issues, false)
  }

  /** `until` and `assert`, which are about the node itself. */
  own(value: AisValue, at: DocumentPath, issues: Issues): Pieces<readonly Reference[]> {
    return this.#flow(value, at, issues, true)
  }

  /** A value of the protocol. */
  *protocol(value: AisValue, at: DocumentPath, issues: Issues): Pieces<readonly Reference[]> {
    const here = issues.of(protocolKey(this.#source.protocol))
    const references = yield* readingValue({ scope: 'protocol', value }, at, this.#around, here)
    for (const { root, path } of references) {
      passSteps(STEPS_OF_REFERENCE)
      if (isSliceFull()) yield
      const name = path[0] === undefined ? undefined : String(path[0])
      if (root === 'contracts' && name !== undefined) this.contracts.add(name)
      else if (root === 'params') this.#param(name)
      else if (root === 'query' && name !== undefined) this.asks.add(name)
      else if (root === 'steps' && name !== undefined) this.#step(name)
    }
    return references
  }

  *#flow(
    value: AisValue,
    at: DocumentPath,
    issues: Issues,
    isOwn: boolean
  ): Pieces<readonly Reference[]> {
    const references = yield* readingValue({ scope: 'flow', value }, at, this.#around, issues)
    for (const { root, path } of references) {
      passSteps(STEPS_OF_REFERENCE)
      if (isSliceFull()) yield
      const name = path[0] === undefined ? undefined : String(path[0])
      if (root === 'contracts' && name !== undefined) this.contracts.add(name)
      else if (root === 'inputs') this.#input(name)
      else if (root === 'nodes' && name !== undefined) {
        if (name === this.#source.node.id && !isOwn) {
          issues.error('self_dep', 'only until and assert may read the node itself', at)
        } else this.#node(name, path)
      }
    }
    return references
  }

  #input(name: string | undefined): void {
    const { flow } = this.#expansion
    if (name === undefined) {
      for (const pattern of inputAmounts(flow)) this.#amount(pattern)
    } else if (Object.hasOwn(flow.inputs, name)) {
      const type = flow.inputs[name]?.type ?? ''
      for (const pattern of amountsOf(`inputs.${name}`, type)) this.#amount(pattern)
    }
  }

  #amount(pattern: string): void {
    spendWork(1)
    this.amounts.add(pattern)
  }

  #param(name: string | undefined): void {
    for (const param of this.#source.callable.params) {
      if (name !== undefined && param.name !== name) continue
      for (const pattern of amountsOf(`params.${param.name}`, param.type)) this.#amount(pattern)
    }
  }

  #node(id: string, path: readonly (string | number)[]): void {
    const other = this.#expansion.resolved.get(id)
    if (id !== this.#source.node.id) this.deps.add(id)
    if (other === undefined) return
    for (const pattern of returnAmounts(`nodes.${id}.outputs`, other.returns)) {
      this.#amount(pattern)
    }
    if (path[1] !== 'outputs' || path[2] !== 'steps') return
    const step = other.steps.find((one) => one.step === path[3])
    if (step === undefined) return
    if (step.id !== this.#source.node.id) this.deps.add(step.id)
    const at = `nodes.${id}.outputs.steps.${step.step}`
    for (const pattern of returnAmounts(at, readReturns(step.execution))) this.#amount(pattern)
  }

  #step(name: string): void {
    const step = this.#earlier.find((one) => one.step === name)
    if (step === undefined) return
    this.deps.add(step.id)
    const patterns = returnAmounts(`steps.${name}`, readReturns(step.execution))
    for (const pattern of patterns) this.#amount(pattern)
  }
}

function paramsOf(
  { node, callable }: ResolvedNode,
  expansion: Expansion,
  issues: Issues
): readonly PlanParam[] {
  const names = new Set(callable.params.map(({ name }) => name))
  for (const name of Object.keys(node.args)) {
    if (names.has(name)) continue
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
      constraints: constraints === undefined ? null : plainJson(constraints),
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
  for (const [name, value] of Object.entries(node.calculated_overrides)) {
    if (!Object.hasOwn(callable.calculated_fields, name)) {
      const message = `${node.protocol} calculates no ${name} here`
      issues.error('unknown_reference', message, ['calculated_overrides', name])
    }
    fields.set(name, { name, scope: 'flow', value })
    yield* reader.flow(value, ['calculated_overrides', name], issues)
    // An override is the workflow's: what it reads of `calculated` is the workflow's, too.
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

function riskOf({ action }: ResolvedNode): AisPlanNode['risk'] {
  if (action === null) return null
  const { risk_level: level, risk_tags: tags, hard_constraints: constraints } = action
  return { level, tags: [...tags].sort(), constraints: constraints ?? {} }
}

function plainJson(value: object): Readonly<Record<string, Json>> {
  return JSON.parse(JSON.stringify(value))
}
