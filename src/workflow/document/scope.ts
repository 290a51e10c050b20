import type { AisValue } from './value.js'

/**
 * Where a value stands: in the workflow, in a protocol that knows no nodes, or in the workflow in
 * place of a field of the protocol, where it knows both.
 */
export type Scope = 'flow' | 'protocol' | 'override'

/** A value and the place it stands in: a condition of a step is the protocol's, not the flow's. */
export interface ScopedValue {
  readonly scope: Scope
  readonly value: AisValue
}
