import { BlockFailure } from '../../code/index.js'
import type { Json } from '../../core/index.js'

/** Reasons with which a turn fails; stable labels (semantics.md A6, B5). */
export type TurnFailureReason =
  | 'budget_exceeded'
  | 'turn_failed'
  | 'turn_aborted'
  | 'structured_output_invalid'
  | 'too_many_turns'
  | 'delegation_rejected'

/** Ends a node's turn; its error type is `TurnFailed`, for recovery lists. */
export class TurnFailed extends BlockFailure {
  override readonly name = 'TurnFailed'

  constructor(reason: TurnFailureReason, details: Json) {
    super(reason, details)
  }
}
