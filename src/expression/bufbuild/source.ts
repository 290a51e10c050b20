import { limits } from '../../core/index.js'
import { invalidExpression as invalid } from '../invalid.js'

/** Steps of compiling one expression, whatever it says, and of each character and bracket of it. */
const STEPS_OF_EXPRESSION = 200
const STEPS_OF_CHARACTER = 12
const STEPS_OF_BRACKET = 40

// A loop is copied when the parser expands it.
const loop = /\.(?:all|exists|exists_one|filter|map)\(/g

/** Work of compiling an expression, as measured; what the engine remembers saves nothing. */
export function workOf(expression: string): number {
  const length = Math.min(expression.length, limits.EXPRESSION_LENGTH_MAX)
  let brackets = 0
  for (let index = 0; index < length; index += 1) {
    if ('([{?'.includes(expression[index] ?? ' ')) brackets += 1
  }
  const loops = expression.slice(0, length).match(loop)?.length ?? 0
  const characters =
    length * STEPS_OF_CHARACTER * (1 + Math.min(loops, limits.EXPRESSION_LOOPS_MAX))
  return STEPS_OF_EXPRESSION + characters + brackets * STEPS_OF_BRACKET
}

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
