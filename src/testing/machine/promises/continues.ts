import { firstBroken, type MachinePromise } from './promise.js'

/** No run is ended by an error, and every ledger opens again. */
export const continues: MachinePromise = {
  code: 'continues',
  text: 'no error ends a run, and what a process left can be opened and resumed',
  check: (evidence) =>
    firstBroken(evidence, ({ error }) => {
      if (error === undefined || error.code === 'run.diverged') return undefined
      const { code, message, life, run } = error
      const problem = `life ${life} ${run === undefined ? 'was' : `of ${run} was`} ended by ${code}`
      return { problem, expected: 'a result, or a wait', actual: message }
    })
}
