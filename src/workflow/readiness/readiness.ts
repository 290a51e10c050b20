import { type Json, type JsonObject, objectOf } from '../../core/index.js'
import { AIS_PROFILE } from '../../expression/index.js'
import { type HardConstraints, parseBound } from '../document/protocol.js'
import type { AisPlanNode } from '../plan/plan.js'
import { brokenConstraint, typedAs } from '../type/check.js'
import type { CompileValues } from '../value/compile.js'
import { isConditionOfCall, mapExecution } from '../value/execution-values.js'
import { contractsFor, type OwnValues } from './bindings.js'
import { Evaluator, type NeededChoice, type NodeError } from './evaluator.js'
import type { AisRuntime } from './runtime.js'

/** Whether a node can be executed, as far as can be said without doing anything (W3, W6, W8). */
export type Readiness =
  | ReadyNode
  /** A condition is false: done for those that wait for it. */
  | { readonly state: 'skipped'; readonly condition: number }
  /** What is missing may still be given. */
  | {
      readonly state: 'blocked'
      /** Paths below inputs, ctx, contracts and policy. */
      readonly missingRefs: readonly string[]
      readonly needsDetect: readonly NeededChoice[]
    }
  /** Nothing that may be given mends it. */
  | { readonly state: 'failed'; readonly errors: readonly NodeError[] }

export interface ReadyNode {
  readonly state: 'ready'
  readonly params: JsonObject
  readonly calculated: JsonObject
  /** Ways in `calculated` to text that is an amount, where there is any. */
  readonly amounts?: readonly string[] | undefined
  readonly contracts: JsonObject
  /** Bounds of the action that its document computes. */
  readonly constraints?: HardConstraints | undefined
  /** The execution with all its values resolved, as executors take it. */
  readonly execution: JsonObject & { readonly type: string }
}

/**
 * Looks at a node whose dependencies are done. Order: conditions, arguments under their types,
 * calculated fields, preconditions, execution, and what `until` and `assert` will read. Pure.
 */
export function nodeReadiness(
  node: AisPlanNode,
  runtime: AisRuntime,
  values: CompileValues
): Readiness {
  const evaluator = new Evaluator(node, runtime, values)
  const nothing = { params: {}, calculated: {} }
  for (const [index, condition] of node.conditions.entries()) {
    // A step's own condition may read parameters, which come later.
    if (condition.scope === 'protocol') continue
    const holds = evaluator.condition(condition, 'condition', nothing)
    if (holds === false) return { state: 'skipped', condition: index }
  }
  if (!evaluator.isGood) return stuck(evaluator)
  const params = paramsOf(node, evaluator)
  if (params === undefined) return stuck(evaluator)
  const calculated = calculatedOf(node, params, evaluator)
  if (calculated === undefined) return stuck(evaluator)
  const own = { params, calculated }
  for (const [index, condition] of node.conditions.entries()) {
    if (condition.scope === 'flow') continue
    const holds = evaluator.condition(condition, 'execution/condition', own)
    if (holds === false) return { state: 'skipped', condition: index }
  }
  for (const [index, value] of node.preconditions.entries()) {
    const place = `pre_conditions/${index}`
    const holds = evaluator.condition({ scope: 'protocol', value }, place, own)
    if (holds === false) {
      evaluator.fail('precondition_failed', place, 'a precondition of the action does not hold')
    }
  }
  const constraints = boundsOf(node, own, evaluator)
  const execution = mapExecution(node.execution, (value, path) => {
    const place = `execution/${path.join('/')}`
    const scoped = { scope: 'protocol', value } as const
    const isCondition = values.profile === AIS_PROFILE && isConditionOfCall(path)
    return isCondition
      ? evaluator.condition(scoped, place, own)
      : evaluator.evaluate(scoped, place, own)
  })
  for (const which of ['until', 'assert'] as const) {
    const value = node[which]
    if (value !== null) evaluator.foresee({ scope: 'flow', value }, which)
  }
  if (!evaluator.isGood) return stuck(evaluator)
  const contracts = contractsFor(node, runtime)
  const { calculatedAmounts } = evaluator
  const amounts = calculatedAmounts.length === 0 ? undefined : calculatedAmounts
  return {
    state: 'ready',
    params,
    calculated,
    amounts,
    contracts,
    constraints,
    execution: execution as ReadyNode['execution']
  }
}

/** `until` or `assert` of a node, evaluated with what the node itself gave. */
export function ownCondition(
  which: 'until' | 'assert',
  node: AisPlanNode,
  runtime: AisRuntime,
  values: CompileValues
):
  | { readonly ok: true; readonly holds: boolean }
  | { readonly ok: false; readonly error: NodeError } {
  const value = node[which]
  if (value === null) return { ok: true, holds: true }
  const evaluator = new Evaluator(node, runtime, values)
  const nothing = { params: {}, calculated: {} }
  const holds = evaluator.condition({ scope: 'flow', value }, which, nothing)
  if (holds !== undefined) return { ok: true, holds }
  const missing = [...evaluator.missing].join(', ')
  const error = evaluator.errors[0] ?? {
    code: 'missing_reference' as const,
    place: which,
    message: `it reads ${missing}, which is not there`
  }
  return { ok: false, error }
}

function stuck(evaluator: Evaluator): Readiness {
  const { errors } = evaluator
  if (errors.length > 0) return { state: 'failed', errors }
  return {
    state: 'blocked',
    missingRefs: [...evaluator.missing].sort(),
    needsDetect: [...evaluator.choices.values()]
  }
}

/** Bounds that are values: one that cannot be known must not be left out. */
function boundsOf(
  { risk }: AisPlanNode,
  own: OwnValues,
  evaluator: Evaluator
): HardConstraints | undefined {
  if (risk?.bounds === undefined) return undefined
  const found: [string, Json][] = []
  for (const [name, value] of Object.entries(risk.bounds)) {
    const place = `hard_constraints/${name}`
    const bound = evaluator.evaluate({ scope: 'protocol', value }, place, own)
    if (bound === undefined) continue
    const parsed = parseBound(name, bound)
    if (parsed === undefined) evaluator.fail('invalid_value', place, `it is no ${name}`)
    else found.push([name, parsed])
  }
  return Object.fromEntries(found)
}

function paramsOf(node: AisPlanNode, evaluator: Evaluator): JsonObject | undefined {
  const entries: [string, Json][] = []
  const nothing = { params: {}, calculated: {} }
  for (const { name, type, value, constraints } of node.params) {
    if (value === null) continue
    const place = `args/${name}`
    const given = evaluator.evaluate({ scope: 'flow', value }, place, nothing)
    if (given === undefined) continue
    const typed = typedAs(type, given)
    if (!typed.ok) {
      evaluator.fail('invalid_argument', place, `${name}: ${typed.problem}`)
      continue
    }
    const broken = constraints === null ? undefined : brokenConstraint(typed.value, constraints)
    if (broken === undefined) entries.push([name, typed.value])
    else evaluator.fail('constraint_broken', place, `${name}: ${broken}`)
  }
  return evaluator.isGood ? objectOf(entries) : undefined
}

function calculatedOf(
  node: AisPlanNode,
  params: JsonObject,
  evaluator: Evaluator
): JsonObject | undefined {
  let calculated: JsonObject = {}
  for (const field of node.calculated) {
    const own = { params, calculated }
    const place = `calculated_fields/${field.name}`
    const value = evaluator.calculate(field.name, field, place, own)
    if (value === undefined) return undefined
    calculated = { ...calculated, [field.name]: value }
  }
  return calculated
}
