import { canonicalizeLedgerValue, isJsonObject, type Json } from '../core/index.js'
import { type SideEffectClass, sideEffectClasses } from './request.js'

/** A write that happened outside, inside an atomic composite that may still be rolled back (C4). */
export interface LandedWrite {
  readonly effect: string
  /** Plain JSON, as the block asked. */
  readonly request: Json
  /** Plain JSON, as it was sealed. */
  readonly response: Json
}

/** What undoes a write: an effect of its own, done by the provider registered under its name. */
export interface CompensatingEffect {
  readonly effect: string
  readonly request: Json
  /** Unset means `non_idempotent`; an idempotent one is tried again by itself when it fails. */
  readonly sideEffects?: SideEffectClass
}

/**
 * How a write is undone (C4): the name of an effect that gets `{effect, request, response}` as its
 * request, or a pure function of what landed; null: this one cannot be undone.
 */
export type Compensation = string | ((landed: LandedWrite) => CompensatingEffect | null)

/** A compensating effect as the journal keeps it. */
export interface CompensatingCall {
  readonly effect: string
  readonly request: Json
  readonly sideEffects: SideEffectClass
}

/** The result of a compensation for one write; null when it has no answer that can be used. */
export function compensationOf(
  compensation: Compensation,
  landed: LandedWrite
): CompensatingCall | null {
  if (typeof compensation === 'string') {
    return { effect: compensation, request: { ...landed }, sideEffects: 'non_idempotent' }
  }
  try {
    // Copies: a function that changes what it is given changes nothing else.
    const undo = compensation(structuredClone(landed))
    if (undo === null) return null
    const { effect, request, sideEffects = 'non_idempotent' } = undo
    if (typeof effect !== 'string' || !sideEffectClasses.includes(sideEffects)) return null
    return { effect, request: JSON.parse(canonicalizeLedgerValue(request)) as Json, sideEffects }
  } catch {
    // What cannot say how it is undone is reported as not undone.
    return null
  }
}

/** Whether a text from a journal is a compensating effect. */
export function isCompensatingCall(value: unknown): value is CompensatingCall {
  if (!isJsonObject(value as Json)) return false
  const { effect, sideEffects } = value as unknown as CompensatingCall
  return typeof effect === 'string' && sideEffectClasses.includes(sideEffects)
}
