import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/core/index.js'
import type { Registrations } from '../../src/runtime/index.js'
import { compensatedBlocks, compensationDocuments } from '../support/compensation-scenario.js'
import { cases } from '../support/effort.js'
import type { World } from '../support/lives.js'
import { runScenario } from '../support/run-to-end.js'
import { scenarioBlocks } from '../support/scenario-blocks.js'
import { scenarioDocuments } from '../support/scenario-documents.js'
import { SpansInMemory } from '../support/spans.js'

/** Deaths of each document, spread evenly. */
const DEATHS = cases({ usual: 1, long: 6, soak: 100 })

/** Plays a document what its processes have told of it. */
async function played(
  document: Json,
  registrations: (world: World) => Registrations,
  deaths: readonly number[]
) {
  const spans = new SpansInMemory()
  const processes = [...deaths, 0].map(() => spans.telemetry.open({ version: '0' }))
  const ofProcess = (await Promise.all(processes)).values()
  const told = { document, inputs: {}, registrations: observed }
  function observed(world: World) {
    return { ...registrations(world), telemetry: ofProcess.next().value }
  }
  const { boundaries } = await runScenario(told, deaths)
  const ids = spans.ofRuns().map(({ name, id }) => `${name} ${id}`)
  return { boundaries, ids, names: ids.map((id) => id.split(' ')[0]) }
}

const scenarios = [
  ...Object.entries(scenarioDocuments).map((one) => [...one, scenarioBlocks] as const),
  ...Object.entries(compensationDocuments).map((one) => [...one, compensatedBlocks] as const)
]

describe('T1: spans of a run', () => {
  it.each(scenarios)('are made once, whatever is rebuilt: %s', async (_, document, blocks) => {
    const { boundaries, ids, names } = await played(document, blocks, [])
    expect(ids.filter((id, place) => ids.indexOf(id) !== place)).toEqual([])
    expect(names).toContain('run')
    for (let death = 1; death <= DEATHS; death += 1) {
      const at = Math.ceil((boundaries * death) / (DEATHS + 1))
      const { ids: told } = await played(document, blocks, [at])
      expect(
        told.filter((id, place) => told.indexOf(id) !== place),
        `death at ${at}`
      ).toEqual([])
    }
  })
})
