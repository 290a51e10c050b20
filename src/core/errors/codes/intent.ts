import type { CodeTexts } from '../texts.js'

export const intentCodes = {
  'intent.duplicate_resolver': {
    message: 'Two resolvers of text have the name {name}.',
    fix: 'Give each a name of its own: a text names the one that is to resolve it.'
  },
  'intent.malformed_wallet': {
    message: 'The state entry {key} is not one of a wallet.',
    fix: 'Only the scoped API writes below wallet/; find the receipt that wrote it with "tally log".'
  },
  'intent.duplicate_server': {
    message: 'The blocks {one} and {other} both serve the intent {intent}.',
    fix: 'Take the intent away from one of them; one action has one trusted block.'
  },
  'intent.unknown_resolver': {
    message: 'No resolver of text has the name {name}.',
    fix: 'Name one that the runtime was given as "resolvers".'
  }
} as const satisfies CodeTexts
