import { isTallyError, type Json, type Pieces, passSteps } from '../../core/index.js'
import type { CompiledValue, ExpressionProfile, Expressions } from '../../expression/index.js'
import type { Scope, ScopedValue } from '../document/scope.js'
import { type AisValue, candidatesOf, type Detect } from '../document/value.js'

export type { Scope, ScopedValue } from '../document/scope.js'

/** What the planner and the engine need to compile values; `plainValues` where there is no CEL. */
export interface CompileValues extends Pick<Expressions, 'compileValue' | 'compilingValue'> {
  /** Profile of the CEL in values: workflows follow AIS from rules 3 on. */
  readonly profile: ExpressionProfile
  /** What the engine has compiled before; the planner looks at each value once. */
  readonly memo?: ValueMemo
}

/** What compiles values, by the profile of their CEL. */
export type ValuesOf = (profile: ExpressionProfile) => CompileValues

const flowRoots = ['inputs', 'ctx', 'contracts', 'calculated', 'policy', 'nodes', 'detect']

/** Names that a value may begin a path with. `detect` is ours: choices that were made. */
export const rootsOf: Readonly<Record<Scope, readonly string[]>> = {
  flow: flowRoots,
  protocol: ['params', 'ctx', 'contracts', 'calculated', 'policy', 'query', 'steps', 'detect'],
  override: [...flowRoots, 'params', 'query']
}

/** A choice that has to be made before the value is known. */
export interface OpenChoice {
  /** Names it among the choices of its node: the place of the value. */
  readonly key: string
  readonly detect: Detect
}

export interface CompiledAisValue extends CompiledValue {
  readonly choices: readonly OpenChoice[]
}

export type ValueResult =
  | { readonly ok: true; readonly compiled: CompiledAisValue }
  | { readonly ok: false; readonly problem: string }

/** What a compiled value hangs on, besides the value. */
interface Around {
  readonly scope: Scope
  readonly place: string
  readonly amounts: readonly string[]
}

/**
 * Compiled values by the objects that they are of, so that each value of a definition is compiled
 * once for all its runs and polls.
 *
 * Owns: nothing that outlives the definition. Values are not changed once they are compiled.
 */
export class ValueMemo {
  readonly #known = new WeakMap<AisValue, (Around & { readonly result: ValueResult })[]>()

  get({ value, scope }: ScopedValue, place: string, amounts: Around['amounts']) {
    for (const one of this.#known.get(value) ?? []) {
      const isSame = one.scope === scope && one.place === place && areSame(one.amounts, amounts)
      if (isSame) return one.result
    }
    return undefined
  }

  keep({ value, scope }: ScopedValue, place: string, amounts: Around['amounts'], of: ValueResult) {
    const one = { scope, place, amounts, result: of }
    const results = this.#known.get(value)
    if (results === undefined) this.#known.set(value, [one])
    else results.push(one)
  }
}

function areSame(one: Around['amounts'], other: Around['amounts']): boolean {
  if (one === other) return true
  return one.length === other.length && one.every((name, index) => name === other[index])
}

/**
 * Compiles a value. `place` names it within its node, e.g. `args/amount`. What is wrong with it is
 * data.
 */
export function compileAisValue(
  scoped: ScopedValue,
  place: string,
  values: CompileValues,
  amounts: readonly string[] = []
): ValueResult {
  const { memo } = values
  const known = memo?.get(scoped, place, amounts)
  if (known !== undefined) return known
  const result = compiledValue(scoped, place, values, amounts)
  memo?.keep(scoped, place, amounts, result)
  return result
}

/** {@link compileAisValue} in pieces, of a value that was not compiled before. */
export function* compilingAisValue(
  { value, scope }: ScopedValue,
  place: string,
  values: CompileValues
): Pieces<ValueResult> {
  const choices: OpenChoice[] = []
  const plain = withoutDetect(value, place, choices)
  try {
    const compiled = yield* values.compilingValue(plain, { roots: rootsOf[scope] })
    return { ok: true, compiled: { ...compiled, choices } }
  } catch (error) {
    return refusal(error)
  }
}

function compiledValue(
  { value, scope }: ScopedValue,
  place: string,
  values: CompileValues,
  amounts: readonly string[]
): ValueResult {
  const choices: OpenChoice[] = []
  const plain = withoutDetect(value, place, choices)
  try {
    const compiled = values.compileValue(plain, { roots: rootsOf[scope], amounts })
    const { references, evaluate } = compiled
    return { ok: true, compiled: { references, evaluate, choices } }
  } catch (error) {
    return refusal(error)
  }
}

function refusal(error: unknown): ValueResult & { readonly ok: false } {
  if (!isTallyError(error, 'expression.invalid')) throw error
  return { ok: false, problem: String(error.context.problem) }
}

/** A value in which each choice is a reference to what was chosen; `choose_one` takes the first. */
function withoutDetect(value: AisValue, place: string, choices: OpenChoice[]): Json {
  passSteps(1)
  if ('detect' in value) {
    const { detect } = value
    const [first] = candidatesOf(detect)
    if (detect.kind === 'choose_one' && first !== undefined) {
      return withoutDetect(first, place, choices)
    }
    const key = `${place}/${choices.length}`
    choices.push({ key, detect })
    return { ref: `detect.${key}` }
  }
  if ('object' in value) {
    const members = Object.entries(value.object).map(([name, one]): [string, Json] => [
      name,
      withoutDetect(one, place, choices)
    ])
    return { object: Object.fromEntries(members) }
  }
  if ('array' in value) {
    return { array: value.array.map((one) => withoutDetect(one, place, choices)) }
  }
  return value
}
