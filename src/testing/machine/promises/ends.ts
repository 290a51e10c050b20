import { firstBroken, type MachinePromise } from './promise.js'

/** Every run ends, or waits for something that has a name. */
export const ends: MachinePromise = {
  code: 'ends',
  text: 'every run ends, or waits for a person or a time that it names',
  check: (evidence) =>
    firstBroken(evidence, ({ stuck, journals }) => {
      const [run] = stuck
      if (run === undefined) return undefined
      const last = journals.get(run)?.at(-1)
      const path = last !== undefined && 'path' in last ? last.path : undefined
      const at = path === undefined ? '' : `, after ${path}`
      return {
        problem: `${run} neither ends nor waits for anything that the runtime knows${at}`,
        expected: 'an end, a wait, or an effect or sleep of ctx',
        actual: 'code that waits for something else, or for ever',
        ...(path === undefined ? {} : { path })
      }
    })
}
