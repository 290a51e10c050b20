import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defineBlock, EffectFailure, type SideEffectClass } from '../../src/code/index.js'
import type { Json, JsonObject } from '../../src/core/index.js'
import type { Registrations } from '../../src/runtime/index.js'
import type { World } from '../support/lives.js'
import { runScenario } from '../support/run-to-end.js'
import '../support/seed.js'

const RUNS = process.env['SOAK'] === '1' ? 200 : 12

/** How the first provider fails: certainly without having done anything, or not certainly. */
type Failing = 'refused' | 'in doubt'

interface Case {
  readonly sideEffects: SideEffectClass
  readonly failing: Failing
  /** What stands before the fallback. */
  readonly before: readonly ('retry' | 'repair')[]
  /** Where the node stands: in the document itself, or in one that it uses. */
  readonly isUsed: boolean
  readonly dieAt: number
}

const cases = fc.record({
  sideEffects: fc.constantFrom<SideEffectClass>('none', 'idempotent', 'non_idempotent'),
  failing: fc.constantFrom<Failing>('refused', 'in doubt'),
  before: fc.array(fc.constantFrom('retry', 'repair'), { maxLength: 3 }),
  isUsed: fc.boolean(),
  dieAt: fc.integer({ min: 1, max: 30 })
})

const composite = (name: string, nodes: JsonObject): JsonObject => ({
  schema: 'tally-composite/1',
  name,
  version: '1.0.0',
  entry_point: 'pay',
  nodes
})

function documentOf({ before, isUsed }: Case): { readonly document: Json; readonly used: Json[] } {
  const steps = before.map((kind) =>
    kind === 'retry' ? { retry: { max_attempts: 3 } } : { repair: 'same' }
  )
  const pay = { block: 'one', recovery: [...steps, { fallback: ['two'] }] }
  if (!isUsed) return { document: composite('outer', { pay }), used: [] }
  const use = { pay: { use: 'inner' } }
  return { document: composite('outer', use), used: [composite('inner', { pay })] }
}

function registered({ sideEffects, failing }: Case, used: Json[]) {
  return (world: World): Registrations => ({
    composites: used,
    repairs: { same: (request) => request },
    blocks: [
      defineBlock({
        name: 'one',
        version: '1.0.0',
        sideEffects,
        run: (ctx) =>
          ctx.effect('pay one', {
            request: { by: 'one' },
            perform: () => {
              throw new EffectFailure('no', { definite: failing === 'refused' })
            },
            locate: () => ({ found: false, definite: failing === 'refused' })
          })
      }),
      defineBlock({
        name: 'two',
        version: '1.0.0',
        sideEffects,
        run: (ctx) =>
          ctx.effect('pay two', {
            request: { by: 'two' },
            perform: (call) => world.actOnce(call),
            locate: (call) => world.locate(call)
          })
      })
    ]
  })
}

/** C3: another provider is tried when nothing can have happened, whatever else the list says. */
const movesOn = ({ sideEffects, failing }: Case) => sideEffects === 'none' || failing === 'refused'

describe('the next provider', () => {
  it('C3, B8: is tried after a failure that did nothing, whatever stands before it', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async (one) => {
        const { document, used } = documentOf(one)
        const scenario = {
          document,
          inputs: {},
          registrations: registered(one, used),
          // What cannot be known is left as it is.
          decide: () => ({ action: 'abort' }) as const
        }
        for (const deaths of [[], [one.dieAt]]) {
          const { result, machine } = await runScenario(scenario, deaths)
          const { deeds } = machine.world
          expect([result.status, deeds.length]).toEqual(movesOn(one) ? ['done', 1] : ['failed', 0])
        }
      }),
      { numRuns: RUNS }
    )
  })
})
