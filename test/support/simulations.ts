import { isTallyError } from '../../src/core/index.js'
import type { SimulationOptions } from '../../src/testing/index.js'
import { type BrokenParts, simulateBroken } from '../../src/testing/simulate/simulate.js'

/** The first seed that fails, and with what; undefined: none does. */
export async function firstFailure(
  options: Omit<SimulationOptions, 'seed'>,
  { seeds = 30, broken = {} }: { readonly seeds?: number; readonly broken?: BrokenParts } = {}
) {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const lines: string[] = []
    const onEvent = (line: string) => void lines.push(line)
    try {
      await simulateBroken({ ...options, seed, onEvent }, broken)
    } catch (error) {
      if (!isTallyError(error, 'testing.simulation_failed')) throw error
      const { message, context } = error
      return { seed, promise: context.promise, message, trace: lines.join('\n') }
    }
  }
  return undefined
}
