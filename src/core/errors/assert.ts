import { coreError } from './error.js'

/** Refuses to continue when something that must hold does not; throws `core.internal`. */
export function assert(condition: unknown, problem: string): asserts condition {
  if (!condition) throw coreError('core.internal', { problem })
}

/** Marks a branch that types prove unreachable; throws `core.internal` if reached all the same. */
export function unreachable(value: never): never {
  throw coreError('core.internal', { problem: `unexpected ${JSON.stringify(value)}` })
}

/** Unwraps a value that must be there; throws `core.internal` otherwise. */
export function present<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) {
    throw coreError('core.internal', { problem: `missing ${what}` })
  }
  return value
}
