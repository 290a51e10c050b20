import { firstBroken, type MachinePromise } from './promise.js'

/** A play stays within bounds. */
export const bounded: MachinePromise = {
  code: 'bounded',
  text: 'steps, effects, and bytes of state and journals stay within bounds',
  check: (evidence) =>
    firstBroken(evidence, ({ overrun }) =>
      overrun === undefined ? undefined : { problem: `one play has left ${overrun}` }
    )
}
