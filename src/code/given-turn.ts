import { afterMicrotasks } from '../core/index.js'
import { BlockFailure } from './context.js'

/** Why a call is refused that code makes after it has waited for something outside `ctx`. */
export const CALLED_OUT_OF_TURN = 'called_out_of_turn'

const PROBLEM =
  'before it the code waited for something that ctx does not give, or it comes from within a step'

/**
 * Whether the code of a workflow function runs because it was given something (B12). Code that has
 * waited for anything else, and a step's own function, may not ask: run again with the recorded
 * answers, it would not be where it was.
 *
 * Owns: how many answers were given since the last microtask was done.
 */
export class GivenTurn {
  #given = 0

  /** The code is given something, and may ask until it waits for something else. */
  give(): void {
    this.#given += 1
    afterMicrotasks(() => {
      this.#given -= 1
    })
  }

  /** Throws {@link BlockFailure} `called_out_of_turn` where the code was given nothing. */
  check(effect: string): void {
    if (this.#given > 0) return
    throw new BlockFailure(CALLED_OUT_OF_TURN, { call: effect, problem: PROBLEM })
  }
}
