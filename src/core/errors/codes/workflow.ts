import type { CodeTexts } from '../texts.js'

export const workflowCodes = {
  'workflow.invalid_document': {
    message: 'A {kind} cannot be used: {problem}.',
    fix: 'Check it with "tally lint".'
  }
} as const satisfies CodeTexts
