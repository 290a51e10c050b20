import type { defineBlock, SideEffectClass } from '../../code/index.js'

/** A machine of XState, with what it does not say itself. */
export interface ChartTarget {
  readonly machine: {
    readonly id: string
    readonly events: readonly unknown[]
    getInitialSnapshot(...given: never[]): unknown
    transition(...given: never[]): unknown
  }
  /** Class of each effect that it asks for. Default: `non_idempotent`. */
  readonly sideEffects?: Readonly<Record<string, SideEffectClass>>
  /** Schema of its input. Default: it gets an empty object. */
  readonly input?: Parameters<typeof defineBlock>[0]['input']
}
