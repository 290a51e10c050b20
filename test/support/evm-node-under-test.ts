import { privateKeyToAccount } from 'viem/accounts'
import type { Json } from '../../src/core/index.js'
import { evmExecutor } from '../../src/executor/evm/index.js'
import {
  type EvmNode,
  type EvmNodeOptions,
  type ExecutorDriver,
  type ExecutorUnderTest,
  startEvmNode
} from '../../src/testing/index.js'

/** Keys of tests, which hold nothing anywhere. */
export const keys = [`0x${'11'.repeat(32)}`, `0x${'22'.repeat(32)}`] as const
export const [alice, bob] = keys.map((key) => privateKeyToAccount(key)) as unknown as readonly [
  ReturnType<typeof privateKeyToAccount>,
  ReturnType<typeof privateKeyToAccount>
]
export const tokenAt = `0x${'70'.repeat(20)}` as const
const ETHER = 10n ** 18n

const parameter = (name: string, type: string): Json => ({ name, type })
const addressAndValue = (name: string): Json => [
  parameter(name, 'address'),
  parameter('value', 'uint256')
]

/** Fragments of the token's ABI, as documents have them. */
export const tokenAbi = {
  balanceOf: {
    type: 'function',
    name: 'balanceOf',
    stateMutability: 'view',
    inputs: [parameter('account', 'address')],
    outputs: [parameter('units', 'uint256')]
  },
  transfer: {
    type: 'function',
    name: 'transfer',
    stateMutability: 'nonpayable',
    inputs: addressAndValue('to'),
    outputs: [parameter('ok', 'bool')]
  }
} as const

export function transfer(to: string, value: bigint) {
  const args = { to, value: String(value) }
  return { type: 'evm_call', to: tokenAt, abi: tokenAbi.transfer as Json, args }
}

/** A node on which Alice and Bob have money and tokens. */
export function startNode(options: EvmNodeOptions = {}): Promise<EvmNode> {
  return startEvmNode({
    balances: { [alice.address]: 100n * ETHER, [bob.address]: 100n * ETHER },
    tokens: [{ address: tokenAt, balances: { [alice.address]: 1_000n, [bob.address]: 10n } }],
    ...options
  })
}

export function executorOf(node: EvmNode, more: object = {}): ReturnType<typeof evmExecutor> {
  return evmExecutor({
    chains: { [node.id]: { rpc: [node.url], signer: 'env:KEY', ...more } },
    environment: { KEY: keys[0] }
  })
}

/** The EVM executor as it is, on a fake node of its own for each check. */
export const onEvmNode: ExecutorDriver = {
  has: ['nonces', 'reorganisations', 'pool', 'replacement'],
  open: openOnEvmNode
}

async function openOnEvmNode(): Promise<ExecutorUnderTest> {
  const node = await startNode()
  const nothing = `0x${'44'.repeat(20)}`
  const count = { type: 'evm_read', to: tokenAt, abi: tokenAbi.balanceOf as Json }
  const { chain } = node
  return {
    executor: executorOf(node),
    restart: () => executorOf(node),
    chain: node.id,
    account: alice.address,
    watched: bob.address,
    read: { execution: { ...count, args: { account: nothing } }, outputs: { units: '0' } },
    write: (number) => transfer(bob.address, BigInt(number)),
    refused: transfer(bob.address, 1_001n),
    malformed: { ...transfer(bob.address, 1n), args: { to: bob.address, value: 'many' } },
    effective: async () => chain.effective().length,
    mining: async (isOn) => {
      chain.mining = isOn
    },
    mine: async (blocks) => chain.mine(blocks),
    reorg: async () => chain.reorg(1),
    close: () => node.close()
  }
}
