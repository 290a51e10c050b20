import { describe, expect, it } from 'vitest'
import { canonicalize, type Json } from '../../src/core/index.js'
import type { Receipt } from '../../src/ledger/index.js'
import { type Outcome, runScenario, type Scenario } from '../support/run-to-end.js'
import { scenarioBlocks } from '../support/scenario-blocks.js'
import { fanDocument, scenarioDocuments } from '../support/scenario-documents.js'

/** Everything of an outcome that a crash must not change. */
function essence({ result, receipts, state }: Outcome, sameOrder = true): Json {
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

async function crashEverywhere(scenario: Scenario, sameOrder = true): Promise<void> {
  const reference = await runScenario(scenario)
  const expected = essence(reference, sameOrder)
  expect(reference.machine.world.repeated()).toEqual([])
  for (let at = 1; at <= reference.boundaries; at += 1) {
    const label = `crash at ${at} of ${reference.boundaries}`
    const outcome = await runScenario(scenario, [at]).catch((error: unknown) => {
      throw new Error(`${label}: ${String(error)}`, { cause: error })
    })
    expect(outcome.machine.world.repeated(), label).toEqual([])
    expect(essence(outcome, sameOrder), label).toEqual(expected)
  }
}

describe('a crash at every boundary', () => {
  for (const [name, document] of Object.entries(scenarioDocuments)) {
    it(`L6, L7, D6: changes nothing for ${name}`, async () => {
      await crashEverywhere({ document, inputs: {}, registrations: scenarioBlocks })
    })
  }

  it('L6, L7: changes no result for effects beside each other', async () => {
    const scenario = { document: fanDocument, inputs: {}, registrations: scenarioBlocks }
    await crashEverywhere(scenario, false)
  })
})
