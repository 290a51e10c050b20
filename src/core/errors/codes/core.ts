import type { CodeTexts } from '../texts.js'

export const coreCodes = {
  'core.not_json': {
    message: 'The value at {path} is not plain JSON: {problem}.',
    fix: 'Pass only null, booleans, finite numbers, strings, arrays and plain objects.'
  },
  'core.not_ledger_value': {
    message: 'The value at {path} cannot be kept in the ledger: {problem}.',
    fix: 'Write larger integers and amounts as decimal strings, and do not use keys that begin with "$".'
  },
  'core.malformed_json': {
    message: 'Text is not strict JSON at offset {offset}: {problem}.',
    fix: 'Write the text as JSON without duplicate keys, inexact integers or lone surrogates.'
  },
  'core.limit_exceeded': {
    message: '{what} is {actual}, over the limit of {limit}.',
    fix: 'Make it smaller, or split the work. Limits are listed in docs/limits.md.'
  },
  'document.malformed': {
    message: 'The document cannot be read at line {line}, column {column}: {problem}.',
    fix: 'Correct the document at that place.'
  },
  'document.too_much_work': {
    message: 'Checking the document takes more than {limit} steps.',
    fix: 'Split the document: its parts refer to each other too often for one of its size.'
  },
  'core.internal': {
    message: 'Internal assertion failed: {problem}.',
    fix: 'This is a defect in tallystick; please report it with the message above.'
  }
} as const satisfies CodeTexts
