import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../../src/core/index.js'
import { chainProviders } from '../../../../src/executor/index.js'
import { createRuntime, MEMORY_LOCATION } from '../../../../src/runtime/index.js'
import { FakeChain } from '../../../../src/testing/fake-chain.js'
import { fakeExecutor } from '../../../../src/testing/fake-executor.js'
import type { WorkflowHost } from '../../../../src/workflow/index.js'
import { aisText, seedProtocols } from '../../../support/ais.js'
import { nameOf, TestChain } from '../../../support/ais-chain.js'

const usdc = {
  chain_id: 'eip155:1',
  address: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
  decimals: 6
}
const given = {
  inputs: {
    collateral_amount: '0.4',
    borrow_amount: '850.25',
    bridge_amount: '500',
    cex_address: `0x${'2'.repeat(40)}`
  },
  ctx: { wallet_address_solana: 'So11111111111111111111111111111111111111112' },
  calculated: { usdc }
}

function seedChain(allowance: string, polls = 3): TestChain {
  return new TestChain({
    read: ({ execution, before }) =>
      nameOf(execution) === 'allowance' ? { allowance } : { arrived: before >= polls - 1 },
    write: ({ execution }) =>
      nameOf(execution) === 'send' ? { receipt: { logs: [{ args: { messageId: 'm-1' } }] } } : {}
  })
}

const host: WorkflowHost = {
  protocols: seedProtocols.map(aisText),
  writes: 'broadcast',
  policy: { autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 }
}

async function runSeed(chain: TestChain, workflow: WorkflowHost = host) {
  const tally = await createRuntime({
    location: MEMORY_LOCATION,
    providers: chain.providers,
    workflow
  })
  const run = tally.begin(aisText('bridge').replace('interval_ms: 2000', 'interval_ms: 5'), {
    id: 'seed',
    inputs: given
  })
  return { tally, run }
}

describe('the workflow of the seed', () => {
  it('runs across chains: approves only if needed, polls, and leaves receipts that replay', async () => {
    const chain = seedChain('999')
    const { tally, run } = await runSeed(chain)
    await using _ = tally
    const { status, response } = await run.result
    expect(response).toMatchObject({ success: true })
    expect(status).toBe('done')
    expect([...chain.functions].sort()).toEqual(
      ['approve', 'borrow', 'deposit', 'send', 'supply', 'transfer', 'wrap'].sort()
    )
    const data = response?.data as { readonly nodes: Record<string, JsonObject> }
    expect(data.nodes['bridge_send']).toMatchObject({
      status: 'done',
      data: { outputs: { message_id: 'm-1' } }
    })
    expect(chain.reads.filter((name) => name === 'getMessageStatus')).toHaveLength(3)
    const verified = await tally.verify()
    expect(verified).toMatchObject({ ok: true })
  })

  it('runs word for word on the fake executors of both chains', async () => {
    let message: string | undefined
    const evm = new FakeChain({
      id: 'eip155:1',
      read: () => ({ allowance: '0' }),
      write: (execution) => {
        if (nameOf(execution) !== 'send') return { ok: true, outputs: {} }
        message = 'm-1'
        return { ok: true, outputs: { message_id: message } }
      }
    })
    const solana = new FakeChain({
      id: 'solana:5eyk...',
      read: ({ params }) => ({ arrived: Array.isArray(params) && params[0] === message })
    })
    const terms = { pollMs: 5 }
    const accounts = { default: `0x${'1'.repeat(40)}` }
    await using tally = await createRuntime({
      location: MEMORY_LOCATION,
      providers: chainProviders([
        fakeExecutor({ chains: [evm], accounts, terms }),
        fakeExecutor({ chains: [solana], accounts: { default: 'So1' }, terms })
      ]),
      workflow: host
    })
    const { status, response } = await tally.begin(aisText('bridge'), { inputs: given }).result
    expect(response).toMatchObject({ success: true })
    expect(status).toBe('done')
    const sent = (chain: FakeChain) => chain.effective().map(({ execution }) => nameOf(execution))
    expect(sent(evm)).toHaveLength(6)
    expect(sent(evm)).toEqual(expect.arrayContaining(['transfer', 'approve', 'send']))
    expect(sent(solana)).toEqual(['deposit'])
    expect(await tally.verify()).toMatchObject({ ok: true })
  })

  it('W6: continues behind a node that is skipped', async () => {
    const chain = seedChain('500000000')
    const { tally, run } = await runSeed(chain)
    await using _ = tally
    const { response } = await run.result
    expect(response).toMatchObject({ success: true })
    expect(chain.functions).not.toContain('approve')
    expect(chain.functions).toContain('send')
  })
})
