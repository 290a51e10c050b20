import fc from 'fast-check'
import { expect, it } from 'vitest'
import { shopEffects } from '../../bench/simulated-shop.js'
import { defineBlock, defineWorkflow } from '../../src/code/index.js'
import type { Clock, ManualClock } from '../../src/core/index.js'
import type { FunctionTarget, SimulationOptions } from '../../src/testing/index.js'
import { simulateBroken } from '../../src/testing/simulate/simulate.js'
import { cases, testMs } from '../support/effort.js'

/**
 * Time passes between two readings of a clock, and what is due by the second was not by the first.
 * Where code reads it twice for one decision, work may wait for ever.
 */

/** How far time moves at one reading. */
type Step = 'millisecond' | 'until due' | 'just before' | 'just behind'

interface Passing {
  /** Between readings at which time passes; they are taken in turn. */
  readonly gaps: readonly number[]
  readonly steps: readonly Step[]
}

/** A clock by which time passes at some of its readings. What is due happens in the next turn. */
function passing(clock: ManualClock, { gaps, steps }: Passing): Clock {
  let [ahead, left, place] = [0, gaps[0] ?? 1, 0]
  const now = () => {
    left -= 1
    if (left > 0) return clock.now() + ahead
    const untilDue = Math.max(0, (clock.nextDue ?? 0) - clock.now())
    const step = steps[place % steps.length] ?? 'millisecond'
    const byMs = { millisecond: 1, 'until due': 0, 'just before': -1, 'just behind': 1 }[step]
    ahead += step === 'millisecond' ? 1 : Math.max(0, untilDue + byMs)
    place += 1
    left = gaps[place % gaps.length] ?? 1
    return clock.now() + ahead
  }
  return {
    now,
    schedule: (at, due) => clock.schedule(Math.max(clock.now(), at - ahead), due)
  }
}

const till = defineBlock({
  name: 'till',
  version: '1.0.0',
  sideEffects: 'idempotent',
  queue: { name: 'till', concurrency: 1, rate: { limit: 1, per: 10 } },
  async run(ctx, { nth }: { nth: number }) {
    return ctx.effect<{ ordered: boolean }>('shop.order', { request: { run: ctx.runId, nth } })
  }
})
const quote = defineBlock({
  name: 'quote',
  version: '1.0.0',
  sideEffects: 'none',
  async run(ctx) {
    await ctx.sleep(3)
    return ctx.effect<{ cents: number }>('shop.quote', { request: {} })
  }
})

/** All that waits for a time: sleeps, tries again, limits of time, a queue with a rate, a race. */
const visit = defineWorkflow({
  name: 'visit',
  version: '1.0.0',
  blocks: [till, quote],
  async run(ctx) {
    const retry = { attempts: 4, interval: 5, backoff: 'exp' } as const
    const cents = () => ctx.step('quote', quote, {}, { retry, timeout: 200 })
    const quoted = await ctx.all([cents(), cents()]).catch(() => 'no answer')
    const first = await ctx.race([ctx.sleep(20), ctx.step('till', till, { nth: 1 }, { retry })])
    await ctx.sleepUntil(new Date(ctx.now() + 10))
    await ctx.step('till', till, { nth: 2 }, { retry, timeout: 2_000 }).catch(() => undefined)
    return { quoted: quoted !== 'no answer', isFirst: first !== undefined }
  }
})
const target: FunctionTarget = { starts: visit, blocks: [till, quote] }
const story: Omit<SimulationOptions, 'seed'> = {
  nodes: { shop: { target, runs: [{}, {}, {}] } },
  effects: shopEffects
}

const anyPassing: fc.Arbitrary<Passing> = fc.record({
  gaps: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5, size: 'max' }),
  steps: fc.array(fc.constantFrom<Step>('millisecond', 'until due', 'just before', 'just behind'), {
    minLength: 1,
    maxLength: 4,
    size: 'max'
  })
})

it(
  'Q8: runs end and verify, whenever time passes between readings',
  async () => {
    let ended = 0
    const numRuns = cases({ usual: 30, long: 125, soak: 2_000 })
    await fc.assert(
      fc.asyncProperty(anyPassing, fc.nat(), async (passes, seed) => {
        const broken = { wrapClock: (clock: ManualClock) => passing(clock, passes) }
        ended += (await simulateBroken({ ...story, seed }, broken)).ended
      }),
      // Its process dies when all its runs have ended: another one has to verify what is left.
      { numRuns, examples: [[{ gaps: [1], steps: ['millisecond'] }, 483_795_611]] }
    )
    expect(ended).toBeGreaterThan(2 * numRuns)
  },
  testMs(600_000)
)
