import { describe, expect, it } from 'vitest'
import { nextTurn } from '../../src/core/index.js'
import { type Store, storeAround } from '../../src/ledger/index.js'
import { cases, testMs } from '../support/effort.js'
import { type OpenLedger, type SimulationReport, simulate } from './harness.js'
import { realLedger } from './real-ledger.js'
import seeds from './seeds.json' with { type: 'json' }

/** Seeds of one run; a night's run sets more. */
const SEEDS = Number(
  process.env['TALLY_SIMULATION_LEDGER_SEEDS'] ?? cases({ usual: 75, long: 220, soak: 440 })
)
const FIRST_SEED = Number(process.env['TALLY_SIMULATION_FIRST_SEED'] ?? 1)

const run = (seed: number) => simulate(seed, realLedger(), { turn: nextTurn })

describe('ledger simulation', () => {
  it(
    'S1, L2, L3, L4, L6: the ledger keeps its promises under every seed',
    async () => {
      const reports: SimulationReport[] = []
      for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed += 1)
        reports.push(await run(seed))
      const acknowledged = reports.reduce((sum, report) => sum + report.acknowledged, 0)
      expect(acknowledged).toBeGreaterThan(SEEDS * 3)
      const came = (damage: SimulationReport['damage']) =>
        reports.filter((report) => report.damage === damage).length
      // By opening alone; what only verification finds are values of the state.
      expect(came('refused')).toBeGreaterThan(SEEDS / 8)
      expect(came('found')).toBeGreaterThan(SEEDS / 100)
    },
    testMs(600_000)
  )

  it.each(seeds.ledger)('stays right for seed %i, which failed once', async (seed) => {
    await expect(run(seed)).resolves.toHaveProperty('seed', seed)
  })

  it.each<[string, (store: Store) => Store]>([
    ['commits that are not atomic', (store) => changed(store, piecewise)],
    ['failed writes that are taken for done', (store) => changed(store, forgiving)]
  ])('finds a planted mistake of the store within 60 seeds: %s', async (_, plant) => {
    const open: OpenLedger = (store) => realLedger()(plant(store))
    const failed: number[] = []
    for (let seed = 1; seed <= 60 && failed.length === 0; seed += 1) {
      await simulate(seed, open, { turn: nextTurn }).catch(() => failed.push(seed))
    }
    expect(failed).toHaveLength(1)
  })
})

type Commit = Store['commit']

function changed(store: Store, change: (commit: Commit) => Commit): Store {
  return storeAround(store, { commit: change((items) => store.commit(items)) })
}

function piecewise(commit: Commit): Commit {
  return async (items) => {
    for (const { puts, deletes } of items) {
      for (const put of puts) await commit([{ puts: [put], deletes: [] }])
      await commit([{ puts: [], deletes }])
    }
    return items.map(() => true)
  }
}

function forgiving(commit: Commit): Commit {
  return (items) => commit(items).catch(() => items.map(() => true))
}
