import { expressionError, type TallyError } from '../core/index.js'

const shownLengthMax = 200

/** A refusal of an expression or value at compile time; long expressions are cut. */
export function invalidExpression(
  expression: string,
  problem: string
): TallyError<'expression.invalid'> {
  const isLong = expression.length > shownLengthMax
  const shown = isLong ? `${expression.slice(0, shownLengthMax)}...` : expression
  return expressionError('expression.invalid', { expression: shown, problem })
}
