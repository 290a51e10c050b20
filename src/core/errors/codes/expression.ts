import type { CodeTexts } from '../texts.js'

export const expressionCodes = {
  'expression.invalid': {
    message: 'The expression {expression} is invalid: {problem}.',
    fix: 'Correct the expression; docs/spec/expressions.md lists what it may say.'
  },
  'expression.failed': {
    message: 'The expression {expression} has no value ({failure}): {detail}.',
    fix: 'Correct the expression or the values it reads.'
  }
} as const satisfies CodeTexts
