import type { CompiledExpression, ExpressionEngine, ExpressionOptions } from './engine.js'
import { failed } from './failure.js'

/** A condition: its evaluation gives exactly a boolean, or a failure as data (semantics.md W3). */
export type CompiledCondition = CompiledExpression<boolean>

/** Compiles a condition; any other result than a boolean becomes `type_error`. */
export function compileCondition(
  expression: string,
  options: ExpressionOptions,
  engine: ExpressionEngine
): CompiledCondition {
  const compiled = engine.compile(expression, options)
  return {
    references: compiled.references,
    evaluate(bindings) {
      const result = compiled.evaluate(bindings)
      if (!result.ok) return result
      const { value } = result
      if (typeof value === 'boolean') return { ok: true, value }
      return failed('type_error', 'a condition must be exactly true or false')
    }
  }
}
