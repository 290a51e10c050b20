import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Abi } from 'viem'
import { mint, relayer, user, vault } from '../../examples/06-bridge/accounts.js'
import { lockBridge } from '../../examples/06-bridge/lock-bridge.js'
import { type RelayerOptions, relayOnce } from '../../examples/06-bridge/relayer.js'
import type { Json } from '../../src/core/index.js'
import { bridgeExecutor } from '../../src/executor/bridge/index.js'
import { evmExecutor } from '../../src/executor/evm/index.js'
import { chainProviders } from '../../src/executor/index.js'
import { solanaExecutor } from '../../src/executor/solana/index.js'
import { startSolanaNode } from '../../src/testing/solana-node/index.js'
import { anvilKeys, artifact, owner, startChain, third } from './anvil.js'
import { FaultyProxy } from './anvil-proxy.js'

/** The workflow of `examples/06-bridge` on anvil and a Solana node, with its relayer. */

const SOL = 1_000_000_000_000n
const PAYMENT = 1_250_000n
const BRIDGED = 2_000_000n

const examples = new URL('../../examples/', import.meta.url)
const textOf = (path: string) => readFileSync(new URL(path, examples), 'utf8')

export const bridgeWorkflow = textOf('06-bridge/bridge-and-deposit.yaml')

/** What both chains say of who has what. */
export interface Books {
  readonly locks: bigint
  readonly locked: bigint
  readonly paid: bigint
  /** Transactions of the wallet on the EVM chain. */
  readonly sent: bigint
  /** In the account of the user, who deposits all of it. */
  readonly held: bigint
  readonly deposited: bigint
}

/** What one run of the workflow has to change of the books. */
export const oneOfEach: Books = {
  locks: 1n,
  locked: BRIDGED,
  paid: PAYMENT,
  // A payment, an approval and a lock.
  sent: 3n,
  held: 0n,
  deposited: BRIDGED
}

export type BridgeOnChains = Awaited<ReturnType<typeof openBridgeOnChains>>

export async function openBridgeOnChains() {
  const chain = await startChain()
  const node = await startSolanaNode({
    balances: { [user.address]: SOL, [relayer.address]: SOL, [vault.address]: SOL },
    mints: [{ address: mint.address, decimals: 6, authority: relayer.address }]
  })
  const deposits = await node.giveTokens(mint.address, vault.address, 0n)
  const held = await node.giveTokens(mint.address, user.address, 0n)
  const token = await chain.deploy(artifact('ExampleToken'), ['Example', 'EXT', 6, 10n ** 15n])
  const lock = await chain.deploy(artifact('BridgeLock'), [])
  const [evmProxy, solanaProxy] = [
    await FaultyProxy.start(chain.url),
    await FaultyProxy.start(node.url)
  ]
  const folder = mkdtempSync(join(tmpdir(), 'tally-bridge-'))
  const relaying: RelayerOptions = {
    evmUrl: chain.url,
    solanaUrl: node.url,
    lock,
    lockAbi: artifact('BridgeLock').abi as unknown as Abi,
    token,
    mint: mint.address,
    decimals: 6,
    evmKey: anvilKeys[0],
    signer: relayer.signer,
    checkpoint: join(folder, 'checkpoint.json')
  }
  const read = (
    address: `0x${string}`,
    name: 'ExampleToken' | 'BridgeLock',
    functionName: string,
    args: readonly unknown[] = []
  ) => {
    const abi = artifact(name).abi as unknown as Abi
    return chain.client.readContract({ address, abi, functionName, args }) as Promise<bigint>
  }
  const calculated = { token: { chain_id: chain.id, address: token, symbol: 'EXT', decimals: 6 } }
  return {
    chain,
    node,
    proxies: [evmProxy, solanaProxy] as const,
    /** What a run is started with. */
    inputs: {
      inputs: {
        cex_address: third.address,
        payment: '1.25',
        bridge_amount: '2',
        solana_address: user.address,
        mint: mint.address
      },
      contracts: { bridge_spender: lock, vault: vault.address },
      calculated
    } as Json,
    /** Executors of a new process, which speaks with both chains through the proxies. */
    providers: () => {
      const terms = { pollMs: 5, timeoutMs: 20_000 }
      const evm = evmExecutor({
        chains: {
          [chain.id]: { rpc: [evmProxy.url], signer: 'env:KEY', confirmations: 2, ...terms }
        },
        environment: { KEY: anvilKeys[0] }
      })
      const solana = solanaExecutor({
        chains: { [node.id]: { rpc: [solanaProxy.url], signer: 'env:KEY', ...terms } },
        environment: { KEY: user.keyFile }
      })
      const bridge = lockBridge({ evm: chain.id, solana: node.id, lock, relayer: relayer.address })
      const over = bridgeExecutor({ bridge, executors: [evm, solana] })
      return chainProviders([evm, solana, over])
    },
    protocols: [
      textOf('03-evm-transfer/erc20.yaml'),
      textOf('06-bridge/lock-bridge.yaml'),
      textOf('06-bridge/vault.yaml')
    ],
    relay: () => relayOnce(relaying),
    books: async (): Promise<Books> => ({
      locks: await read(lock, 'BridgeLock', 'sequence'),
      locked: await read(token, 'ExampleToken', 'balanceOf', [lock]),
      paid: await read(token, 'ExampleToken', 'balanceOf', [third.address]),
      sent: BigInt(await chain.client.getTransactionCount(owner)),
      held: node.tokens(held) ?? 0n,
      deposited: node.tokens(deposits) ?? 0n
    }),
    close: async () => {
      for (const proxy of [evmProxy, solanaProxy]) await proxy[Symbol.asyncDispose]()
      await node.close()
      await chain.anvil.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

export function changeOf(before: Books, after: Books): Books {
  const names = Object.keys(before) as readonly (keyof Books)[]
  const entries = names.map((name) => [name, after[name] - before[name]])
  return Object.fromEntries(entries) as unknown as Books
}
