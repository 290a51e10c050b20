import type { JsonObject } from '../../core/index.js'
import type { Intent } from '../intent.js'

/** One intent of a plan. */
export interface PlannedStep {
  /** Unique in the plan, and words of a document: `balance`, `validate`, `transactions`. */
  readonly id: string
  /** Canonical name of the capability, or the action as it stands when it has none. */
  readonly canonical: string
  readonly args: JsonObject
  /** Steps whose results this one is handed, as `$deps` and `$prev`. */
  readonly dependsOn: readonly string[]
}

/** What an intent needs to be done (K11); the intent itself is the last step. */
export interface IntentPlan {
  readonly intent: Intent
  readonly steps: readonly PlannedStep[]
}

export type PlannedIntent =
  | { readonly ok: true; readonly plan: IntentPlan }
  | { readonly ok: false; readonly reason: 'cycle' | 'too_many_steps'; readonly message: string }
