import type { Json, JsonObject } from '../../core/index.js'
import {
  AIS_PROFILE,
  type AmountPaths,
  type EvaluationFailure,
  type EvaluationResult,
  lookUp,
  type Reference,
  referenceText
} from '../../expression/index.js'
import type { NodeFailureCode } from '../diagnostic/codes.js'
import { candidatesOf, type Detect } from '../document/value.js'
import type { AisPlanNode } from '../plan/plan.js'
import {
  type CompileValues,
  compileAisValue,
  type Scope,
  type ScopedValue
} from '../value/compile.js'
import { bindingsFor, calculatedAmounts, type OwnValues } from './bindings.js'
import { isPatchRoot } from './patch.js'
import type { AisRuntime } from './runtime.js'

/** Why a node cannot be executed as it is. Stable labels; they stand in diagnostics. */
export type NodeErrorCode = Extract<
  NodeFailureCode,
  | 'missing_reference'
  | 'invalid_value'
  | 'invalid_argument'
  | 'constraint_broken'
  | 'not_boolean'
  | 'precondition_failed'
  | 'expression_failed'
>

export interface NodeError {
  readonly code: NodeErrorCode
  /** Where in the node: `args/amount`. */
  readonly place: string
  readonly message: string
}

/** A choice of a `detect` value that is not made yet. */
export interface NeededChoice {
  readonly key: string
  readonly kind: Detect['kind']
  readonly provider: string | null
  /** Values to choose among, as far as they are known. */
  readonly candidates: readonly Json[]
  readonly constraints: Json
}

/**
 * Evaluates values of one node and gathers what is missing or wrong.
 *
 * Owns: the findings of one look at one node. Owns no values.
 */
export class Evaluator {
  readonly missing = new Set<string>()
  readonly choices = new Map<string, NeededChoice>()
  readonly errors: NodeError[] = []
  readonly #node: AisPlanNode
  readonly #runtime: AisRuntime
  readonly #values: CompileValues
  /** Of schemas, and of what other nodes have calculated (W4). */
  readonly #declared: readonly string[]
  /** Ways in the node's calculated fields to amounts, which no schema says (W4). */
  readonly calculatedAmounts: string[] = []

  /** What the last value read: the next one of the same node mostly reads the same. */
  #last: { readonly scope: Scope; readonly own: OwnValues; readonly read: JsonObject } | undefined

  constructor(node: AisPlanNode, runtime: AisRuntime, values: CompileValues) {
    this.#node = node
    this.#runtime = runtime
    this.#values = values
    const others = calculatedAmounts(runtime)
    this.#declared = others.length === 0 ? node.amounts : [...node.amounts, ...others]
  }

  get isBlocked(): boolean {
    return this.missing.size > 0 || this.choices.size > 0
  }

  get isGood(): boolean {
    return !this.isBlocked && this.errors.length === 0
  }

  fail(code: NodeErrorCode, place: string, message: string): undefined {
    this.errors.push({ code, place, message })
    return undefined
  }

  /** The value, or undefined when something is missing or wrong, which is noted. */
  evaluate(scoped: ScopedValue, place: string, own: OwnValues): Json | undefined {
    return this.#evaluated(scoped, place, own)?.value
  }

  /** The value of a calculated field, which is an amount for later ones if CEL says so. */
  calculate(name: string, scoped: ScopedValue, place: string, own: OwnValues): Json | undefined {
    const evaluated = this.#evaluated(scoped, place, own)
    if (evaluated?.amounts !== undefined) this.#noteAmounts(name, scoped, evaluated.amounts)
    return evaluated?.value
  }

  #noteAmounts(name: string, { value }: ScopedValue, paths: AmountPaths): void {
    for (const path of paths) {
      // Before the profile of AIS, only a whole field that CEL gives was one.
      const isTyped = this.#values.profile === AIS_PROFILE || (path.length === 0 && 'cel' in value)
      const parts = [name, ...path]
      const canStand = parts.every((part) => part !== '' && !part.includes('.'))
      if (isTyped && canStand) this.calculatedAmounts.push(parts.join('.'))
    }
  }

  #evaluated(
    scoped: ScopedValue,
    place: string,
    own: OwnValues
  ): Exclude<EvaluationResult, EvaluationFailure> | undefined {
    const result = compileAisValue(scoped, place, this.#values, this.#allAmounts())
    if (!result.ok) return this.fail('invalid_value', place, result.problem)
    const { compiled } = result
    const bindings = this.#bindings(scoped.scope, own)
    const evaluated = compiled.evaluate(bindings)
    if (evaluated.ok) return evaluated
    if (evaluated.code !== 'missing_reference') {
      return this.fail('expression_failed', place, `${evaluated.code}: ${evaluated.detail}`)
    }
    const absent = compiled.references.filter(
      (reference) => !reference.tested && lookUp(bindings, reference) === undefined
    )
    this.#note(absent, evaluated.detail, scoped, place)
    for (const { key, detect } of compiled.choices) {
      if (!absent.some(({ root, path }) => root === 'detect' && path[0] === key)) continue
      this.choices.set(key, this.#choice(key, detect, scoped, own))
    }
    return undefined
  }

  /** A value that must be exactly true or false (W3). */
  condition(scoped: ScopedValue, place: string, own: OwnValues): boolean | undefined {
    const value = this.evaluate(scoped, place, own)
    if (value === undefined || typeof value === 'boolean') return value
    return this.fail('not_boolean', place, 'it must be exactly true or false')
  }

  /**
   * Notes what a condition about the node's own results will read and a person may still give, so
   * that it is asked for before anything is done. What is tested with `has()` may be absent.
   */
  foresee(scoped: ScopedValue, place: string): void {
    const result = compileAisValue(scoped, place, this.#values, this.#declared)
    if (!result.ok) return
    const nothing = { params: {}, calculated: {} }
    const bindings = bindingsFor(scoped.scope, this.#node, this.#runtime, nothing)
    for (const reference of result.compiled.references) {
      if (reference.tested || !isPatchRoot(reference.root)) continue
      if (lookUp(bindings, reference) === undefined) this.missing.add(referenceText(reference))
    }
  }

  #allAmounts(): readonly string[] {
    if (this.calculatedAmounts.length === 0) return this.#declared
    return [...this.#declared, ...this.calculatedAmounts.map((path) => `calculated.${path}`)]
  }

  #bindings(scope: Scope, own: OwnValues): JsonObject {
    const last = this.#last
    if (last?.scope === scope && last.own === own) return last.read
    const read = bindingsFor(scope, this.#node, this.#runtime, own)
    this.#last = { scope, own, read }
    return read
  }

  #note(absent: readonly Reference[], detail: string, { scope }: ScopedValue, place: string): void {
    if (absent.length === 0) {
      this.fail('missing_reference', place, `there is no ${detail}`)
      return
    }
    for (const reference of absent) {
      if (reference.root === 'detect') continue
      const text = referenceText(reference)
      const isOwn = scope === 'protocol' && !isPatchRoot(reference.root)
      if (isPatchRoot(reference.root)) this.missing.add(text)
      else {
        const whose = isOwn ? 'the protocol reads' : 'it reads'
        this.fail('missing_reference', place, `${whose} ${text}, which is not there`)
      }
    }
  }

  #choice(key: string, detect: Detect, { scope }: ScopedValue, own: OwnValues): NeededChoice {
    const { kind, provider = null, constraints = null } = detect
    const known = candidatesOf(detect).flatMap((value) => {
      const result = compileAisValue({ scope, value }, key, this.#values, this.#declared)
      if (!result.ok) return []
      const evaluated = result.compiled.evaluate(this.#bindings(scope, own))
      return evaluated.ok ? [evaluated.value] : []
    })
    return { key, kind, provider, candidates: known, constraints: constraints as Json }
  }
}
