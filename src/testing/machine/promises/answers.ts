import { firstBroken, type MachinePromise } from './promise.js'

/** Wrong, late and repeated answers change nothing. */
export const answers: MachinePromise = {
  code: 'answers',
  text: 'an answer that is wrong, late or given twice is refused',
  check: (evidence) =>
    firstBroken(evidence, ({ wronglyTaken }) => {
      const [taken] = wronglyTaken
      if (taken === undefined) return undefined
      return { problem: `${taken.what} was accepted`, expected: 'a refusal', actual: taken.token }
    })
}
