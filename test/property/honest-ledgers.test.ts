import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cases } from '../support/effort.js'
import { generatedRuns, playedProgram, programBlock } from '../support/programs.js'
import { happening, SideBySide } from '../support/side-by-side.js'

/**
 * An honest ledger verifies, whatever was run on it: programs that read and change the same state,
 * ask, sleep and act, beside each other, parked, resumed after others have changed what they
 * read, and killed anywhere.
 */

describe('an honest ledger', () => {
  it('verifies and replays, whatever programs did, side by side, parked and killed', async () => {
    await fc.assert(
      fc.asyncProperty(
        generatedRuns,
        fc.array(happening, { maxLength: 12 }),
        async (all, happenings) => {
          const report = await new SideBySide(all.map(playedProgram), (machine) => ({
            registrations: { blocks: [programBlock(machine)] }
          })).play(happenings)
          expect(report?.failure).toBeUndefined()
          expect(report?.reexecuted).toBe(report?.receipts)
        }
      ),
      { numRuns: cases({ usual: 20, long: 22, soak: 2_000 }), endOnFailure: true }
    )
  })
})
