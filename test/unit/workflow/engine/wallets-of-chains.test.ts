import { readFileSync } from 'node:fs'
import type { Abi, Address } from 'viem'
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../../src/core/index.js'
import { evmExecutor } from '../../../../src/executor/evm/index.js'
import { chainProviders } from '../../../../src/executor/index.js'
import { createRuntime, MEMORY_LOCATION } from '../../../../src/runtime/index.js'
import { aisText } from '../../../support/ais.js'
import { anvilKeys, artifact, other, owner, startChain } from '../../../support/anvil.js'

/** A workflow over two real chains with a signer each, in which both wallets are read. */

const abi = artifact('ExampleToken').abi as unknown as Abi
const erc20 = readFileSync(
  new URL('../../../../examples/03-evm-transfer/erc20.yaml', import.meta.url),
  'utf8'
)

describe('W14: a workflow over two chains with one signer each', () => {
  it('reads and signs with the wallet of each node’s chain', async () => {
    await using first = await startChain({ chainId: 31_337 })
    await using second = await startChain({ chainId: 31_338 })
    const token = async (chain: typeof first, units: bigint) => {
      const address = await chain.deploy(artifact('ExampleToken'), ['Example', 'EXT', 6, units])
      return { chain_id: chain.id, address, decimals: 6 }
    }
    const a = await token(first, 11n)
    const b = await token(second, 22n)
    // Of B, the first key holds all tokens: its wallet there is the second key's.
    const hash = await second.wallet.writeContract({
      address: b.address as Address,
      abi,
      functionName: 'transfer',
      args: [other.address, 5n],
      account: owner,
      chain: null
    })
    await second.client.waitForTransactionReceipt({ hash })
    const sentOf = (address: Address) => second.client.getTransactionCount({ address })
    const before = await sentOf(owner.address)
    const evm = evmExecutor({
      chains: {
        [first.id]: { rpc: [first.url], signer: 'env:A', pollMs: 20 },
        [second.id]: { rpc: [second.url], signer: 'env:B', pollMs: 20 }
      },
      environment: { A: anvilKeys[0], B: anvilKeys[1] }
    })
    await using tally = await createRuntime({
      location: MEMORY_LOCATION,
      providers: chainProviders([evm]),
      workflow: {
        protocols: [erc20],
        writes: 'broadcast',
        policy: { autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 }
      }
    })
    const inputs = { a, b } as unknown as Json
    const { status, response } = await tally.begin(aisText('wallets'), { id: 'one', inputs }).result
    expect(status).toBe('done')
    const nodes = ((response as unknown as JsonObject)['data'] as JsonObject)['nodes'] as Record<
      string,
      { readonly data: { readonly outputs: JsonObject } }
    >
    const balanceOf = (id: string) => nodes[id]?.data.outputs['balance']
    expect(['on_a', 'on_b', 'alone_b'].map(balanceOf)).toEqual(['11', '5', '5'])
    const allowance = (holder: Address) =>
      second.client.readContract({
        address: b.address as Address,
        abi,
        functionName: 'allowance',
        args: [holder, holder]
      })
    expect(await allowance(other.address)).toBe(1_000_000n)
    expect(await allowance(owner.address)).toBe(0n)
    expect(await sentOf(owner.address)).toBe(before)
    expect(await tally.verify()).toMatchObject({ ok: true })
  })
})
