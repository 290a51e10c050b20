import type { Finding } from '../finding.js'

/** What doing something that had failed again came to. */
export type FailureAgain =
  /** It failed again, with the same reason and details. */
  | { readonly kind: 'same' }
  | { readonly kind: 'finding'; readonly finding: Finding }
  /** Not done again, or not to be compared, and why. */
  | { readonly kind: 'skipped'; readonly why: string }

export function skipped(why: string): FailureAgain & { readonly kind: 'skipped' } {
  return { kind: 'skipped', why }
}
