import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { inOrder, shopEffects, threeSteps } from '../../../../bench/simulated-shop.js'
import type { OutsideCall } from '../../../../src/block/index.js'
import { type Block, defineBlock } from '../../../../src/code/index.js'
import type { Json } from '../../../../src/core/index.js'
import { type SimulationOptions, simulate } from '../../../../src/testing/index.js'
import { allNetwork } from '../../../../src/testing/simulate/fate.js'
import { builtModule } from '../../../support/built.js'
import { cases } from '../../../support/effort.js'
import { firstFailure } from '../../../support/simulations.js'

const target = threeSteps()
const two = { a: { target, runs: [{}, {}] }, b: { target, runs: [{}] } }
const shop = { nodes: two, effects: shopEffects }

function block(name: string, run: Block['run']): Block {
  return defineBlock({ name, version: '1.0.0', sideEffects: 'none', run })
}

interface Plain {
  options(parts: { defineBlock: typeof defineBlock }): Omit<SimulationOptions, 'seed'>
  readonly paysNothing: SimulationOptions['always'] & object
}

/** The module that another process loads too. */
async function plain(): Promise<Plain> {
  const url = new URL('../../../support/simulated-plain.mjs', import.meta.url)
  return (await import(url.href)) as Plain
}

describe('N1: a seed', () => {
  it('has the same trace whenever it is simulated', async () => {
    const first = await simulate({ ...shop, seed: 11 })
    await simulate({ ...shop, seed: 12 })
    expect(await simulate({ ...shop, seed: 11 })).toEqual(first)
    expect(first.trace).toMatch(/receipt 0 quote [0-9a-f]{64}/)
  })

  it('has the same trace in another process, and fails there with the same message', async () => {
    const child = fileURLToPath(new URL('../../../support/simulate-seed.mjs', import.meta.url))
    const seeds = ['1', '2', '3', '4']
    const output = execFileSync(process.execPath, [child, builtModule('index.js'), ...seeds], {
      encoding: 'utf8',
      env: { ...process.env, TZ: 'Pacific/Kiritimati' }
    })
    const { options, paysNothing } = await plain()
    const played: Record<string, { readonly trace: string; readonly failure: string }> = {}
    for (const seed of seeds) {
      const given = { ...options({ defineBlock }), seed: Number(seed) }
      const { trace } = await simulate(given)
      const failing = simulate({ ...given, always: paysNothing })
      const failure = await failing.then(
        () => 'none',
        ({ message }: Error) => message
      )
      played[seed] = { trace, failure }
    }
    expect(JSON.parse(output)).toEqual(played)
    const failures = Object.values(played).filter(({ failure }) =>
      failure.includes('nothing is paid')
    )
    expect(failures.length).toBeGreaterThan(1)
  })

  it('differs from other seeds in when things happen, and in what fails', async () => {
    const traces = new Set<string>()
    const kinds = new Set<string>()
    for (let seed = 1; seed <= 12; seed += 1) {
      const { trace, faults } = await simulate({ ...shop, seed })
      traces.add(trace)
      for (const kind of Object.keys(faults)) kinds.add(kind)
    }
    expect(traces.size).toBe(12)
    const disk = ['crash.power', 'crash.process', 'disk_full', 'sync_failed']
    expect([...kinds].sort()).toEqual([...disk, ...allNetwork].sort())
  })

  it('that fails fails the same way again', async () => {
    const always = { 'nothing is reserved twice': () => false }
    const first = await firstFailure({ ...shop, always })
    expect(first).toMatchObject({ promise: 'always' })
    expect(await firstFailure({ ...shop, always })).toEqual(first)
  })
})

describe('a simulation', () => {
  it('without faults has one life of each node, and ends every run', async () => {
    const faults = { deaths: 0, disk: [], effects: [], network: [], people: [] }
    const report = await simulate({ ...shop, seed: 1, faults })
    expect(report).toMatchObject({ lives: 2, ended: 3, waiting: 0, faults: {} })
    expect(report.receipts).toBe(12)
  })

  it('has people answer waits, of which some stay open', async () => {
    const asking = block('ask', async (ctx) => {
      const { action } = await ctx.wait({ reason: 'confirmation', request: {} })
      return { action }
    })
    const nodes = { a: { target: asking, runs: [{}, {}, {}] } }
    let [ended, waiting] = [0, 0]
    for (let seed = 1; seed <= 12; seed += 1) {
      const report = await simulate({ seed, nodes })
      ended += report.ended
      waiting += report.waiting
    }
    expect(ended).toBeGreaterThan(18)
    expect(waiting).toBeGreaterThan(0)
    expect(ended + waiting).toBe(36)
  })

  it('begins with answers that remember nothing, where a function makes them', async () => {
    const effects = () => {
      let asked = 0
      const answer = () => {
        asked += 1
        return { asked }
      }
      return { ...shopEffects, 'shop.quote': { answer } }
    }
    const first = await simulate({ ...shop, seed: 3, effects })
    expect(await simulate({ ...shop, seed: 3, effects })).toEqual(first)
  })

  it('moves through days without waiting for them', async () => {
    const sleeps = block('sleeps', async (ctx) => {
      await ctx.sleep(30 * 24 * 60 * 60 * 1000)
      return {}
    })
    const { elapsedMs } = await simulate({ seed: 1, nodes: { a: { target: sleeps, runs: [{}] } } })
    expect(elapsedMs).toBeGreaterThanOrEqual(30 * 24 * 60 * 60 * 1000)
  })

  it('asks `always` about all nodes and what they did outside', async () => {
    const seen: string[] = []
    await simulate({
      ...shop,
      seed: 1,
      always: {
        'is asked': ({ nodes, deeds }) => {
          const { a, b } = nodes
          seen.push(`${a?.receipts.length} ${b?.receipts.length} ${deeds.length}`)
          return true
        }
      },
      eventually: {
        'what is reserved was reserved once for each run': ({ nodes }) =>
          nodes['a']?.state['reserved'] === 2 && nodes['b']?.state['reserved'] === 1
      }
    })
    expect(seen.length).toBeGreaterThan(4)
    expect(seen.at(-1)).toBe('8 4 3')
  })

  it.each<[string, Partial<SimulationOptions>, string]>([
    ['a seed that is none', { seed: 0.5 }, 'testing.simulation_invalid'],
    ['no nodes', { nodes: {} }, 'testing.simulation_invalid'],
    ['a node without runs', { nodes: { a: { target, runs: [] } } }, 'testing.simulation_invalid'],
    ['an effect without an answer', { effects: {} }, 'testing.answer_missing']
  ])('refuses %s', async (_, wrong, code) => {
    await expect(simulate({ ...shop, seed: 1, ...wrong })).rejects.toMatchObject({ code })
  })
})

describe('a simulation finds', () => {
  it('a disk that acknowledges from its cache', async () => {
    const broken = { disk: { syncs: false } }
    expect(await firstFailure(shop, { broken })).toMatchObject({ promise: 'kept' })
  })

  it('an effect that is performed twice', async () => {
    const twice = (outside: (asked: OutsideCall) => { perform(call: never): unknown }) => {
      return (asked: OutsideCall) => {
        const real = outside(asked)
        return {
          ...real,
          perform: async (call: never) => {
            await real.perform(call)
            return real.perform(call)
          }
        }
      }
    }
    const effects = {
      ...shopEffects,
      'shop.order': { answer: () => ({}), repeats: 'again' }
    } as const
    const found = await firstFailure(
      { ...shop, effects },
      { broken: { wrapOutside: twice as never } }
    )
    expect(found).toMatchObject({ promise: 'once' })
  })

  it('code that goes another way when it is run again', async () => {
    let runs = 0
    const unsteady = block('unsteady', async (ctx) => {
      runs += 1
      await ctx.effect('shop.quote', { request: { runs } })
      await ctx.sleep(1)
      return ctx.effect('shop.quote', { request: {} })
    })
    const nodes = { a: { target: inOrder([unsteady]), runs: [{}] } }
    const found = await firstFailure({ nodes, effects: shopEffects })
    expect(['deterministic', 'replays']).toContain(found?.promise)
  })

  it('a history that takes more search than it may', async () => {
    const nodes = { a: { target: registerOf({ isCached: false }), runs: registerRuns } }
    const found = await firstFailure(
      { nodes, operation: registerOperation },
      { broken: { configurationsMax: 1 } }
    )
    expect(found).toMatchObject({ promise: 'linearizable' })
    expect(found?.message).toContain('no order was found in 1 configurations')
  })

  it('an end that is not as `eventually` says', async () => {
    const eventually = { 'more is reserved': () => false }
    const found = await firstFailure({ ...shop, eventually })
    expect(found).toMatchObject({ promise: 'eventually' })
  })

  it('answers from a cache beside the state, where runs overlap', async () => {
    const nodes = { a: { target: registerOf({ isCached: true }), runs: registerRuns } }
    const found = await firstFailure({ nodes, operation: registerOperation })
    expect(found).toMatchObject({ promise: 'linearizable' })
    const honest = { a: { target: registerOf({ isCached: false }), runs: registerRuns } }
    const isHonest = { nodes: honest, operation: registerOperation }
    expect(await firstFailure(isHonest, { seeds: cases({ usual: 6, long: 55 }) })).toBe(undefined)
  })

  it('more receipts, effects or events than there may be', async () => {
    const few = { ...shop, bounds: { steps: 3 } }
    expect(await firstFailure(few)).toMatchObject({ promise: 'bounded' })
    expect(await firstFailure({ ...shop, bounds: { effects: 1 } })).toMatchObject({
      promise: 'bounded'
    })
    const broken = { eventsMax: 5 }
    expect(await firstFailure(shop, { broken })).toMatchObject({ promise: 'ends' })
  })

  it('a run that neither ends nor waits', async () => {
    const hangs = block('hangs', () => new Promise<Json>(() => undefined))
    const nodes = { a: { target: hangs, runs: [{}] } }
    expect(await firstFailure({ nodes })).toMatchObject({ promise: 'ends' })
  })
})

const registerRuns: readonly Json[] = [1, 2, null, 3, null, 4, null].map((value) => ({ value }))

/** Writes the value of its input, or reads. */
function registerOf({ isCached }: { readonly isCached: boolean }) {
  return () => {
    let cached: Json | undefined
    return block('register', async (ctx, input) => {
      const { value } = input as { readonly value: Json }
      if (value === null && isCached && cached !== undefined) return { read: cached }
      const stored = ctx.state.get('value') ?? null
      cached ??= stored
      if (value === null) return { read: stored }
      ctx.state.set('value', value)
      return { wrote: value }
    })
  }
}

const registerOperation: NonNullable<SimulationOptions['operation']> = ({ input, result }) => {
  const { value } = input as { readonly value: Json }
  if (value !== null) return { writes: { value } }
  if (result?.response.success !== true) return undefined
  const { read = null } = result.response.data as { readonly read?: Json }
  return { reads: { value: read } }
}
