import { expect, it } from 'vitest'
import { shopStory } from '../../bench/simulated-shop.js'
import { simulate } from '../../src/testing/index.js'
import { allNetwork } from '../../src/testing/simulate/fate.js'
import { cases } from '../support/effort.js'
import seeds from './seeds.json' with { type: 'json' }

/** Seeds of one run; a night's run sets more. */
const SEEDS = Number(
  process.env['TALLY_SIMULATION_RUNTIME_SEEDS'] ?? cases({ usual: 12, long: 2_000 })
)
const FIRST_SEED = Number(process.env['TALLY_SIMULATION_FIRST_SEED'] ?? 1)
/** On a quiet machine a seed takes a thirtieth of it. */
const SEED_MS_MAX = 600

const story = shopStory()
const run = (seed: number) => simulate({ ...story, seed })

it(
  'N3, L1, L3, L6: the runtime keeps its promises under every seed',
  async () => {
    const injected = new Map<string, number>()
    let [lives, ended] = [0, 0]
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed += 1) {
      const report = await run(seed)
      lives += report.lives
      ended += report.ended
      for (const [kind, times] of Object.entries(report.faults)) {
        injected.set(kind, (injected.get(kind) ?? 0) + times)
      }
    }
    expect(ended).toBe(3 * SEEDS)
    expect(lives).toBeGreaterThan(3 * SEEDS)
    for (const kind of [
      'crash.power',
      'crash.process',
      'disk_full',
      'sync_failed',
      ...allNetwork
    ]) {
      expect(injected.get(kind), kind).toBeGreaterThan(SEEDS / 20)
    }
  },
  300_000 + SEEDS * SEED_MS_MAX
)

it.each(seeds.runtime)('the runtime stays right for seed %i, which failed once', async (seed) => {
  await expect(run(seed)).resolves.toHaveProperty('seed', seed)
})
