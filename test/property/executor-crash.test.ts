import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Provider } from '../../src/block/index.js'
import { type Json, ManualClock } from '../../src/core/index.js'
import { chainProviders } from '../../src/executor/index.js'
import { FakeChain, fakeExecutor } from '../../src/testing/index.js'
import { sendBlock } from '../support/anvil-send.js'
import { cases } from '../support/effort.js'
import type { World } from '../support/lives.js'
import { type Outcome, runScenario, type Scenario } from '../support/run-to-end.js'

const NOTES = 2
const never = new Promise<never>(() => undefined)

/** Two writes, one after the other, each in a node of its own. */
const document: Json = {
  schema: 'tally-composite/1',
  name: 'notes',
  version: '1.0.0',
  entry_point: 'n0',
  nodes: Object.fromEntries(
    Array.from({ length: NOTES }, (_, index) => [
      `n${index}`,
      { block: 'chain.send', input: { lit: sendOf(index) } }
    ])
  ),
  transitions: { n0: 'n1' }
}

function sendOf(value: number): Json {
  return { chain: 'eip155:7', execution: { type: 'evm_call', value }, pollMs: 10, timeoutMs: 400 }
}

/** A process may die on both sides of everything that it asks of the chain. */
function mortal(provider: Provider, world: World): Provider {
  const around = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (!world.life.passes()) return never
    const result = await work()
    return world.life.passes() ? result : never
  }
  const { locate } = provider
  return {
    ...provider,
    perform: (call) => around(async () => provider.perform(call)),
    ...(locate === undefined
      ? {}
      : { locate: (call) => around(async () => locate.call(provider, call)) })
  }
}

/** The fake chain outlives the processes; executors and their memory do not. */
function scenario() {
  const chain = new FakeChain({ id: 'eip155:7' })
  const given: Scenario = {
    document,
    inputs: {},
    registrations: (world) => {
      const executor = fakeExecutor({
        chains: [chain],
        accounts: { default: '0xme' },
        clock: new ManualClock()
      })
      const providers = chainProviders([executor]).map((one) => mortal(one, world))
      return { blocks: [sendBlock], providers }
    }
  }
  return { chain, given }
}

function expectOnce({ chain }: { readonly chain: FakeChain }, { result }: Outcome): void {
  expect(result.status).toBe('done')
  expect(chain.effective().map(({ execution }) => execution['value'])).toEqual([0, 1])
}

describe('writes to a chain in processes that die', () => {
  it('L7: take effect once each, wherever the process dies', async () => {
    const whole = scenario()
    const reference = await runScenario(whole.given)
    expectOnce(whole, reference)
    expect(reference.boundaries).toBeGreaterThan(20)
    for (let death = 1; death <= reference.boundaries; death += 1) {
      const one = scenario()
      expectOnce(one, await runScenario(one.given, [death]))
    }
  })

  it('L7: take effect once each, however often the process dies', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 28 }), { minLength: 2, maxLength: 5 }),
        async (deaths) => {
          const one = scenario()
          expectOnce(one, await runScenario(one.given, deaths))
        }
      ),
      { numRuns: cases({ usual: 6, long: 15, soak: 500 }) }
    )
  })
})
