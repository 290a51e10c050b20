import { getAddressEncoder } from '@solana/kit'
import type { Json } from '../../src/core/index.js'
import type { Execution } from '../../src/executor/index.js'
import { type SolanaChainConfig, solanaExecutor } from '../../src/executor/solana/index.js'
import type { ExecutorDriver, ExecutorUnderTest } from '../../src/testing/index.js'
import {
  type SolanaNode,
  type SolanaNodeOptions,
  startSolanaNode
} from '../../src/testing/solana-node/index.js'
import { nonceAccounts } from './solana-accounts.js'
import { SYSTEM_PROGRAM, signerOf } from './solana-node-under-test.js'

/** Keys of tests, which hold nothing anywhere. */
export const alice = await signerOf(1)
export const bob = await signerOf(2)
export const nothingAt = (await signerOf(3)).address
/** What the Solana CLI writes into a file. */
export const aliceKey = keyFileOf(1, alice.address)

export function keyFileOf(number: number, address: typeof alice.address): string {
  const publicKey = getAddressEncoder().encode(address)
  return JSON.stringify([...new Uint8Array(32).fill(number), ...publicKey])
}

export const LAMPORTS = 10_000_000_000n
/** A transfer below it would leave the recipient an account that cannot exist. */
export const LEAST = 1_000_000

/** Moves lamports from Alice to Bob. */
export function transfer(lamports: bigint | number, from: string = alice.address): Execution {
  const accounts: Json = [
    { name: 'from', pubkey: from, signer: true, writable: true },
    { name: 'to', pubkey: bob.address, signer: false, writable: true }
  ]
  const data: Json = [{ u32: 2 }, { u64: String(lamports) }]
  const instruction = { program: SYSTEM_PROGRAM, instruction: 'transfer', accounts, data }
  return { type: 'solana_instruction', ...instruction }
}

/** A node on which Alice and Bob have lamports. */
export function startSolana(options: SolanaNodeOptions = {}): Promise<SolanaNode> {
  return startSolanaNode({
    balances: { [alice.address]: LAMPORTS, [bob.address]: LAMPORTS },
    ...options
  })
}

export function executorOf(
  node: Pick<SolanaNode, 'id' | 'url'>,
  more: Partial<SolanaChainConfig> = {}
): ReturnType<typeof solanaExecutor> {
  return solanaExecutor({
    chains: { [node.id]: { rpc: [node.url], signer: 'env:KEY', pollMs: 1, ...more } },
    environment: { KEY: aliceKey }
  })
}

/** The Solana executor as it is, on a node of its own for each check. */
export const onSolanaNode: ExecutorDriver = {
  has: ['expiry', 'readiness'],
  open: () => openOnSolanaNode()
}

/** The same with durable nonces: what it sends does not expire. */
export const onSolanaWithNonces: ExecutorDriver = {
  has: ['readiness', 'durable_nonces'],
  open: () => openOnSolanaNode(6)
}

async function openOnSolanaNode(nonces = 0): Promise<ExecutorUnderTest> {
  const node = await startSolana()
  const durableNonces = await nonceAccounts(node, alice, nonces)
  const before = node.transactions.length
  const restart = () => executorOf(node, { durableNonces })
  return {
    executor: restart(),
    restart,
    chain: node.id,
    account: alice.address,
    watched: bob.address,
    places: { code: SYSTEM_PROGRAM, empty: nothingAt },
    read: {
      execution: { type: 'solana_read', method: 'getBalance', params: { address: nothingAt } },
      outputs: { lamports: '0' }
    },
    write: (number) => transfer(number),
    refused: transfer(2n * LAMPORTS),
    malformed: { ...transfer(1), data: [{ u64: 'many' }] },
    effective: async () => node.transactions.slice(before).filter(({ ok }) => ok).length,
    mining: async (isOn) => {
      node.mining = isOn
    },
    mine: async (blocks) => node.advance(blocks),
    height: async () => node.blockHeight,
    close: () => node.close()
  }
}
