import { expressionError, type Json, type JsonObject, type Pieces } from '../core/index.js'
import { type CompiledCondition, compileCondition } from './condition.js'
import {
  AIS_PROFILE,
  EXPRESSION_PROFILE,
  type ExpressionEngine,
  type ExpressionOptions,
  type ExpressionProfile
} from './engine.js'
import { type CompiledValue, compileValue, compilingValue } from './value.js'

/** Values, conditions and expressions on one loaded engine. */
export interface Expressions {
  readonly engine: ExpressionEngine
  readonly profile: ExpressionProfile
  /** Compiles a value; throws `expression.invalid`. */
  compileValue(value: Json, options: ExpressionOptions): CompiledValue
  /** The same in pieces. */
  compilingValue(value: Json, options: ExpressionOptions): Pieces<CompiledValue>
  /** Compiles a condition; throws `expression.invalid`. */
  compileCondition(expression: string, options: ExpressionOptions): CompiledCondition
  /**
   * Compiles and evaluates at once; the names of the bindings are the roots. Throws
   * `expression.invalid` or `expression.failed`.
   */
  evaluate(expression: string, bindings: JsonObject): Json
}

/** Expressions of documents in `tally-cel/1`, and of workflows in the profile of AIS. */
export interface LoadedExpressions extends Expressions {
  readonly ais: Expressions
}

/**
 * Loads the CEL engine (about 130 ms once in a process, so only documents that use CEL should ask).
 * Everything it returns is synchronous.
 */
export async function loadExpressions(): Promise<LoadedExpressions> {
  const { createBufbuildEngine } = await import('./bufbuild/engine.js')
  const ais = expressionsOn(createBufbuildEngine(AIS_PROFILE))
  return { ...expressionsOn(createBufbuildEngine(EXPRESSION_PROFILE)), ais }
}

/** The expressions of any engine that implements the profile. */
export function expressionsOn(engine: ExpressionEngine): Expressions {
  return {
    engine,
    profile: engine.profile,
    compileValue: (value, options) => compileValue(value, options, engine),
    compilingValue: (value, options) => compilingValue(value, options, engine),
    compileCondition: (expression, options) => compileCondition(expression, options, engine),
    evaluate(expression, bindings) {
      const roots = Object.keys(bindings).sort()
      const result = engine.compile(expression, { roots }).evaluate(bindings)
      if (result.ok) return result.value
      const { code, detail } = result
      throw expressionError('expression.failed', { expression, failure: code, detail })
    }
  }
}
