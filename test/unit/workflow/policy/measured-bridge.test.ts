import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../../src/core/index.js'
import { bridgeExecutor } from '../../../../src/executor/bridge/index.js'
import type { ChainCall } from '../../../../src/executor/index.js'
import { chainProviders } from '../../../../src/executor/index.js'
import { createRuntime, MEMORY_LOCATION } from '../../../../src/runtime/index.js'
import { FakeBridge } from '../../../../src/testing/index.js'
import { troublesOf } from '../../../../src/workflow/engine/diagnose.js'
import type { Policy } from '../../../../src/workflow/policy/policy.js'
import { defaultPolicy } from '../../../../src/workflow/policy/policy.js'
import { bound, free, judgeWrite, short } from '../../../support/judged-writes.js'

const chain = 'eip155:7'
const there = 'solana:fake'
const [token, vault, friend] = ['aa', 'bb', '11'].map((byte) => `0x${byte.repeat(20)}`) as [
  string,
  string,
  string
]
const erc20 = `${chain}/erc20:${token}`
const native = `${chain}/native`
const transferAbi = {
  name: 'transfer',
  inputs: [
    { name: 'to', type: 'address' },
    { name: 'amount', type: 'uint256' }
  ]
}

/** A call that no policy knows, and what its driver says that it does. */
function sends(amount: string, more: JsonObject = {}, to = 'bob'): ChainCall {
  const abi = { name: 'send', inputs: [{ name: 'amount', type: 'uint256' }] }
  const execution = { type: 'evm_call', to: vault, abi, args: { amount }, ...more }
  const receivers = [{ chain: there, address: to }]
  return { execution, moves: { spends: [{ token, amount, to: vault }], receivers } }
}

const judge = (call: ChainCall | undefined, policy: Policy = free) =>
  judgeWrite(chain, { type: 'bridge_send', amount: '5' }, policy, { call })

describe('W15: a policy measures the call that a bridge sends', () => {
  it('and knows nothing of a bridge that does not tell it', () => {
    expect(judge(undefined)).toMatchObject({ riskLevel: 5, measured: { effects: [] } })
    const { moves: _, ...bare } = sends('5', { value: '3' })
    expect(judge(bare)).toMatchObject({
      riskLevel: 5,
      measured: { effects: [{ kind: 'transfer', asset: native, amount: '3', to: vault }] }
    })
    expect(short(judge(bare, bound({ max_spend: '9' })))).toEqual(['block', 'undecoded'])
  })

  it('by native value, amount of each token, and who is given it on both chains', () => {
    const call = sends('5', { value: '3' })
    expect(judge(call)).toMatchObject({ riskLevel: 3, measured: { undecoded: [] } })
    expect(short(judge(call, defaultPolicy))).toEqual(['confirm', 'risk_level'])
    const spend = (token: number, coins: number) =>
      short(judge(call, bound({ max_spend: { [erc20]: token, [native]: coins } })))
    expect([spend(5, 3), spend(4, 3), spend(5, 2)].map(([kind]) => kind)).toEqual([
      'ok',
      'block',
      'block'
    ])
    const listed = [
      { chain, address: vault },
      { chain: there, address: 'bob' }
    ]
    const who = (allowed_recipients: readonly JsonObject[]) =>
      short(judge(call, bound({ allowed_recipients } as never)))
    expect(who(listed)).toEqual(['ok'])
    for (const one of listed) expect(who([one])).toEqual(['block', 'recipient_not_listed'])
    expect(who([...listed.slice(0, 1), { chain, address: 'bob' }])).toHaveLength(2)
  })

  it('by bytes, where they are known, whatever its driver says', () => {
    const args = { to: friend, amount: '9' }
    const call = sends('0', { to: token, abi: transferAbi, args })
    expect(judge(call).measured?.effects).toEqual([
      { kind: 'transfer', asset: erc20, amount: '9', to: friend },
      { kind: 'payout', receiver: 'bob', chain: there }
    ])
  })

  it('and holds its fees as its own chain does', () => {
    const dear = bound({ max_fee: { [native]: '7' }, max_fee_bps: 100 })
    expect(judge(sends('5', { value: '500' }), dear)).toMatchObject({ kind: 'ok', maxFee: '5' })
    expect(short(judge(undefined, bound({ max_fee: '7' })))).toEqual(['block', 'constraint'])
    const other = { execution: { type: 'other_send' }, moves: sends('5').moves } as ChainCall
    expect(short(judge(other, bound({ max_fee: '7' })))).toEqual(['block', 'constraint'])
  })

  it('and takes what no driver can mean for nothing', () => {
    const amounts = fc.oneof(fc.string(), fc.constantFrom('-1', '0x5', '1.0', '01', ''))
    fc.assert(
      fc.property(amounts, (amount) => {
        fc.pre(!/^(0|[1-9][0-9]*)$/.test(amount))
        expect(judge(sends(amount)).riskLevel).toBe(5)
      }),
      { numRuns: 50 }
    )
  })
})

const bridging = {
  schema: 'ais/0.0.2',
  meta: { protocol: 'over', version: '1.0.0' },
  actions: {
    send: {
      risk_level: 1,
      returns: [{ name: 'message_id', type: 'string' }],
      params: [{ name: 'amount', type: 'uint256' }],
      execution: {
        'eip155:*': {
          type: 'bridge_send',
          amount: { ref: 'params.amount' },
          token: { lit: token },
          to: { lit: 'bob' }
        }
      }
    }
  }
}
const document = {
  schema: 'ais-flow/0.0.3',
  meta: { name: 'over', version: '1.0.0' },
  default_chain: chain,
  nodes: [
    {
      id: 'send',
      type: 'action_ref',
      protocol: 'over@1.0.0',
      action: 'send',
      args: { amount: { lit: '5' } }
    }
  ]
}

describe('W15: a workflow that bridges', () => {
  async function parkedAt(constraints: JsonObject, times = 9) {
    const fake = new FakeBridge({ from: chain, to: there })
    let asked = 0
    const bridge: FakeBridge['bridge'] = {
      ...fake.bridge,
      send: (transfer) => {
        asked += 1
        const { execution } = transfer
        const given = asked > times ? { ...execution, amount: '7' } : execution
        return fake.bridge.send({ ...transfer, execution: given })
      }
    }
    const executors = fake.executors()
    const tally = await createRuntime({
      location: MEMORY_LOCATION,
      providers: chainProviders([...executors, bridgeExecutor({ bridge, executors })]),
      workflow: { protocols: [bridging], writes: 'broadcast', policy: { constraints } as never }
    })
    const run = tally.begin(document, { id: 'one', inputs: {} })
    for await (const event of run) {
      if (event.type === 'run.finished') break
      const waits = event.type === 'run.parked' ? await run.waits() : []
      if (waits.length > 0) return { fake, tally, run, wait: waits[0] }
    }
    throw new Error('it has not waited')
  }
  const diagnosticOf = (wait: Awaited<ReturnType<typeof parkedAt>>['wait']) =>
    troublesOf({ waits: wait === undefined ? [] : [wait], response: null })[0]?.diagnostic

  it('shows what is sent, sends it, and replays without the driver', async () => {
    const { fake, tally, run, wait } = await parkedAt({ max_spend: { [erc20]: '5' } })
    await using _ = tally
    expect(wait?.request).toMatchObject({
      request: {
        executionType: 'bridge_send',
        riskLevel: 3,
        call: { type: 'evm_call', transfer: { amount: '5' } },
        effects: [
          { kind: 'transfer', asset: erc20 },
          { kind: 'payout', receiver: 'bob' }
        ],
        undecoded: []
      }
    })
    const { token: waited = '', digest = '' } = wait ?? {}
    await run.approve(waited, { digest })
    expect((await run.result).status).toBe('done')
    expect(fake.sent()).toHaveLength(1)
    expect(await tally.verify()).toMatchObject({ ok: true })
  })

  it('is refused beyond a bound, before a person is asked', async () => {
    const { fake, tally, run, wait } = await parkedAt({ max_spend: { [erc20]: '4' } })
    await using _ = tally
    expect(diagnosticOf(wait)).toMatchObject({ code: 'policy_blocked', phase: 'policy' })
    await run.cancel('enough')
    expect(fake.sent()).toEqual([])
  })

  it('sends nothing that was not judged', async () => {
    const { fake, tally, run, wait } = await parkedAt({}, 1)
    await using _ = tally
    const { token: waited = '', digest = '' } = wait ?? {}
    await run.approve(waited, { digest })
    let trouble: unknown
    for await (const event of run) {
      if (event.type !== 'run.parked') continue
      const [failed] = await run.waits()
      trouble = diagnosticOf(failed)
      if (trouble !== undefined && trouble !== null) break
    }
    expect(trouble).toMatchObject({ code: 'invalid_execution', phase: 'prepare' })
    await run.cancel('enough')
    expect(fake.sent()).toEqual([])
  })
})
