import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Json } from '../../../../src/core/index.js'
import { evmExecutor } from '../../../../src/executor/evm/index.js'
import { chainProviders } from '../../../../src/executor/index.js'
import {
  createRuntime,
  MEMORY_LOCATION,
  type RunHandle,
  type Runtime
} from '../../../../src/runtime/index.js'
import type { EvmNode } from '../../../../src/testing/index.js'
import type { SolanaNode } from '../../../../src/testing/solana-node/index.js'
import { alice as evmAlice, keys, startNode } from '../../../support/evm-node-under-test.js'
import { alice, bob, executorOf, startSolana } from '../../../support/solana-executor.js'
import { signerOf } from '../../../support/solana-node-under-test.js'

const mint = (await signerOf(9)).address

/** Tokens of Solana, as a protocol of AIS has them. */
const spl: Json = {
  schema: 'ais/0.0.2',
  meta: { protocol: 'spl', version: '0.0.2' },
  actions: {
    transfer: {
      description: 'Moves tokens.',
      risk_level: 2,
      params: [
        { name: 'mint', type: 'address' },
        { name: 'to', type: 'address' },
        { name: 'amount', type: 'uint64' }
      ],
      execution: {
        'solana:*': {
          type: 'solana_instruction',
          program: { lit: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' },
          instruction: 'transfer',
          discriminator: '0x03',
          accounts: [
            { name: 'source', pubkey: ataOf('ctx.wallet_address'), signer: false, writable: true },
            { name: 'target', pubkey: ataOf('params.to'), signer: false, writable: true },
            { name: 'owner', pubkey: { ref: 'ctx.wallet_address' }, signer: true, writable: false }
          ],
          data: { array: [{ object: { u64: { ref: 'params.amount' } } }] }
        }
      }
    }
  },
  queries: {
    balance: {
      description: 'Lamports of an account.',
      params: [{ name: 'owner', type: 'address' }],
      returns: [{ name: 'lamports', type: 'uint64' }],
      execution: {
        'solana:*': {
          type: 'solana_read',
          method: 'getBalance',
          params: { object: { address: { ref: 'params.owner' } } }
        }
      }
    },
    account: {
      description: 'The account of a token.',
      params: [
        { name: 'owner', type: 'address' },
        { name: 'mint', type: 'address' }
      ],
      returns: [
        { name: 'address', type: 'address' },
        { name: 'bump', type: 'uint8' }
      ],
      execution: {
        'solana:*': {
          type: 'solana_read',
          method: 'derive_ata',
          params: { object: { owner: { ref: 'params.owner' }, mint: { ref: 'params.mint' } } }
        }
      }
    }
  }
}

const native: Json = {
  schema: 'ais/0.0.2',
  meta: { protocol: 'native', version: '0.0.2' },
  actions: {},
  queries: {
    held: {
      description: 'The balance of an account.',
      params: [{ name: 'owner', type: 'address' }],
      returns: [{ name: 'result', type: 'string' }],
      execution: {
        'eip155:*': {
          type: 'evm_rpc',
          method: 'eth_getBalance',
          params: { array: [{ ref: 'params.owner' }, { lit: 'latest' }] }
        }
      }
    }
  }
}

function ataOf(owner: string): Json {
  const fields = { owner: { ref: owner }, mint: { ref: 'params.mint' } }
  return { object: { derive_ata: { object: fields } } }
}

let node: SolanaNode
let evm: EvmNode
let runtime: Runtime

beforeEach(async () => {
  const balances = { [alice.address]: 1_000n, [bob.address]: 1n }
  node = await startSolana({ mints: [{ address: mint, balances }] })
  evm = await startNode()
  const evmChains = { [evm.id]: { rpc: [evm.url], signer: 'env:KEY' } }
  runtime = await createRuntime({
    location: MEMORY_LOCATION,
    create: 'if-absent',
    providers: chainProviders([
      evmExecutor({ chains: evmChains, environment: { KEY: keys[0] } }),
      executorOf(node)
    ]),
    workflow: { protocols: [spl, native], writes: 'broadcast' }
  })
})
afterEach(async () => {
  expect((await runtime.verify()).failure).toBeUndefined()
  await runtime.close()
  await evm.close()
  await node.close()
})

const flow = (nodes: readonly Json[]): Json => ({
  schema: 'ais-flow/0.0.3',
  meta: { name: 'both', version: '0.0.2' },
  nodes
})

const pay = (amount: string): Json => ({
  id: 'pay',
  type: 'action_ref',
  chain: node.id,
  protocol: 'spl@0.0.2',
  action: 'transfer',
  deps: ['here', 'there'],
  args: { mint: { lit: mint }, to: { lit: bob.address }, amount: { lit: amount } }
})

const queryOf = (id: string, chain: string, protocol: string, query: string, more = {}): Json => ({
  id,
  type: 'query_ref',
  chain,
  protocol: `${protocol}@0.0.2`,
  query,
  args: { owner: { ref: 'ctx.wallet_address' }, ...more }
})

const nodesOf = (amount: string): readonly Json[] => [
  queryOf('here', evm.id, 'native', 'held'),
  queryOf('there', node.id, 'spl', 'balance'),
  queryOf('account', node.id, 'spl', 'account', { mint: { lit: mint } }),
  pay(amount)
]

/** Says yes to what the policy asks, and gives the decision on which the run waits in the end. */
async function approving(run: RunHandle): Promise<Json> {
  for await (const event of run) {
    if (event.type !== 'waiting') continue
    if (event.reason !== 'confirmation') return event.request
    await run.approve(event.token, { digest: event.digest, by: 'the test' })
  }
  return null
}

describe('a workflow over an EVM and a Solana chain', () => {
  it('W14: has the wallet of each chain, and moves tokens on Solana once', async () => {
    const run = runtime.begin(flow(nodesOf('250')), { id: 'both', inputs: {} })
    await approving(run)
    const { status, response } = await run.result
    expect({ status, response }).toMatchObject({ status: 'done' })
    expect(node.tokens(await node.tokenAccount(mint, bob.address))).toBe(251n)
    const asked = (method: string, calls: SolanaNode['calls']) =>
      calls.filter((one) => one.method === method).map(({ params }) => params[0])
    expect(new Set(asked('getBalance', node.calls))).toEqual(new Set([alice.address]))
    expect(asked('eth_getBalance', evm.calls)).toContain(evmAlice.address)
    const [check] = await runtime.recheck('both' as never)
    expect(check).toMatchObject({ chain: node.id, found: { status: 'in_place' }, diagnostic: null })
  })

  it('W10: parks with the error of the program and its logs', async () => {
    const run = runtime.begin(flow(nodesOf('5000')), { id: 'parked', inputs: {} })
    const decision = await approving(run)
    expect(decision).toMatchObject({
      details: {
        diagnostic: {
          code: 'reverted',
          programError: { instruction: 0, name: 'InsufficientFunds', code: '1' }
        }
      }
    })
    expect(JSON.stringify(decision)).toContain('failed: custom program error: 0x1')
    expect(node.tokens(await node.tokenAccount(mint, bob.address))).toBe(1n)
  })
})
