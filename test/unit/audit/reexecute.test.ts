import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type VerificationReport, verifyLedgerDeep } from '../../../src/audit/index.js'
import { Registry } from '../../../src/runtime/code/registry.js'
import { cases, isTaken } from '../../support/effort.js'
import { testKeys } from '../../support/lives.js'
import { type Outcome, runScenario, type Scenario } from '../../support/run-to-end.js'
import { scenarioBlocks } from '../../support/scenario-blocks.js'
import { fanDocument, scenarioDocuments } from '../../support/scenario-documents.js'

const scenarios = { ...scenarioDocuments, 'effects beside each other': fanDocument }

function scenarioOf(name: string): Scenario {
  const document = scenarios[name as keyof typeof scenarios]
  return { document, inputs: { limit: '10' }, registrations: scenarioBlocks }
}

async function verifyAgain({ machine }: Outcome, executions = 1): Promise<VerificationReport> {
  return verifyLedgerDeep({
    store: machine.disk.open(),
    identity: testKeys.identity,
    code: await Registry.open(scenarioBlocks(machine.world)),
    executions
  })
}

describe('verify with re-execution (P1)', () => {
  it.each(Object.keys(scenarios))('D5: does %s again, twice, to the same bytes', async (name) => {
    const outcome = await runScenario(scenarioOf(name))
    const report = await verifyAgain(outcome, 2)
    expect(report.failure).toBeUndefined()
    expect(report).toMatchObject({ ok: true, reexecuted: outcome.receipts.length })
  })

  const crashed = Object.keys(scenarios).filter((_, place) => isTaken(place, 3))
  it.each(crashed)('D6: does %s again after crashes anywhere', async (name) => {
    const { boundaries } = await runScenario(scenarioOf(name))
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: boundaries }), { minLength: 1, maxLength: 3 }),
        async (deaths) => {
          const outcome = await runScenario(scenarioOf(name), deaths)
          const report = await verifyAgain(outcome)
          expect(report.failure).toBeUndefined()
          expect(report.reexecuted).toBe(outcome.receipts.length)
        }
      ),
      { numRuns: cases({ usual: 2, long: 7 }) }
    )
  })
})
