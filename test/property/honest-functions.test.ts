import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cases } from '../support/effort.js'
import {
  GeneratedFunctions,
  generatedActs,
  playedFunction
} from '../support/generated-functions.js'
import { generatedRun, playedProgram } from '../support/programs.js'
import { happening, SideBySide } from '../support/side-by-side.js'

/**
 * An honest ledger verifies, whatever workflows in code did on it: steps in order, at once, in
 * races and in atomic parts, children, signals, waits and failures, beside documents that change
 * the same state, parked and killed anywhere.
 */

const played = fc.oneof(
  { weight: 3, arbitrary: generatedActs.map((acts) => ({ acts })) },
  { weight: 1, arbitrary: generatedRun.map((run) => ({ run })) }
)

describe('an honest ledger', () => {
  it('B12: verifies and replays, whatever workflows in code did, parked and killed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(played, { minLength: 1, maxLength: 3 }),
        fc.array(happening, { maxLength: 12 }),
        async (all, happenings) => {
          const runs = all.map((one) =>
            'acts' in one ? playedFunction(one.acts) : playedProgram(one.run)
          )
          const play = new SideBySide(runs, (machine) => new GeneratedFunctions(machine).code)
          const report = await play.play(happenings)
          expect(report?.failure).toBeUndefined()
          expect(report?.reexecuted).toBe(report?.receipts)
        }
      ),
      { numRuns: cases({ usual: 20, long: 40, soak: 2_000 }), endOnFailure: true }
    )
  })
})
