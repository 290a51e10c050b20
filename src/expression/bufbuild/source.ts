import { limits } from '../../core/index.js'
import { invalidExpression as invalid } from '../invalid.js'

/**
 * Refuses source text that a recursive parser must not see: too long, or nested too deep. Brackets
 * inside text literals count too; what matters is that none is missed.
 */
export function refuseUnboundedSource(expression: string): void {
  if (expression.length > limits.EXPRESSION_LENGTH_MAX) {
    const limit = limits.EXPRESSION_LENGTH_MAX
    throw invalid(expression, `it is ${expression.length} characters long, over ${limit}`)
  }
  if (!expression.isWellFormed()) throw invalid(expression, 'it has a lone surrogate')
  let depth = 0
  let choices = 0
  for (const char of expression) {
    if (char === '(' || char === '[' || char === '{') depth += 1
    else if (char === ')' || char === ']' || char === '}') depth = Math.max(0, depth - 1)
    else if (char === '?') choices += 1
    if (depth > limits.EXPRESSION_BRACKETS_MAX || choices > limits.EXPRESSION_BRACKETS_MAX) {
      throw invalid(expression, `it nests more than ${limits.EXPRESSION_BRACKETS_MAX} deep`)
    }
  }
}
