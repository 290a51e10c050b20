import { expect } from 'vitest'
import { canonicalize, type Json } from '../../src/core/index.js'
import type { Receipt } from '../../src/ledger/index.js'
import { type Outcome, runScenario, type Scenario } from './run-to-end.js'

/** Everything of an outcome that a crash must not change. */
export function essence({ result, receipts, state }: Outcome, sameOrder = true): Json {
  const { receiptHash: _, ...rest } = result
  return JSON.parse(
    canonicalize({
      result: rest,
      state,
      receipts: receipts
        .filter(({ intent }) => intent !== 'run.completed')
        .map((receipt) => (sameOrder ? receipt.receiptHash : unordered(receipt)))
    })
  )
}

function unordered({ inputPayload, resultHash }: Receipt): Json {
  const sealed = [...inputPayload.sealed].sort((a, b) => a.seq - b.seq)
  return JSON.parse(canonicalize({ ...inputPayload, seed: null, sealed, resultHash }))
}

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
