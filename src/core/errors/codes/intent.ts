import type { CodeTexts } from '../texts.js'

export const intentCodes = {
  'intent.malformed_wallet': {
    message: 'The state entry {key} is not one of a wallet.',
    fix: 'Only the scoped API writes below wallet/; find the receipt that wrote it with "tally log".'
  }
} as const satisfies CodeTexts
