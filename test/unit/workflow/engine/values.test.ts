import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../../src/core/index.js'
import { createRuntime, MEMORY_LOCATION } from '../../../../src/runtime/index.js'
import { FakeClock } from '../../../../src/testing/fake-clock.js'
import { errorsOf, protocolOf } from '../../../support/ais.js'
import { type AnswerTo, TestChain } from '../../../support/ais-chain.js'

const chain = 'eip155:1'
const policy = { autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 }
const startedAt = 1_700_000_000
const ether = 10n ** 18n
const address = `0x${'1'.repeat(40)}`
const call = (fields: JsonObject): JsonObject => ({
  type: 'evm_call',
  to: { lit: address },
  abi: { name: 'pay', inputs: [{ name: 'value', type: 'uint256' }] },
  args: { value: { ref: 'params.value' } },
  ...fields
})
const rpc = (returns: readonly JsonObject[]): JsonObject => ({
  returns,
  execution: {
    '*': {
      type: 'evm_rpc',
      method: 'eth_getBalance',
      params: { array: [{ lit: address }, { lit: 'latest' }] }
    }
  }
})
const protocol = {
  schema: 'ais/0.0.2',
  meta: { protocol: 'p', version: '1.0.0' },
  actions: {
    pay: {
      description: 'Pays',
      risk_level: 1,
      params: [{ name: 'value', type: 'uint256' }],
      calculated_fields: {
        twice: { expr: { cel: 'params.value * 2' } },
        same: { expr: { ref: 'calculated.twice' } },
        both: { expr: { object: { atomic: { ref: 'params.value' }, count: { lit: 2 } } } },
        text: { expr: { lit: '12' } }
      },
      execution: { '*': call({}) }
    }
  },
  queries: {
    balance: rpc([]),
    named: rpc([{ name: 'wei', type: 'uint256' }]),
    poll: {
      returns: [{ name: 'n', type: 'uint256' }],
      execution: {
        '*': {
          type: 'evm_read',
          to: { lit: address },
          abi: { name: 'poll', outputs: [{ name: 'n', type: 'uint256' }] }
        }
      }
    }
  }
} as const
const query = (id: string, name: string, more: JsonObject = {}): JsonObject => ({
  id,
  type: 'query_ref',
  protocol: 'p@1.0.0',
  query: name,
  ...more
})
const pay = (id: string, value: Json, more: JsonObject = {}): JsonObject => ({
  id,
  type: 'action_ref',
  protocol: 'p@1.0.0',
  action: 'pay',
  args: { value },
  ...more
})
const flow = (nodes: readonly JsonObject[], outputs: JsonObject = {}): JsonObject => ({
  schema: 'ais-flow/0.0.3',
  meta: { name: 'values', version: '1.0.0' },
  default_chain: chain,
  nodes,
  outputs
})

async function ran(document: JsonObject, read: AnswerTo = () => ({}), given: JsonObject = {}) {
  const world = new TestChain({ read })
  const clock = new FakeClock({ at: startedAt * 1_000 + 700 })
  await using tally = await createRuntime({
    location: MEMORY_LOCATION,
    clock,
    providers: world.providers,
    workflow: { protocols: [protocol], writes: 'broadcast', policy }
  })
  const run = tally.begin(document, { id: 'run', inputs: given })
  await clock.advance(60_000)
  const { response } = await run.result
  expect(response).toMatchObject({ success: true })
  const verified = await tally.verify({ executions: 2 })
  expect(verified).toMatchObject({ ok: true, complete: true })
  const data = response?.data as { readonly nodes?: Record<string, JsonObject> }
  return { world, data }
}

function sentBy(world: TestChain): readonly Json[] {
  const args = [...world.sent.values()].map(({ execution }) => execution['args'] as JsonObject)
  return args.map(({ value = null }) => value)
}

describe('W4: what one node has calculated', () => {
  const first = pay('first', { lit: '5000000000000000000' })

  it('is an amount in other nodes, however it was made: alone, by a reference, in an object', async () => {
    const amounts = [
      'nodes.first.calculated.twice',
      'nodes.first.calculated.same',
      'nodes.first.calculated.both.atomic + nodes.first.calculated.both.atomic',
      'nodes["first"].calculated["twice"]'
    ]
    const nodes = amounts.flatMap((cel, index) => [
      pay(`n${index}`, { cel: `${cel} - 1` }, { condition: { cel: `${cel} > 999` } })
    ])
    const { world } = await ran(flow([first, ...nodes]))
    expect(sentBy(world).slice(1)).toEqual(amounts.map(() => String(10n * ether - 1n)))
  })

  it('is one in its own conditions and in the outputs, too, and text stays text', async () => {
    const checked = {
      ...first,
      assert: { cel: 'nodes.first.calculated.twice == nodes.first.calculated.both.atomic * 2' }
    }
    const { data } = await ran(
      flow([checked], {
        half: { cel: 'nodes.first.calculated.twice / 2' },
        text: { cel: 'nodes.first.calculated.text == "12"' }
      })
    )
    expect(data).toMatchObject({ half: String(5n * ether), text: true })
  })
})

describe('W4: numbers that a chain gives', () => {
  it.each([
    ['balance', 'result'],
    ['named', 'wei']
  ])('are compared as numbers: the native balance of %s', async (name, member) => {
    const path = `nodes.a.outputs.${member}`
    const cel = `${path} > 999 && ${path} - 1 < ${path}`
    const read = () => ({ result: `0x${(3n * ether).toString(16)}` })
    const document = flow([query('a', name), pay('b', { lit: 1 }, { condition: { cel } })], {
      wei: { ref: `nodes.a.outputs.${member}` }
    })
    const { world, data } = await ran(document, read)
    expect(world.sent.size).toBe(1)
    expect(data).toMatchObject({ wei: String(3n * ether) })
  })
})

describe('ctx.now', () => {
  it('is the time of the run in whole seconds, and the same when the run is replayed', async () => {
    const nodes = [pay('a', { cel: 'ctx.now + 600' })]
    const { world, data } = await ran(flow(nodes, { at: { ref: 'ctx.now' } }))
    expect(sentBy(world)).toEqual([String(startedAt + 600)])
    expect(data).toMatchObject({ at: startedAt })
  })

  it('is what the run was given, if it was given one', async () => {
    const document = flow([pay('a', { ref: 'ctx.now' })], { at: { ref: 'ctx.now' } })
    const { world, data } = await ran(document, () => ({}), { ctx: { now: 1_600_000_000 } })
    expect(sentBy(world)).toEqual(['1600000000'])
    expect(data).toMatchObject({ at: 1_600_000_000 })
  })

  it('advances while a node polls, by what it has slept', async () => {
    let asked = 0
    const retry = { interval_ms: 10_000, max_attempts: 9 }
    const until = { cel: `ctx.now >= nodes.a.outputs.n + 25` }
    await ran(flow([query('a', 'poll', { until, retry })]), () => {
      asked += 1
      return { n: String(startedAt) }
    })
    expect(asked).toBe(4)
  })
})

describe('W3: conditions', () => {
  const wrong: readonly JsonObject[] = [
    { lit: 'true' },
    { lit: 0 },
    { cel: '"text"' },
    { cel: '1 + 1' },
    { cel: '[true]' },
    { detect: { kind: 'choose_one', candidates: [{ lit: 'yes' }] } }
  ]
  const good: readonly JsonObject[] = [
    { lit: true },
    { cel: '1 + 1 == 2' },
    { detect: { kind: 'choose_one', candidates: [{ lit: true }] } }
  ]

  it.each(['condition', 'assert', 'precondition', 'call'])(
    'of the kind %s are refused at load if they can be neither true nor false',
    async (kind) => {
      const problems = (value: JsonObject) => {
        const own = kind === 'condition' || kind === 'assert' ? { [kind]: value } : {}
        const { pay: action } = protocol.actions
        const { abi, args, to } = call({})
        const batch = {
          type: 'evm_multicall',
          to,
          calls: [{ abi, args, condition: value }]
        } as JsonObject
        const changed = {
          ...action,
          ...(kind === 'precondition' ? { pre_conditions: [value] } : {}),
          ...(kind === 'call' ? { execution: { '*': batch } } : {})
        }
        const used = protocolOf({ ...protocol, actions: { pay: changed } } as Json)
        return errorsOf(flow([pay('a', { lit: 1 }, own)]), [used])
      }
      for (const value of wrong) expect(await problems(value)).toEqual(['invalid_value'])
      for (const value of good) expect(await problems(value)).toEqual([])
    }
  )
})
