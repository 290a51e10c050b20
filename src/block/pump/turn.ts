import type { EffectRequest } from '../code/calls.js'
import type { Attempt } from './attempt.js'
import type { QueuePlace } from './work-queue.js'

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
