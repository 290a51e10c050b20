import type { Json, JsonObject } from '../../core/index.js'
import { lookUp, type Reference, referenceText } from '../../expression/index.js'
import { candidatesOf, type Detect } from '../document/value.js'
import type { AisPlanNode } from '../plan/plan.js'
import {
  type CompileValues,
  compileAisValue,
  type Scope,
  type ScopedValue
} from '../value/compile.js'
import { bindingsFor, type OwnValues } from './bindings.js'
import { isPatchRoot } from './patch.js'
import type { AisRuntime } from './runtime.js'

/** Why a node cannot be executed as it is. Stable labels; they stand in diagnostics. */
export type NodeErrorCode =
  | 'missing_reference'
  | 'invalid_value'
  | 'invalid_argument'
  | 'constraint_broken'
  | 'not_boolean'
  | 'precondition_failed'
  | 'expression_failed'

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
  /** Calculated fields that are amounts, which no schema says (W4). */
  readonly #amounts = new Set<string>()

  /** What the last value read: the next one of the same node mostly reads the same. */
  #last: { readonly scope: Scope; readonly own: OwnValues; readonly read: JsonObject } | undefined

  constructor(node: AisPlanNode, runtime: AisRuntime, values: CompileValues) {
    this.#node = node
    this.#runtime = runtime
    this.#values = values
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
    const result = compileAisValue(scoped, place, this.#values, this.#allAmounts())
    if (!result.ok) return this.fail('invalid_value', place, result.problem)
    const { compiled } = result
    const bindings = this.#bindings(scoped.scope, own)
    const evaluated = compiled.evaluate(bindings)
    if (evaluated.ok) return evaluated.value
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
    const result = compileAisValue(scoped, place, this.#values, this.#node.amounts)
    if (!result.ok) return
    const nothing = { params: {}, calculated: {} }
    const bindings = bindingsFor(scoped.scope, this.#node, this.#runtime, nothing)
    for (const reference of result.compiled.references) {
      if (reference.tested || !isPatchRoot(reference.root)) continue
      if (lookUp(bindings, reference) === undefined) this.missing.add(referenceText(reference))
    }
  }

  /** Remembers that a calculated field is an amount, if CEL says that it is one. */
  noteCalculated(name: string, scoped: ScopedValue, value: Json, own: OwnValues): void {
    if (!('cel' in scoped.value) || typeof value !== 'string' || !/^[0-9]+$/.test(value)) return
    const cel = `type(${scoped.value.cel}) == type(amount(0))`
    const asked: ScopedValue = { scope: scoped.scope, value: { cel } }
    const result = compileAisValue(asked, '', this.#values, this.#allAmounts())
    if (!result.ok) return
    const bindings = this.#bindings(scoped.scope, own)
    const answer = result.compiled.evaluate(bindings)
    if (answer.ok && answer.value === true) this.#amounts.add(`calculated.${name}`)
  }

  #allAmounts(): readonly string[] {
    const { amounts } = this.#node
    return this.#amounts.size === 0 ? amounts : [...amounts, ...this.#amounts]
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
      const result = compileAisValue({ scope, value }, key, this.#values, this.#node.amounts)
      if (!result.ok) return []
      const evaluated = result.compiled.evaluate(this.#bindings(scope, own))
      return evaluated.ok ? [evaluated.value] : []
    })
    return { key, kind, provider, candidates: known, constraints: constraints as Json }
  }
}
