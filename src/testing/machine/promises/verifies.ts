import { firstBroken, type MachinePromise } from './promise.js'

/** What a failure of verification says of code, and not of what is stored. */
export const verifies: MachinePromise = {
  code: 'verifies',
  text: 'every receipt verifies: hashes, links, signatures, state and journals',
  check: (evidence) =>
    firstBroken(evidence, ({ report }) => {
      const failure = report?.failure
      if (failure === undefined || report?.difference !== undefined) return undefined
      const { index, field, signed, computed } = failure
      return { problem: `receipt ${index}: ${field}`, expected: signed, actual: computed }
    })
}
