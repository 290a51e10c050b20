import type { Finding } from '../finding.js'

/** What doing something that had failed again came to. */
export type FailureAgain =
  /** It failed again, with the same reason and details. */
  | { readonly kind: 'same' }
  | { readonly kind: 'finding'; readonly finding: Finding }
  /** Not done again, or not to be compared, and why. */
  | {
      readonly kind: 'skipped'
      readonly why: string
      /** It could be done again where the body is that is withheld here. */
      readonly isWithheld: boolean
    }

export function skipped(why: string): FailureAgain & { readonly kind: 'skipped' } {
  return { kind: 'skipped', why, isWithheld: false }
}

/** What it rests on is withheld here. */
export function lacksBody(what: string): FailureAgain & { readonly kind: 'skipped' } {
  return { kind: 'skipped', why: `${what} is withheld`, isWithheld: true }
}
