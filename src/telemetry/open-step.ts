import type { SideEffectClass } from '../code/index.js'
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
  requested: Map<number, number> | undefined
  /** Effects that this process has sent and not heard of, by the number of the call. */
  sent: Map<number, SentCall> | undefined
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

/** Notes when a write was journaled, by the number of its call. */
export function noteRequest(step: OpenStep, { seq, at }: { seq: number; at: number }): void {
  step.requested ??= new Map()
  step.requested.set(seq, at)
}

/** Where a step stands in its run, as its spans say it, and how it ended. */
export function stepAttributes(
  { path, step, attempt, sideEffects }: OpenStep,
  {
    named,
    receipt,
    error
  }: {
    readonly named?: Attributes | undefined
    readonly receipt?: string | undefined
    readonly error: string | undefined
  }
): Attributes {
  const attributes: Record<string, Attributes[string]> = { 'tally.path': path, 'tally.step': step }
  if (attempt !== 0) attributes['tally.attempt'] = attempt
  attributes['tally.side_effects'] = sideEffects
  if (named !== undefined) Object.assign(attributes, named)
  if (receipt !== undefined) attributes['tally.receipt.hash'] = receipt
  if (error !== undefined) attributes['error.type'] = error
  return attributes
}
