import type { EffectRequest } from '../../code/index.js'
import type { QueuePlace } from '../../queue/index.js'
import type { Attempt } from './attempt.js'

/** An effect that waited for its turn has it. */
export interface Turn {
  readonly isOrdered: boolean
  /** Undefined: no queue knows of the effect. */
  readonly place: QueuePlace | undefined
}

export interface AdmittedEvent {
  readonly kind: 'admitted'
  readonly attempt: Attempt
  readonly call: EffectRequest
  readonly turn: Turn
}
