import '../support/seed.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Provider } from '../../src/block/index.js'
import { type Json, type JsonObject, nextTurn } from '../../src/core/index.js'
import { chainEffects } from '../../src/executor/index.js'
import { aisText } from '../support/ais.js'
import { nameOf, TestChain } from '../support/ais-chain.js'
import { testMs } from '../support/effort.js'
import type { World } from '../support/lives.js'
import { type Outcome, runScenario, type Scenario } from '../support/run-to-end.js'

/**
 * Whatever finishes first, whenever answers come, and wherever the process dies: each node of a
 * workflow gets the same input and gives the same result, and each transaction takes effect once.
 */

const isSoak = process.env['SOAK'] === '1'

const token = { lit: { chain_id: 'eip155:1', address: `0x${'a'.repeat(40)}`, decimals: 6 } }
const owner = { lit: `0x${'b'.repeat(40)}` }
const erc20 = (id: string, what: JsonObject) => ({ id, protocol: 'erc20@0.0.2', ...what })
const balance = (id: string, more: JsonObject = {}) =>
  erc20(id, { type: 'query_ref', query: 'balance', args: { token, owner }, ...more })
const transfer = (id: string, amount: JsonObject, more: JsonObject = {}) =>
  erc20(id, { type: 'action_ref', action: 'transfer', args: { token, to: owner, amount }, ...more })

/** Two branches that wait for people, one that polls, one that is skipped, and where they meet. */
const document = {
  schema: 'ais-flow/0.0.3',
  meta: { name: 'branches', version: '1.0.0' },
  default_chain: 'eip155:1',
  inputs: { amount: { type: 'uint256', required: true } },
  nodes: [
    balance('start'),
    transfer('left', { cel: 'nodes.start.outputs.balance + 1' }),
    transfer('right', { ref: 'inputs.amount' }, { deps: ['start'] }),
    transfer('never', { lit: '9' }, { condition: { cel: 'nodes.start.outputs.balance > 100' } }),
    balance('poll', {
      deps: ['start'],
      until: { cel: 'nodes.poll.outputs.balance >= 7' },
      retry: { interval_ms: 50, max_attempts: 20, backoff: 'exp' }
    }),
    transfer('join', { cel: 'nodes.poll.outputs.balance + 2' }, { deps: ['left', 'never'] })
  ],
  outputs: {
    sum: { cel: 'nodes.start.outputs.balance + nodes.poll.outputs.balance' },
    skipped: { cel: '!has(nodes.never.outputs)' }
  }
}

const never = new Promise<never>(() => undefined)

/** The chain behind a life: an answer may be late, and a dead process neither acts nor hears. */
function mortal(chain: TestChain, world: World, delay: () => number): readonly Provider[] {
  return chain.providers.map(
    (provider): Provider => ({
      name: provider.name,
      perform: async (call) => {
        for (let turn = delay(); turn > 0; turn -= 1) await nextTurn()
        if (!world.life.passes()) return never
        const result = await provider.perform(call)
        return world.life.passes() ? result : never
      },
      ...(provider.name === chainEffects.broadcast
        ? {
            locate: ({ request }) => {
              const { transaction } = request as { readonly transaction: JsonObject }
              const hash = String(transaction['hash'])
              return chain.sent.has(hash)
                ? { found: true, result: { hash, answer: 'known' } }
                : { found: false, definite: false }
            }
          }
        : {})
    })
  )
}

function scenarioOf(chain: TestChain, delays: readonly number[]): Scenario {
  let at = 0
  const delay = () => delays[at++ % Math.max(1, delays.length)] ?? 0
  return {
    document: document as unknown as Json,
    inputs: {},
    registrations: (world) => ({
      providers: mortal(chain, world, delay),
      workflow: { protocols: [aisText('erc20')] }
    }),
    decide: (wait) =>
      wait.reason === 'external'
        ? { action: 'resume', value: { 'inputs.amount': '5' } }
        : { action: 'approve' }
  }
}

function chainOf(): TestChain {
  return new TestChain({
    // The first asks are of `start`; polls see it grow.
    read: ({ before }) => ({ balance: before < 5 ? '6' : '7' })
  })
}

/** Input and result of each node, whenever it ran. */
function nodesOf({ receipts }: Outcome): Readonly<Record<string, Json>> {
  const nodes = receipts.flatMap(({ inputPayload, resultHash, intent }) => {
    const { run, payload } = inputPayload
    if (run === undefined || !intent.startsWith('ais.')) return []
    return [[`${run.path} ${intent}`, { payload, resultHash } as unknown as Json] as const]
  })
  return Object.fromEntries(nodes.sort(([left], [right]) => (left < right ? -1 : 1)))
}

async function run(delays: readonly number[], deaths: readonly number[]) {
  const chain = chainOf()
  const outcome = await runScenario(scenarioOf(chain, delays), deaths)
  const functions = [...chain.sent.values()].map(({ execution }) => {
    const { value } = execution['args'] as JsonObject
    return `${nameOf(execution)} ${String(value)}`
  })
  return { outcome, functions: functions.sort() }
}

describe('runs of a workflow', () => {
  it(
    'P1: give every node the same input and result in any order, with any deaths',
    async () => {
      const expected = await run([], [])
      expect(expected.outcome.result).toMatchObject({
        status: 'done',
        response: { data: { sum: '13', skipped: true } }
      })
      expect(expected.functions).toEqual(['transfer 5', 'transfer 7', 'transfer 9'])
      const nodes = nodesOf(expected.outcome)
      // With the one that looks at what the others need.
      expect(Object.keys(nodes)).toHaveLength(8)
      const { boundaries } = expected.outcome
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.nat(6), { maxLength: 8 }),
          fc.array(fc.integer({ min: 1, max: boundaries }), { maxLength: 3 }),
          async (delays, deaths) => {
            const { outcome, functions } = await run(delays, deaths)
            expect(outcome.result.response).toEqual(expected.outcome.result.response)
            expect(functions).toEqual(expected.functions)
            expect(nodesOf(outcome)).toEqual(nodes)
          }
        ),
        { numRuns: isSoak ? 300 : 6 }
      )
    },
    testMs(300_000)
  )
})
