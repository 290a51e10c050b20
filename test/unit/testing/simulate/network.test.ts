import { describe, expect, it } from 'vitest'
import { type Block, defineBlock, type SideEffectClass } from '../../../../src/code/index.js'
import type { Json } from '../../../../src/core/index.js'
import {
  type NetworkFault,
  type SimulatedEffect,
  type SimulationOptions,
  simulate
} from '../../../../src/testing/index.js'
import { cases } from '../../../support/effort.js'
import { firstFailure } from '../../../support/simulations.js'

type Effects = Readonly<Record<string, SimulatedEffect>>

const SEEDS = cases({ usual: 8, long: 33, soak: 66 })
const bank: Effects = { 'bank.pay': { answer: () => ({ reference: 'R-1' }) } }
const quiet = { deaths: 0, disk: [], effects: [], people: [] } as const
const over = (...network: readonly NetworkFault[]) => ({ ...quiet, network })

function paying(run: Block['run'], sideEffects: SideEffectClass = 'idempotent'): Block {
  return defineBlock({ name: 'pay', version: '1.0.0', sideEffects, run })
}

const request = { cents: 100 }
const pays = (sideEffects: SideEffectClass = 'idempotent') =>
  paying((ctx) => ctx.effect('bank.pay', { request }), sideEffects)

function paidBy(target: Block, rest: Partial<SimulationOptions> = {}) {
  const nodes = { a: { target, runs: [{}, {}] }, b: { target, runs: [{}] } }
  return { nodes, effects: bank, ...rest }
}

/** Every line of so many seeds. */
async function traces(options: Omit<SimulationOptions, 'seed'>, seeds = SEEDS): Promise<string> {
  let all = ''
  for (let seed = 1; seed <= seeds; seed += 1) all += (await simulate({ ...options, seed })).trace
  return all
}

describe('a network', () => {
  it('N1: has the same trace each time, with everything that goes wrong on it', async () => {
    for (const seed of [3, 4, 5]) {
      const first = await simulate({ ...paidBy(pays()), faults: quiet, seed })
      const again = await simulate({ ...paidBy(pays()), faults: quiet, seed })
      expect(again).toEqual(first)
    }
  })

  it('that is none delivers at once', async () => {
    const report = await simulate({ ...paidBy(pays()), faults: over(), seed: 1 })
    expect(report).toMatchObject({ ended: 3, faults: {} })
    expect(report.trace).not.toMatch(/request|answer is lost|the network/)
  })

  it.each<[NetworkFault, RegExp]>([
    ['request_lost', /the request is lost\n[\s\S]*no answer comes in time/],
    ['request_late', /no answer comes in time\n[\s\S]*the request arrives/],
    ['answer_lost', /bank\.pay: answers after[\s\S]*the answer is lost/],
    ['request_repeated', /the request arrives again/],
    ['partition', /the network: is cut between[\s\S]*is lost[\s\S]*is whole between/]
  ])('N5: has %s, and honest code does nothing twice', async (fault, seen) => {
    expect(await traces(paidBy(pays(), { faults: over(fault) }))).toMatch(seen)
  })

  it('N5: carries what a node has sent that has died since', async () => {
    const faults = { ...over('request_late'), deaths: 3 }
    const nodes = { a: { target: pays(), runs: [{}, {}] } }
    const late = / dies [\s\S]*the request arrives/
    let arrived = 0
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const { trace } = await simulate({ ...paidBy(pays(), { faults, nodes }), seed })
      if (late.test(trace)) arrived += 1
    }
    expect(arrived).toBeGreaterThan(0)
  })

  it('that was cut lets every run end once it is whole again', async () => {
    const faults = over('partition')
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const { ended, waiting } = await simulate({ ...paidBy(pays()), faults, seed })
      expect(ended + waiting).toBe(3)
    }
  })

  it('L7: leaves what is not idempotent to a person, where no answer has come', async () => {
    const faults = over('request_lost', 'request_late', 'answer_lost', 'partition')
    const all = await traces(paidBy(pays('non_idempotent'), { faults }))
    expect(all).toMatch(/no answer comes in time[\s\S]*decision at/)
  })

  it('L7: lets nobody take a request on its way for one that was never sent', async () => {
    const locate = () => ({ found: false, definite: true }) as const
    const target = paying((ctx) => ctx.effect('bank.pay', { request, locate }), 'non_idempotent')
    const faults = over('request_late', 'answer_lost', 'partition')
    const all = await traces(paidBy(target, { faults }))
    expect(all).toMatch(/looked up: not done yet/)
    expect(all).toMatch(/looked up: done/)
  })
})

/** Faults of code and of services that no other fault of a simulation brings to light. */
describe('only the network finds', () => {
  const ignoring: Effects = { 'bank.pay': { answer: () => ({}), repeats: 'again' } }
  const insisting = paying(async (ctx) => {
    try {
      return await ctx.effect('bank.pay', { request })
    } catch {
      return ctx.effect<Json>('bank.pay', { request })
    }
  })
  const trouble = ['refuses', 'loses', 'loses_done', 'slow'] as const

  it('a service that does a repeated key again', async () => {
    const given = paidBy(pays(), { effects: ignoring })
    const without = { ...over(), effects: trouble }
    expect(await firstFailure({ ...given, faults: without }, { seeds: SEEDS })).toBe(undefined)
    const found = await firstFailure({ ...given, faults: over('request_repeated') })
    expect(found).toMatchObject({ promise: 'once' })
    expect(found?.message).toContain('the request arrives again')
    expect(await firstFailure({ ...given, faults: over('request_repeated') })).toEqual(found)
  })

  it('a block that takes a missing answer for a failure, and sends again', async () => {
    const given = paidBy(insisting)
    const without = { ...over(), effects: ['refuses', 'slow'] as const }
    expect(await firstFailure({ ...given, faults: without }, { seeds: SEEDS })).toBe(undefined)
    const network = over('request_lost', 'request_late', 'answer_lost', 'partition')
    const found = await firstFailure({ ...given, faults: network })
    expect(found).toMatchObject({ promise: 'once' })
    expect(await firstFailure({ ...given, faults: network })).toEqual(found)
  })
})
