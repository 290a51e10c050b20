import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { collectorOptions } from '../../src/testing/collector.js'
import type { Group } from '../row.js'

const SEEDS = 1_000
const SEEDS_USUAL = 150
/** Until the engine has compiled what a seed executes: a night has a million seeds. */
const WARMING = 1_500
const WARMING_USUAL = 300
const CORES = 2
const SEEDS_A_SECOND = 200

/**
 * Seeds of a workflow of three steps that two cores do in a second: two processes beside each
 * other, by their processor time, other threads included. A seed is its lives with what fails in
 * them, and the verification of what they leave. Node runs as `npm run soak -- seeds` has it.
 */
export const simulation: Group = {
  rows: ['simulation.seeds'],
  async measure({ full }) {
    const [warming, seeds] = full ? [WARMING, SEEDS] : [WARMING_USUAL, SEEDS_USUAL]
    const child = fileURLToPath(new URL('../child/simulated-seeds.js', import.meta.url))
    const play = async (core: number) => {
      const first = 1 + core * (warming + seeds)
      const given = [...collectorOptions, child, ...[first, warming, seeds].map(String)]
      const { stdout } = await promisify(execFile)(process.execPath, given)
      return Number(stdout)
    }
    const seconds = await Promise.all(Array.from({ length: CORES }, (_, core) => play(core)))
    const value = seconds.reduce((sum, one) => sum + seeds / one, 0)
    const named = { name: 'simulation.seeds', unit: 'seeds/s', better: 'higher' } as const
    return [{ ...named, value, floor: null, ratio: null, target: SEEDS_A_SECOND }]
  }
}
