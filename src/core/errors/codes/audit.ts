import type { CodeTexts } from '../texts.js'

export const auditCodes = {
  'audit.no_code': {
    message: 'Executing receipts again needs the blocks that they ran, and none are given.',
    fix: 'Give the code, or verify without executing again.'
  }
} as const satisfies CodeTexts
