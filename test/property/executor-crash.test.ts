import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Json, ManualClock } from '../../src/core/index.js'
import { chainProviders, type Executor } from '../../src/executor/index.js'
import { FakeChain, fakeExecutor } from '../../src/testing/index.js'
import { sendBlock } from '../support/anvil-send.js'
import { cases } from '../support/effort.js'
import { mortalProvider } from '../support/mortal-provider.js'
import { type Outcome, runScenario, type Scenario } from '../support/run-to-end.js'

type Types = readonly [first: string, second: string]

/** Two writes, one after the other, each in a node of its own. */
function documentOf(types: Types): Json {
  return {
    schema: 'tally-composite/1',
    name: 'notes',
    version: '1.0.0',
    entry_point: 'n0',
    nodes: Object.fromEntries(
      types.map((type, value) => [
        `n${value}`,
        { block: 'chain.send', input: { lit: sendOf({ type, value }) } }
      ])
    ),
    transitions: { n0: 'n1' }
  }
}

function sendOf(execution: Json): Json {
  return { chain: 'eip155:7', execution, pollMs: 10, timeoutMs: 400 }
}

/** An executor that takes only what was prepared by it, in whichever process. */
function jealous(of: Executor, prepared: Set<string>): Executor {
  const checked = (hash: string) => expect([...prepared]).toContain(hash)
  return {
    ...(of.namespace === undefined ? {} : { namespace: of.namespace }),
    chains: of.chains,
    executions: of.executions,
    check: (execution) => of.check(execution),
    account: (request, options) => of.account(request, options),
    read: (request, options) => of.read(request, options),
    simulate: (request, options) => of.simulate(request, options),
    prepare: async (request, options) => {
      const made = await of.prepare(request, options)
      if (made.kind === 'signed') prepared.add(made.transaction.hash)
      return made
    },
    broadcast: (transaction, options) => {
      checked(transaction.hash)
      return of.broadcast(transaction, options)
    },
    look: (request, options) => {
      checked(request.hash)
      return of.look(request, options)
    },
    recover: (transactions) => {
      for (const { transaction } of transactions) checked(transaction.hash)
      of.recover(transactions)
    }
  }
}

/** The fake chain outlives the processes; executors and their memory do not. */
function scenario(types: Types = ['evm_call', 'evm_call']) {
  const chain = new FakeChain({ id: 'eip155:7' })
  const byEach = [new Set<string>(), new Set<string>()] as const
  const given: Scenario = {
    document: documentOf(types),
    inputs: {},
    registrations: (world) => {
      const parts = { chains: [chain], clock: new ManualClock() }
      const own = fakeExecutor({ ...parts, accounts: { default: '0xme' } })
      const beside = fakeExecutor({
        ...parts,
        accounts: { default: '0xbridge' },
        executions: { bridge_send: 'write' },
        isBeside: true
      })
      const executors = [jealous(own, byEach[0]), jealous(beside, byEach[1])]
      const providers = chainProviders(executors).map((one) => mortalProvider(one, world))
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

  it('L7: of two executors are each found again by the one that prepared it', async () => {
    const types: Types = ['bridge_send', 'evm_call']
    const reference = await runScenario(scenario(types).given)
    for (let death = 1; death <= reference.boundaries; death += 1) {
      const one = scenario(types)
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
      { numRuns: cases({ usual: 6, long: 8, soak: 500 }) }
    )
  })
})
