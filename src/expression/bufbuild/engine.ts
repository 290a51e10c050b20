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
  type ExpressionOptions,
  type ExpressionProfile
} from '../engine.js'
import {
  type AmountPaths,
  type EvaluationResult,
  FailureSignal,
  failed,
  failureOfMessage
} from '../failure.js'
import { invalidExpression as invalid } from '../invalid.js'
import { type ProfileRules, profileRules } from '../profile.js'
import { below, lookUp, type Reference, referenceText } from '../reference.js'
import { aisFunctions } from './ais-functions.js'
import { amountRegistry } from './amount-type.js'
import { amountFunctions } from './amounts.js'
import { Budget } from './budget.js'
import { decimalValue } from './decimals.js'
import { profileOverrides } from './functions.js'
import { type ParsedSource, type PreparedTree, prepare } from './rewrite.js'
import { refuseUnboundedSource, workOf } from './source.js'
import { timeFunctions } from './time.js'
import { type Reading, toCelValue, toJson } from './values.js'

/**
 * A profile on @bufbuild/cel, whose exact version is pinned: error texts of the
 * engine are matched here, and nowhere else, to tell failures apart; none of them gets out.
 */
export function createBufbuildEngine(profile: ExpressionProfile): ExpressionEngine {
  const budget = new Budget()
  const rules = profileRules[profile]
  const environment = profileEnvironment(budget, rules)
  const cache = new Map<string, CompiledExpression>()
  return {
    profile,
    compile(expression, options) {
      spendWorkOnce(expression, workOf(expression), expression.length >> 4)
      const key = JSON.stringify([expression, options.roots, options.amounts ?? []])
      const known = cache.get(key)
      if (known !== undefined) return known
      const compiled = compile(expression, options, { environment, budget, rules })
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
export function createCelEvaluator(
  profile: ExpressionProfile = EXPRESSION_PROFILE
): (expression: string, variables: Readonly<Record<string, CelValue>>) => CelValue | undefined {
  const budget = new Budget()
  const rules = profileRules[profile]
  const environment = profileEnvironment(budget, rules)
  return (expression, variables) => {
    budget.restart()
    refuseUnboundedSource(expression)
    const parsed = parsedSource(expression)
    const { tree, numbers } = prepare(parsed, rules, [], Object.keys(variables))
    const result = plan(environment, tree)({ ...variables, ...boundNumbers(numbers) })
    return isCelError(result) || budget.exceeded ? undefined : result
  }
}

function profileEnvironment(budget: Budget, { isExact }: ProfileRules) {
  const own = isExact ? aisFunctions(budget) : [...timeFunctions(), ...amountFunctions()]
  const funcs = [...profileOverrides(budget), ...own]
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
  readonly amounts: AmountPaths
}

function compile(
  expression: string,
  options: ExpressionOptions,
  { environment, budget, rules }: Engine
): CompiledExpression {
  refuseUnboundedSource(expression)
  const prepared = prepare(parsedSource(expression), rules, options.roots)
  const { tree, references, places, numbers } = prepared
  const run = plan(environment, tree)
  const patterns = (options.amounts ?? []).map((pattern) => pattern.split('.'))
  const bindings = references.map(({ variable, ...reference }) => ({
    variable,
    reference,
    parent: reference.tested ? { ...reference, path: reference.path.slice(0, -1) } : undefined,
    amounts: [reference.root, ...reference.path].reduce<AmountPaths>(
      (remaining, part) => below(remaining, String(part)),
      patterns
    )
  }))
  const constants = boundNumbers(numbers)
  return {
    references: references.map(({ variable: _, ...reference }) => reference),
    evaluate(data) {
      budget.restart()
      try {
        const bound = variables(bindings, data, rules)
        if (numbers.size > 0) Object.assign(bound, constants)
        return settle(run(bound), { places, budget, rules })
      } catch (error) {
        if (error instanceof FailureSignal) return error.failure
        throw error
      }
    }
  }
}

interface Engine {
  readonly environment: ReturnType<typeof celEnv>
  readonly budget: Budget
  readonly rules: ProfileRules
}

function boundNumbers(numbers: PreparedTree['numbers']): Record<string, CelValue> {
  const entries = [...numbers].map(([name, number]) => [name, decimalValue(number)] as const)
  return Object.fromEntries(entries)
}

function parsedSource(expression: string): ParsedSource {
  try {
    const { expr, sourceInfo } = parse(expression)
    const tree = present(expr, 'syntax tree')
    return { tree, expression, positions: sourceInfo?.positions ?? {} }
  } catch (error) {
    const message = error instanceof Error ? error.message : ''
    const place = /<input>:([0-9]+):([0-9]+)/.exec(message)
    const where = place === null ? '' : ` at line ${place[1]}, column ${place[2]}`
    throw invalid(expression, `it is not valid CEL${where}`)
  }
}

// The engine looks names up on this object, so it must not inherit any.
function variables(
  bindings: readonly Binding[],
  data: JsonObject,
  { isExact }: ProfileRules
): Record<string, CelValue> {
  const bound: Record<string, CelValue> = Object.create(null)
  for (const { variable, reference, parent, amounts } of bindings) {
    const value = lookUp(data, reference)
    if (parent === undefined) {
      if (value !== undefined) bound[variable] = bindable(value, { amounts, isExact }, reference)
    } else if (isTestable(lookUp(data, parent))) bound[variable] = value !== undefined
  }
  return bound
}

// A value of the wrong type is an error where it is used, not in a branch that is not taken.
function bindable(value: Json, reading: Reading, reference: Reference): CelValue {
  try {
    return toCelValue(value, reading, referenceText(reference))
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
  { places, budget, rules }: Omit<Engine, 'environment'> & Pick<PreparedTree, 'places'>
): EvaluationResult {
  if (budget.exceeded) {
    return failed('budget_exceeded', `more than ${limits.EXPRESSION_TICKS_MAX} steps`)
  }
  if (!isCelError(result)) return toJson(result, budget, rules)
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
