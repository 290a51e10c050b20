import { expect } from 'vitest'
import { essence } from '../../src/testing/machine/essence.js'
import { runScenario, type Scenario } from './run-to-end.js'

export { essence }

export interface CrashOptions {
  /** False: the order of effects beside each other is not promised, and not compared. */
  readonly sameOrder?: boolean
  /** Which boundaries to die at; all of them by default. */
  readonly at?: (boundary: number, boundaries: number) => boolean
}

/**
 * Runs a scenario once for each boundary, with a death there: nothing may differ in the end. Gives
 * their number.
 */
export async function crashEverywhere(
  scenario: Scenario,
  { sameOrder = true, at: isChosen = () => true }: CrashOptions = {}
): Promise<number> {
  const reference = await runScenario(scenario)
  const expected = essence(reference, sameOrder)
  const { boundaries } = reference
  expect(reference.machine.world.repeated()).toEqual([])
  for (let at = 1; at <= boundaries; at += 1) {
    if (!isChosen(at, boundaries)) continue
    const label = `crash at ${at} of ${boundaries}`
    const outcome = await runScenario(scenario, [at]).catch((error: unknown) => {
      throw new Error(`${label}: ${String(error)}`, { cause: error })
    })
    expect(outcome.machine.world.repeated(), label).toEqual([])
    expect(essence(outcome, sameOrder), label).toEqual(expected)
  }
  return boundaries
}
