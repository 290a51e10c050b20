/**
 * How turns are done. A run keeps the rules that it began with, by the version of the turn's block
 * (semantics.md B10): other rules would make other requests of the same answers.
 */
export interface TurnRules {
  /** A shape that fails for a number that JSON numbers cannot hold says so to the model. */
  readonly namesInexactNumbers: boolean
  /** Calls that an answer hands back are answered, whatever adapter gave them. */
  readonly answersAllCalls: boolean
  /** Time budgets count what turns and tools take; before, all that passed on the run's clock. */
  readonly countsWork: boolean
  /** A turn that is refused for now is tried again no earlier than the other side asks. */
  readonly waitsAsAsked: boolean
}

/** By version of the block `agent.turn`. */
export const turnRules = {
  '1.0.0': {
    namesInexactNumbers: false,
    answersAllCalls: false,
    countsWork: false,
    waitsAsAsked: false
  },
  '1.1.0': {
    namesInexactNumbers: true,
    answersAllCalls: true,
    countsWork: true,
    waitsAsAsked: true
  }
} as const satisfies Readonly<Record<string, TurnRules>>

export type TurnVersion = keyof typeof turnRules
