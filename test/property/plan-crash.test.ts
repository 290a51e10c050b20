import { describe, expect, it } from 'vitest'
import { canonicalize, type Json } from '../../src/core/index.js'
import { cases } from '../support/effort.js'
import { type Outcome, runScenario, type Scenario } from '../support/run-to-end.js'
import { scenarioBlocks } from '../support/scenario-blocks.js'
import { planDocument } from '../support/scenario-documents.js'

const scenario: Scenario = { document: planDocument, inputs: {}, registrations: scenarioBlocks }

// Each boundary costs a tenth of a second; the others are walked by the soak.
const every = cases({ usual: 13, long: 5, soak: 1 })

/** What each node gave, whichever ended first: times, and effects beside each other, may differ. */
function nodesOf({ result, receipts, state }: Outcome): Json {
  const units = receipts.filter(({ intent }) => intent !== 'run.completed')
  const given = units.map(({ inputPayload, resultHash }) => {
    const { id, run } = inputPayload
    const { path, step } = run ?? { path: '', step: 0 }
    const sealed = inputPayload.sealed.filter(({ effect }) => effect !== 'wait')
    const effects = sealed.map(({ seq, requestHash }) => `${seq} ${requestHash}`).sort()
    return { path, step, id, resultHash, effects }
  })
  given.sort((one, other) => (one.path < other.path ? -1 : 1))
  return JSON.parse(canonicalize({ response: result.response, state, given }))
}

describe('a plan with everything in it', () => {
  it('L6, L7, D6: ends the same after a crash at any boundary', async () => {
    const reference = await runScenario(scenario)
    const expected = nodesOf(reference)
    expect(reference.result.status).toBe('done')
    expect(reference.boundaries).toBeGreaterThan(60)
    for (let at = 1; at <= reference.boundaries; at += every) {
      const outcome = await runScenario(scenario, [at])
      expect(outcome.machine.world.repeated(), `crash at ${at}`).toEqual([])
      expect(nodesOf(outcome), `crash at ${at}`).toEqual(expected)
    }
  })
})
