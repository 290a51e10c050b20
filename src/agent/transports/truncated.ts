import type { TurnError } from '../adapters/adapter.js'

/**
 * The failure of an answer that stopped before its end: by a limit of tokens, by the provider's
 * lack of resources, or for any reason that is not known to be an end. What there is of it is no
 * answer.
 */
export function truncated(isAtLimit: boolean): TurnError {
  return {
    code: 'answer_truncated',
    message: isAtLimit
      ? 'The answer was cut off at the limit of tokens.'
      : 'The provider stopped before the answer was complete.',
    category: 'model',
    // The same limit would cut the next one off, too.
    retryable: !isAtLimit
  }
}
