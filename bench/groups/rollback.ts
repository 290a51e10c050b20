import { elapsedMs } from '../../src/core/index.js'
import { defineBlock } from '../../src/index.js'
import { createRuntime } from '../../src/runtime/index.js'
import { median, Scratch } from '../measure.js'
import type { Group } from '../row.js'

const KEYS = 1_000
const RUNS = 40
const TARGET_MS = 5

/**
 * An atomic composite that has touched 1,000 keys fails: from the failure to the run's result, with
 * the signed evidence on disk. The floor has touched one key.
 */
export const rollback: Group = {
  rows: ['rollback.1000'],
  async measure() {
    const scratch = new Scratch()
    let failedAt = 0
    const tally = await createRuntime({
      location: scratch.directory(),
      create: 'if-absent',
      insecurePlaintextKey: true,
      blocks: [
        defineBlock<number, undefined>({
          name: 'bench.touch',
          version: '1.0.0',
          sideEffects: 'none',
          run: (ctx, keys) => {
            for (let key = 0; key < keys; key += 1) ctx.state.set(`key/${key}`, { key })
            return undefined
          }
        }),
        defineBlock({
          name: 'bench.fail',
          version: '1.0.0',
          sideEffects: 'none',
          run: async (ctx) => {
            // Whatever was before it is on disk then: only the rollback is measured.
            await ctx.effect('bench.look', () => null)
            failedAt = elapsedMs()
            return ctx.fail('on_purpose')
          }
        })
      ]
    })
    const times = new Map<number, number[]>([
      [KEYS, []],
      [1, []]
    ])
    for (let run = 0; run < RUNS; run += 1) {
      for (const [keys, taken] of times) {
        await tally.begin(document, { inputs: keys }).result
        taken.push(elapsedMs() - failedAt)
      }
    }
    await tally.close()
    scratch.remove()
    const value = median(times.get(KEYS) ?? [])
    const floor = median(times.get(1) ?? [])
    const limit = { floor, ratio: null, target: TARGET_MS }
    return [{ name: 'rollback.1000', value, unit: 'ms', ...limit, better: 'lower' }]
  }
}

const document = {
  schema: 'tally-composite/1',
  name: 'bench-rollback',
  version: '1.0.0',
  atomic: true,
  entry_point: 'touch',
  nodes: { touch: { block: 'bench.touch' }, fail: { block: 'bench.fail' } },
  transitions: { touch: 'fail' }
} as const
