import type { CodeTexts } from '../texts.js'

export const agentCodes = {
  'agent.duplicate_adapter': {
    message: 'Two adapters are registered as {kind}.',
    fix: 'Register each kind of adapter once.'
  },
  'agent.unknown_adapter': {
    message: 'No adapter is registered as {kind}; registered are: {kinds}.',
    fix: 'Register an adapter of that kind, or correct adapterKind.'
  }
} as const satisfies CodeTexts
