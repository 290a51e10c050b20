import {
  type CelError,
  type CelValue,
  celEnv,
  celError,
  isCelError,
  parse,
  plan
} from '@bufbuild/cel'
import { type Json, type JsonObject, limits, present, spendWorkOnce } from '../../core/index.js'
import {
  type CompiledExpression,
  EXPRESSION_PROFILE,
  type ExpressionEngine,
  type ExpressionOptions
} from '../engine.js'
import { type EvaluationResult, FailureSignal, failed, failureOfMessage } from '../failure.js'
import { invalidExpression as invalid } from '../invalid.js'
import { lookUp, type Reference, referenceText } from '../reference.js'
import { amountFunctions } from './amounts.js'
import { Budget } from './budget.js'
import { profileOverrides } from './functions.js'
import { prepare } from './rewrite.js'
import { refuseUnboundedSource, workOf } from './source.js'
import { timeFunctions } from './time.js'
import { type AmountPatterns, amountRegistry, below, toCelValue, toJson } from './values.js'

/**
 * The profile `tally-cel/1` on @bufbuild/cel, whose exact version is pinned: error texts of the
 * engine are matched here, and nowhere else, to tell failures apart; none of them gets out.
 */
export function createBufbuildEngine(): ExpressionEngine {
  const budget = new Budget()
  const environment = profileEnvironment(budget)
  const cache = new Map<string, CompiledExpression>()
  return {
    profile: EXPRESSION_PROFILE,
    compile(expression, options) {
      spendWorkOnce(expression, workOf(expression), expression.length >> 4)
      const key = JSON.stringify([expression, options.roots, options.amounts ?? []])
      const known = cache.get(key)
      if (known !== undefined) return known
      const compiled = compile(expression, options, environment, budget)
      if (cache.size >= limits.CACHE_ENTRIES_MAX) cache.delete(present(firstKey(cache), 'oldest'))
      cache.set(key, compiled)
      return compiled
    }
  }
}

/**
 * CEL values in and out, for running the CEL conformance suite against the same functions and the
 * same rewriting; undefined stands for an evaluation that failed.
 */
export function createCelEvaluator(): (
  expression: string,
  variables: Readonly<Record<string, CelValue>>
) => CelValue | undefined {
  const budget = new Budget()
  const environment = profileEnvironment(budget)
  return (expression, variables) => {
    budget.restart()
    refuseUnboundedSource(expression)
    const { tree } = prepare(syntaxTree(expression), expression, [], Object.keys(variables))
    const result = plan(environment, tree)(variables)
    return isCelError(result) || budget.exceeded ? undefined : result
  }
}

function profileEnvironment(budget: Budget) {
  const funcs = [...profileOverrides(budget), ...timeFunctions(), ...amountFunctions()]
  return celEnv({ funcs, registry: amountRegistry })
}

function firstKey(cache: ReadonlyMap<string, unknown>): string | undefined {
  for (const key of cache.keys()) return key
  return undefined
}

interface Binding {
  readonly variable: string
  readonly reference: Reference
  /** What `has()` needs: the reference without its last step. */
  readonly parent: Reference | undefined
  readonly amounts: AmountPatterns
}

function compile(
  expression: string,
  options: ExpressionOptions,
  environment: ReturnType<typeof celEnv>,
  budget: Budget
): CompiledExpression {
  refuseUnboundedSource(expression)
  const { tree, references, places } = prepare(syntaxTree(expression), expression, options.roots)
  const run = plan(environment, tree)
  const patterns = (options.amounts ?? []).map((pattern) => pattern.split('.'))
  const bindings = references.map(({ variable, ...reference }) => ({
    variable,
    reference,
    parent: reference.tested ? { ...reference, path: reference.path.slice(0, -1) } : undefined,
    amounts: [reference.root, ...reference.path].reduce<AmountPatterns>(
      (remaining, part) => below(remaining, String(part)),
      patterns
    )
  }))
  return {
    references: references.map(({ variable: _, ...reference }) => reference),
    evaluate(data) {
      budget.restart()
      try {
        return settle(run(variables(bindings, data)), places, budget)
      } catch (error) {
        if (error instanceof FailureSignal) return error.failure
        throw error
      }
    }
  }
}

function syntaxTree(expression: string) {
  try {
    return present(parse(expression).expr, 'syntax tree')
  } catch (error) {
    const message = error instanceof Error ? error.message : ''
    const place = /<input>:([0-9]+):([0-9]+)/.exec(message)
    const where = place === null ? '' : ` at line ${place[1]}, column ${place[2]}`
    throw invalid(expression, `it is not valid CEL${where}`)
  }
}

// The engine looks names up on this object, so it must not inherit any.
function variables(bindings: readonly Binding[], data: JsonObject): Record<string, CelValue> {
  const bound: Record<string, CelValue> = Object.create(null)
  for (const { variable, reference, parent, amounts } of bindings) {
    const value = lookUp(data, reference)
    if (parent === undefined) {
      if (value !== undefined) bound[variable] = bindable(value, amounts, reference)
    } else if (isTestable(lookUp(data, parent))) bound[variable] = value !== undefined
  }
  return bound
}

// A value of the wrong type is an error where it is used, not in a branch that is not taken.
function bindable(value: Json, amounts: AmountPatterns, reference: Reference): CelValue {
  try {
    return toCelValue(value, amounts, referenceText(reference))
  } catch (error) {
    // The engine takes errors as values of variables, though its types do not say so.
    if (error instanceof FailureSignal) return celError(error) as unknown as CelValue
    throw error
  }
}

function isTestable(value: Json | undefined): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function settle(
  result: CelValue | CelError,
  places: ReadonlyMap<bigint, Reference>,
  budget: Budget
): EvaluationResult {
  if (budget.exceeded) {
    return failed('budget_exceeded', `more than ${limits.EXPRESSION_TICKS_MAX} steps`)
  }
  if (!isCelError(result)) return { ok: true, value: toJson(result, budget) }
  const own = failureOfMessage(result.message)
  if (own !== undefined) return own
  if (result.message === 'unresolved attribute') {
    const missing = places.get(result.exprId ?? -1n)
    return failed('missing_reference', missing === undefined ? 'a name' : referenceText(missing))
  }
  return engineFailure(result.message)
}

const engineFailures = [
  [/^(int|uint) overflow during |^(timestamp|duration) out of range$/, 'overflow', 'out of range'],
  [/^(int|uint) (divide|modulus) by zero$/, 'divide_by_zero', 'division by zero'],
  [/^found no matching overload |^type mismatch: /, 'type_error', 'operands of the wrong type'],
  [/^unsupported key type$/, 'type_error', 'a map key of the wrong type'],
  [/^map key conflict: /, 'invalid_argument', 'a map key stands twice'],
  [/^Unable to convert |^Failed to /, 'invalid_argument', 'text that cannot be converted']
] as const

function engineFailure(message: string): EvaluationResult {
  const match = engineFailures.find(([pattern]) => pattern.test(message))
  return match === undefined
    ? failed('evaluation_failed', 'the expression has no value')
    : failed(match[1], match[2])
}
