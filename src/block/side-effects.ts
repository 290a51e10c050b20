import type { SideEffectClass } from './protocol.js'

/** What a block may do to the world outside, in rising order (semantics.md B9). */
export const sideEffectClasses = [
  'none',
  'idempotent',
  'non_idempotent'
] as const satisfies readonly SideEffectClass[]

/** Whether `effect` is of a higher class than `declared` allows. */
export function exceeds(effect: SideEffectClass, declared: SideEffectClass): boolean {
  return sideEffectClasses.indexOf(effect) > sideEffectClasses.indexOf(declared)
}

/** The highest of some classes; `none` of none. */
export function highest(classes: Iterable<SideEffectClass>): SideEffectClass {
  let rank = 0
  for (const one of classes) rank = Math.max(rank, sideEffectClasses.indexOf(one))
  return sideEffectClasses[rank] ?? 'non_idempotent'
}
