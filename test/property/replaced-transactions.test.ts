import { describe, expect, it } from 'vitest'
import type { OpenWait } from '../../src/block/index.js'
import { type Json, type JsonObject, ManualClock } from '../../src/core/index.js'
import { chainProviders } from '../../src/executor/index.js'
import { FakeChain, type FakeTransaction, fakeExecutor } from '../../src/testing/index.js'
import { troublesOf } from '../../src/workflow/engine/diagnose.js'
import { aisText } from '../support/ais.js'
import { balance, flow, transfer } from '../support/ais-flows.js'
import { cases } from '../support/effort.js'
import { mortalProvider } from '../support/mortal-provider.js'
import { type Decide, type Outcome, runScenario, type Scenario } from '../support/run-to-end.js'

/**
 * A transfer that is stuck, and replaced by a person who decides so: one of all that were sent with
 * its nonce lands, whichever that is, and wherever the process dies.
 */

/** When the chain takes which of them. */
interface Weather {
  /** What waits for ever. */
  readonly holds: (transaction: FakeTransaction) => boolean
  /** The first transaction is included right before this call that is about its replacement. */
  readonly landsBefore?: 'prepare' | 'broadcast'
  readonly lands: 'first' | 'second' | 'third'
}

const weathers: Readonly<Record<string, Weather>> = {
  'takes the replacement': { holds: ({ fee = 0 }) => fee < 125, lands: 'second' },
  'takes nothing but the second replacement': {
    holds: ({ fee = 0 }) => fee < 150,
    lands: 'third'
  },
  'has taken the first one before another is prepared': {
    holds: () => true,
    landsBefore: 'prepare',
    lands: 'first'
  },
  'has taken the first one before another is sent': {
    holds: () => true,
    landsBefore: 'broadcast',
    lands: 'first'
  }
}

function stuckIn(wait: OpenWait): string | undefined {
  const [trouble] = troublesOf({ waits: [wait], response: null })
  const { transaction = null } = trouble?.diagnostic ?? {}
  return (transaction as { readonly hash?: string } | null)?.hash
}

const replaceIt: Decide = (wait) => {
  const hash = stuckIn(wait)
  if (hash === undefined) throw new Error(`asked for something else: ${JSON.stringify(wait)}`)
  return { action: 'patch', value: { replace: { [hash]: 25 } } }
}

function scenario({ holds, landsBefore }: Weather, decide = replaceIt) {
  const chain = new FakeChain({ id: 'eip155:1', read: () => ({ balance: '7' }) })
  chain.holds = holds
  const isAboutSecond = () => chain.pool.length > 0
  chain.fault = (request) => {
    if (request !== landsBefore || !isAboutSecond()) return
    chain.holds = () => false
    chain.mine()
  }
  const nodes = [transfer('pay'), balance('after', { deps: ['pay'] })]
  const given: Scenario = {
    document: flow(nodes, { outputs: { hash: { ref: 'nodes.pay.outputs.tx_hash' } } }) as Json,
    inputs: {},
    decide,
    registrations: (world) => {
      const own = fakeExecutor({
        chains: [chain],
        accounts: { default: `0x${'1'.repeat(40)}` },
        terms: { pollMs: 10, timeoutMs: 30 },
        clock: new ManualClock()
      })
      return {
        blocks: [],
        providers: chainProviders([own]).map((one) => mortalProvider(one, world)),
        workflow: {
          protocols: [aisText('erc20')],
          writes: 'broadcast',
          policy: { autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 }
        }
      }
    }
  }
  return { chain, given }
}

function expectOne(chain: FakeChain, { result }: Outcome, lands: Weather['lands']): void {
  const landed = chain.effective()
  expect(landed).toHaveLength(1)
  const [{ hash, fee, nonce } = { hash: '', fee: 0, nonce: 1 }] = landed
  expect([nonce, fee]).toEqual([0, { first: 100, second: 125, third: 157 }[lands]])
  expect(result).toMatchObject({ status: 'done', response: { data: { hash } } })
}

describe('W11: a transfer that is stuck and replaced', () => {
  for (const [name, weather] of Object.entries(weathers)) {
    it(`is made once, whichever boundary its process dies at (the chain ${name})`, async () => {
      const whole = scenario(weather)
      const reference = await runScenario(whole.given)
      expectOne(whole.chain, reference, weather.lands)
      expect(reference.boundaries).toBeGreaterThan(20)
      const step = Math.ceil(reference.boundaries / cases({ usual: 5, long: 7, soak: 1_000 }))
      for (let death = 1; death <= reference.boundaries; death += step) {
        const one = scenario(weather)
        expectOne(one.chain, await runScenario(one.given, [death]), weather.lands)
      }
    })
  }

  it('shows what was sent: its hash, nonce, fee and what the chain says of it', async () => {
    const shown: JsonObject[] = []
    const one = scenario({ holds: ({ fee = 0 }) => fee < 125, lands: 'second' }, (wait, world) => {
      const [trouble] = troublesOf({ waits: [wait], response: null })
      shown.push(trouble?.diagnostic?.transaction as JsonObject)
      expect(trouble?.actions).toEqual(['retry', 'patch', 'skip', 'abort'])
      expect(trouble?.diagnostic?.actions).toContain('patch')
      return replaceIt(wait, world)
    })
    await runScenario(one.given)
    const [first] = shown
    expect(first).toMatchObject({ nonce: 0, fee: '100', standing: 'pending' })
    expect(shown).toHaveLength(1)
  })
})
