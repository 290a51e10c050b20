import { type Json, type JsonObject, type Pieces, TallyError } from '../core/index.js'
import { type CompiledCondition, compileCondition } from './condition.js'
import type { ExpressionEngine, ExpressionOptions } from './engine.js'
import { type CompiledValue, compileValue, compilingValue } from './value.js'

/** Values, conditions and expressions on one loaded engine. */
export interface Expressions {
  readonly engine: ExpressionEngine
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

/**
 * Loads the CEL engine (about 130 ms once in a process, so only documents that use CEL should ask).
 * Everything it returns is synchronous.
 */
export async function loadExpressions(): Promise<Expressions> {
  const { createBufbuildEngine } = await import('./bufbuild/engine.js')
  return expressionsOn(createBufbuildEngine())
}

/** The expressions of any engine that implements the profile. */
export function expressionsOn(engine: ExpressionEngine): Expressions {
  return {
    engine,
    compileValue: (value, options) => compileValue(value, options, engine),
    compilingValue: (value, options) => compilingValue(value, options, engine),
    compileCondition: (expression, options) => compileCondition(expression, options, engine),
    evaluate(expression, bindings) {
      const roots = Object.keys(bindings).sort()
      const result = engine.compile(expression, { roots }).evaluate(bindings)
      if (result.ok) return result.value
      const { code, detail } = result
      throw new TallyError('expression.failed', { expression, failure: code, detail })
    }
  }
}
