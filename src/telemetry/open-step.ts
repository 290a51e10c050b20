import type { SideEffectClass } from '../block/index.js'
import type { Attributes } from './finished-span.js'

/** A step that has not ended. */
export interface OpenStep {
  readonly path: string
  readonly step: number
  readonly block: string
  readonly sideEffects: SideEffectClass
  readonly id: string
  readonly parent: string
  /** Milliseconds. */
  readonly from: number
  attempt: number
  attemptFrom: number
  /** Writes that are journaled and not answered: when, by the number of the call. */
  readonly requested: Map<number, number>
  /** Effects that this process has sent and not heard of, by the number of the call. */
  readonly sent: Map<number, SentCall>
}

export interface SentCall {
  readonly id: string
  readonly key: string
  readonly requestHash: string
  /** Milliseconds. */
  readonly at: number
  /** When what it had done was found. */
  locatedAt: number | undefined
}

/** Where a step stands in its run, as its spans say it. */
export function placeOf({ path, step, attempt, sideEffects }: OpenStep): Attributes {
  return {
    'tally.path': path,
    'tally.step': step,
    ...(attempt === 0 ? {} : { 'tally.attempt': attempt }),
    'tally.side_effects': sideEffects
  }
}
