import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getBurnCheckedInstruction } from '@solana-program/token'
import type { Abi, Hex } from 'viem'
import { mint, relayer, user } from '../../examples/06-bridge/accounts.js'
import { callerOf } from '../../examples/06-bridge/json-rpc.js'
import { lockBridge } from '../../examples/06-bridge/lock-bridge.js'
import { type RelayerOptions, relayOnce } from '../../examples/06-bridge/relayer.js'
import { memo, sendAll } from '../../examples/06-bridge/solana.js'
import { evmExecutor } from '../../src/executor/evm/index.js'
import { solanaExecutor } from '../../src/executor/solana/index.js'
import type { BridgeUnderTest } from '../../src/testing/index.js'
import { type SolanaNode, startSolanaNode } from '../../src/testing/solana-node/index.js'
import { anvilKeys, artifact, owner, type TestChain, third } from './anvil.js'

export const AMOUNT = 500n
const SUPPLY = 1_000_000n
const LAMPORTS = 1_000_000_000n

/** The example's bridge on anvil and a Solana node of its own, with its relayer. */
export interface LockBridge extends BridgeUnderTest {
  readonly node: SolanaNode
  /** As {@link BridgeUnderTest.relay}, over a way on which things go wrong. */
  relayBy(post: RelayerOptions['post']): Promise<void>
  /** Burns what the user has on Solana, for an account of the EVM chain; gives the signature. */
  burn(units: bigint): Promise<string>
  /** What this account has of the token. */
  unlocked(): Promise<bigint>
}

export async function openLockBridge(chain: TestChain): Promise<LockBridge> {
  const snapshot = await chain.rpc('evm_snapshot', [])
  const lockAbi = artifact('BridgeLock').abi as unknown as Abi
  const tokenAbi = artifact('ExampleToken').abi as unknown as Abi
  const lock = await chain.deploy(artifact('BridgeLock'), [])
  const token = await chain.deploy(artifact('ExampleToken'), ['Example', 'EXT', 6, SUPPLY])
  const about = { address: token, abi: tokenAbi, account: owner, chain: null } as const
  const hash = await chain.wallet.writeContract({
    ...about,
    functionName: 'approve',
    args: [lock, SUPPLY]
  })
  await chain.client.waitForTransactionReceipt({ hash })
  const node = await startSolanaNode({
    balances: { [user.address]: LAMPORTS, [relayer.address]: LAMPORTS },
    mints: [{ address: mint.address, decimals: 6, authority: relayer.address }]
  })
  const folder = mkdtempSync(join(tmpdir(), 'tally-relayer-'))
  const relaying: RelayerOptions = {
    evmUrl: chain.url,
    solanaUrl: node.url,
    lock,
    lockAbi,
    token,
    mint: mint.address,
    decimals: 6,
    evmKey: anvilKeys[0],
    signer: relayer.signer,
    checkpoint: join(folder, 'checkpoint.json')
  }
  const read = (address: Hex, abi: Abi, functionName: string, args: readonly unknown[] = []) =>
    chain.client.readContract({ address, abi, functionName, args }) as Promise<bigint>
  const held = await node.tokenAccount(mint.address, user.address)
  const transfer = { type: 'bridge_send', token, amount: AMOUNT.toString(), to: user.address }
  return {
    bridge: lockBridge({ evm: chain.id, solana: node.id, lock, relayer: relayer.address }),
    executors: () => [
      evmExecutor({
        chains: { [chain.id]: { rpc: [chain.url], signer: 'env:KEY' } },
        environment: { KEY: anvilKeys[0] }
      }),
      solanaExecutor({
        chains: { [node.id]: { rpc: [node.url], signer: 'env:KEY' } },
        environment: { KEY: user.keyFile }
      })
    ],
    from: chain.id,
    to: node.id,
    transfer,
    malformed: { ...transfer, to: 'nowhere' },
    unheard: `0x${'7'.repeat(64)}`,
    node,
    relay: () => relayOnce(relaying),
    relayBy: (post) => relayOnce(post === undefined ? relaying : { ...relaying, post }),
    taken: async () => Number(await read(lock, lockAbi, 'sequence')),
    handedOut: async () => Number((node.tokens(held) ?? 0n) / AMOUNT),
    balance: async ({ chain: where, address, token: of }) => {
      if (where === chain.id) return read(of as Hex, tokenAbi, 'balanceOf', [address])
      return node.tokens(await node.tokenAccount(mint.address, address)) ?? 0n
    },
    burn: (units) => {
      const about = { account: held as typeof mint.address, mint: mint.address }
      const amount = { amount: units, decimals: 6 }
      return sendAll(callerOf(node.url), user.signer, [
        getBurnCheckedInstruction({ ...about, authority: user.signer, ...amount }),
        memo(`unlock ${third.address}`)
      ])
    },
    unlocked: () => read(token, tokenAbi, 'balanceOf', [third.address]),
    close: async () => {
      await node.close()
      await chain.rpc('evm_revert', [snapshot])
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
