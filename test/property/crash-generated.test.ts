import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryDocument } from '../support/arbitrary-document.js'
import { crashEverywhere } from '../support/crash-everywhere.js'
import { cases, isSoak } from '../support/effort.js'
import { scenarioBlocks } from '../support/scenario-blocks.js'

/** Deaths for each document, spread evenly; in the soak one for each boundary. */
const DEATHS = 4

describe('a crash at the boundaries of generated documents', () => {
  it('L6, L7, D6: changes nothing', async () => {
    const found: number[] = []
    await fc.assert(
      fc.asyncProperty(arbitraryDocument, fc.nat(), async (document, offset) => {
        const scenario = { document, inputs: {}, registrations: scenarioBlocks }
        const at = (boundary: number, boundaries: number) =>
          isSoak || (boundary + offset) % Math.ceil(boundaries / DEATHS) === 0
        found.push(await crashEverywhere(scenario, { at }))
      }),
      { numRuns: cases({ usual: 2, long: 8, soak: 300 }) }
    )
    expect(Math.max(...found)).toBeGreaterThan(10)
  })
})
