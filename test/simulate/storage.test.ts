import { describe, expect, it } from 'vitest'
import { cases } from '../support/effort.js'
import { type SimulationOptions, type SimulationReport, simulate } from './harness.js'
import seeds from './seeds.json' with { type: 'json' }
import { type ToyMistakes, toyLedger } from './toy-ledger.js'

/** Seeds of one run; a night's run sets more. */
const SEEDS = Number(process.env['TALLY_SIMULATION_SEEDS'] ?? cases({ usual: 1_000, long: 4_000 }))

/** The first seed up to `limit` that fails, or undefined. */
async function firstFailure(
  mistakes: ToyMistakes,
  options: SimulationOptions,
  limit: number
): Promise<number | undefined> {
  for (let seed = 1; seed <= limit; seed += 1) {
    try {
      await simulate(seed, toyLedger(mistakes), options)
    } catch {
      return seed
    }
  }
  return undefined
}

describe('storage simulation', () => {
  it('S1, L3, L4: the toy ledger keeps its promises under every seed', async () => {
    const reports: SimulationReport[] = []
    for (let seed = 1; seed <= SEEDS; seed += 1) reports.push(await simulate(seed, toyLedger()))
    const total = new Map<string, number>()
    for (const { injected } of reports) {
      for (const [kind, times] of injected) total.set(kind, (total.get(kind) ?? 0) + times)
    }
    for (const kind of [
      'crash.power',
      'crash.process',
      'disk_full',
      'sync_failed',
      'bit_flip',
      'truncated',
      'misplaced',
      'lost_value',
      'lost_record'
    ]) {
      expect(total.get(kind), kind).toBeGreaterThan(SEEDS / 20)
    }
    expect(reports.filter(({ damage }) => damage === 'refused').length).toBeGreaterThan(SEEDS / 4)
    expect(reports.filter(({ acknowledged }) => acknowledged > 5).length).toBeGreaterThan(SEEDS / 3)
  })

  it.each(seeds.storage)('stays right for seed %i, which failed once', async (seed) => {
    await expect(simulate(seed, toyLedger())).resolves.toHaveProperty('seed', seed)
  })

  it('F5: a seed gives the same run every time', async () => {
    for (const seed of [1, 2, 3, 500]) {
      expect(await simulate(seed, toyLedger())).toEqual(await simulate(seed, toyLedger()))
    }
  })

  it.each<[string, ToyMistakes, SimulationOptions]>([
    ['receipt and head in separate writes', { separateWrites: true }, {}],
    ['continuing after a failed write', { goesOn: true }, {}],
    ['acknowledging before the write', { acknowledgesEarly: true }, {}],
    ['believing the head at open', { believes: true }, {}],
    ['appending a known unit again', { forgetsUnits: true }, {}],
    ['a disk that acknowledges from its cache', {}, { syncs: false }]
  ])('finds a planted mistake within 50 seeds: %s', async (_, mistakes, options) => {
    expect(await firstFailure(mistakes, options, 50)).toBeDefined()
  })
})
