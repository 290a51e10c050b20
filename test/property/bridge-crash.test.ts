import '../support/seed.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Json, type JsonObject, ManualClock } from '../../src/core/index.js'
import { bridgeExecutor } from '../../src/executor/bridge/index.js'
import { chainProviders } from '../../src/executor/index.js'
import { FakeBridge, type FakeChain } from '../../src/testing/index.js'
import { cases, isLong } from '../support/effort.js'
import { mortalProvider } from '../support/mortal-provider.js'
import { type Outcome, runScenario, type Scenario } from '../support/run-to-end.js'

/**
 * A workflow over two chains: what is bridged is locked once, arrives once and is deposited once,
 * wherever the process dies on the way, and however often the relayer carries a message over.
 */

const from = 'eip155:7'
const to = 'solana:fake'
const address = { lit: `0x${'a'.repeat(40)}` }
const fragment = (name: string, outputs: readonly JsonObject[] = []) => ({
  name,
  inputs: [],
  outputs
})

const protocol: JsonObject = {
  schema: 'ais/0.0.2',
  meta: { protocol: 'house', version: '1.0.0' },
  actions: Object.fromEntries(
    ['borrow', 'pay', 'approve'].map((name) => [
      name,
      { execution: { 'eip155:*': { type: 'evm_call', to: address, abi: fragment(name) } } }
    ])
  ),
  queries: {
    allowance: {
      returns: [{ name: 'allowance', type: 'uint256' }],
      execution: {
        'eip155:*': {
          type: 'evm_read',
          to: address,
          abi: fragment('allowance', [{ name: 'allowance', type: 'uint256' }])
        }
      }
    }
  }
}

const bridging: JsonObject = {
  schema: 'ais/0.0.2',
  meta: { protocol: 'bridge', version: '1.0.0' },
  actions: {
    send: {
      returns: [{ name: 'message_id', type: 'string' }],
      params: [{ name: 'amount', type: 'uint256' }],
      execution: { 'eip155:*': { type: 'bridge_send', amount: { ref: 'params.amount' } } }
    },
    deposit: {
      execution: {
        'solana:*': {
          type: 'solana_instruction',
          program: { lit: 'vault' },
          instruction: 'deposit',
          data: { lit: '' }
        }
      }
    }
  },
  queries: {
    status: {
      params: [{ name: 'message_id', type: 'string' }],
      returns: [
        { name: 'message_id', type: 'string' },
        { name: 'sent', type: 'bool' },
        { name: 'arrived', type: 'bool' }
      ],
      execution: {
        'solana:*': { type: 'bridge_status', message_id: { ref: 'params.message_id' } }
      }
    }
  }
}

const action = (id: string, protocolName: string, name: string, more: object = {}) => ({
  id,
  type: 'action_ref',
  protocol: `${protocolName}@1.0.0`,
  action: name,
  ...more
})

const document = {
  schema: 'ais-flow/0.0.3',
  meta: { name: 'two-chains', version: '1.0.0' },
  default_chain: from,
  nodes: [
    action('borrow', 'house', 'borrow'),
    action('pay', 'house', 'pay', { deps: ['borrow'] }),
    {
      id: 'allowance',
      type: 'query_ref',
      protocol: 'house@1.0.0',
      query: 'allowance',
      deps: ['borrow']
    },
    action('approve', 'house', 'approve', {
      condition: { cel: 'nodes.allowance.outputs.allowance < 500' }
    }),
    action('send', 'bridge', 'send', { deps: ['approve'], args: { amount: { lit: '500' } } }),
    {
      id: 'wait',
      chain: to,
      type: 'query_ref',
      protocol: 'bridge@1.0.0',
      query: 'status',
      args: { message_id: { ref: 'nodes.send.outputs.message_id' } },
      retry: { interval_ms: 50, max_attempts: 100 },
      until: { cel: 'nodes.wait.outputs.arrived == true' }
    },
    action('deposit', 'bridge', 'deposit', { chain: to, deps: ['wait'] })
  ]
}

/** The chains outlive the processes; the relayer carries everything over again and again. */
function scenario({ allowance = '0', every = 5 } = {}) {
  const fake = new FakeBridge({ from, to, read: () => ({ allowance }) })
  let asked = 0
  const relay = () => {
    asked += 1
    if (asked % every === 0) fake.relay()
  }
  const given: Scenario = {
    document: document as unknown as Json,
    inputs: {},
    decide: () => ({ action: 'approve' }),
    registrations: (world) => {
      const executors = fake.executors()
      const over = bridgeExecutor({ bridge: fake.bridge, executors })
      const providers = chainProviders([...executors, over])
      return {
        clock: new ManualClock(),
        providers: providers.map((one) => mortalProvider(one, world, relay)),
        workflow: { protocols: [protocol, bridging], writes: 'broadcast' }
      }
    }
  }
  return { fake, given }
}

function calls(chain: FakeChain): readonly string[] {
  return chain.effective().map(({ execution }) => {
    const { abi, transfer, instruction, type } = execution
    if (transfer !== undefined) return 'lock'
    return String(instruction ?? (abi as { readonly name?: string } | undefined)?.name ?? type)
  })
}

function expectOnce({ fake }: { readonly fake: FakeBridge }, { result }: Outcome): void {
  expect(result).toMatchObject({ status: 'done', response: { success: true } })
  expect([...calls(fake.from)].sort()).toEqual(['approve', 'borrow', 'lock', 'pay'])
  expect(calls(fake.to)).toEqual(['arrive', 'deposit'])
}

const PARTS = 4
const PART_MS = 300_000

describe('a workflow that bridges', () => {
  // In parts, so that each has time enough on a busy machine.
  it.each([1, 2, 3, 4])(
    'L7: locks once, arrives once and deposits once, wherever the process dies: part %i',
    async (part) => {
      const whole = scenario()
      const reference = await runScenario(whole.given)
      expectOnce(whole, reference)
      expect(reference.boundaries).toBeGreaterThan(60)
      const step = isLong ? PARTS : PARTS * Math.ceil(reference.boundaries / (2 * PARTS))
      const first = isLong ? part : part * Math.floor(reference.boundaries / (2 * PARTS))
      for (let death = first; death <= reference.boundaries; death += step) {
        const one = scenario()
        expectOnce(one, await runScenario(one.given, [death]))
      }
    },
    PART_MS
  )

  it('L7: does so however often the process dies, and whenever the relayer comes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 80 }), { minLength: 2, maxLength: 5, size: 'max' }),
        fc.integer({ min: 1, max: 40 }),
        async (deaths, every) => {
          const one = scenario({ every })
          expectOnce(one, await runScenario(one.given, deaths))
        }
      ),
      { numRuns: cases({ usual: 3, long: 16, soak: 1_000 }) }
    )
  })

  it('does not approve what is approved', async () => {
    const { fake, given } = scenario({ allowance: '500' })
    expect((await runScenario(given)).result.status).toBe('done')
    expect(calls(fake.from)).not.toContain('approve')
  })
})
