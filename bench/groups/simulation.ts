import { simulate } from '../../src/testing/index.js'
import type { Group } from '../row.js'
import { shopEffects as effects, threeSteps } from '../simulated-shop.js'

const SEEDS = 1_000
const SEEDS_USUAL = 100
const SEEDS_A_SECOND = 200

/**
 * Seeds of a workflow of three steps in a second of processor time, other threads included: its
 * lives with what fails in them, and the verification of what they leave.
 */
export const simulation: Group = {
  rows: ['simulation.seeds'],
  async measure({ full }) {
    const seeds = full ? SEEDS : SEEDS_USUAL
    const simulated = { nodes: { shop: { target: threeSteps(), runs: [{}] } }, effects }
    const play = async (first: number, count: number) => {
      for (let seed = first; seed < first + count; seed += 1) await simulate({ ...simulated, seed })
    }
    await play(1, 20)
    const before = process.cpuUsage()
    await play(21, seeds)
    const { user, system } = process.cpuUsage(before)
    const value = (seeds * 1_000_000) / (user + system)
    const named = { name: 'simulation.seeds', unit: 'seeds/s', better: 'higher' } as const
    return [{ ...named, value, floor: null, ratio: null, target: SEEDS_A_SECOND }]
  }
}
