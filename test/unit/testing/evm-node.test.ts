import {
  createPublicClient,
  createWalletClient,
  type Hex,
  http,
  parseAbi,
  parseEther,
  parseEventLogs,
  parseGwei
} from 'viem'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Json } from '../../../src/core/index.js'
import { chainFailureOf, evmExecutor } from '../../../src/executor/evm/index.js'
import {
  type EvmNode,
  type EvmNodeFault,
  FakeClock,
  startEvmNode
} from '../../../src/testing/index.js'
import { openSending, sendOnce } from '../../support/anvil-send.js'
import {
  alice,
  bob,
  executorOf,
  keys,
  startNode,
  tokenAbi,
  tokenAt,
  transfer
} from '../../support/evm-node-under-test.js'

const abi = parseAbi([
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  'function totalSupply() view returns (uint256)',
  'function balanceOf(address account) view returns (uint256)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function transfer(address to, uint256 value) returns (bool)',
  'function approve(address spender, uint256 value) returns (bool)',
  'function transferFrom(address from, address to, uint256 value) returns (bool)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)'
])
const token = { address: tokenAt, abi } as const

let node: EvmNode
beforeEach(async () => {
  node = await startNode()
})
afterEach(() => node.close())

/** viem's own clients, which share no code with the executor. */
function clients() {
  const chain = {
    id: 31_337,
    name: 'fake',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [node.url] } }
  }
  const transport = http(node.url, { retryCount: 0 })
  const timing = { chain, transport, pollingInterval: 5, cacheTime: 0 }
  const wallet = (account: typeof alice) => createWalletClient({ ...timing, account })
  return { client: createPublicClient(timing), wallet: wallet(alice), bobs: wallet(bob) }
}

const refusal = (text: string | RegExp) =>
  expect.objectContaining({ message: expect.stringMatching(text) })

describe("a fake node, seen by viem's clients", () => {
  it('keeps balances, fees and nonces of transfers', async () => {
    const { client, wallet } = clients()
    const to = `0x${'44'.repeat(20)}` as const
    const hash = await wallet.sendTransaction({ to, value: parseEther('1') })
    const receipt = await client.waitForTransactionReceipt({ hash })
    expect(receipt).toMatchObject({ status: 'success', blockNumber: 1n, gasUsed: 21_000n })
    expect(await client.getBalance({ address: to })).toBe(parseEther('1'))
    const paid = receipt.gasUsed * receipt.effectiveGasPrice
    const left = parseEther('99') - paid
    expect(await client.getBalance({ address: alice.address })).toBe(left)
    expect(await client.getBalance({ address: alice.address, blockNumber: 0n })).toBe(
      parseEther('100')
    )
    expect(await client.getTransactionCount({ address: alice.address })).toBe(1)
    const block = await client.getBlock({ includeTransactions: true })
    expect(block.transactions.map((one) => one.hash)).toEqual([hash])
    expect((await client.getBlock({ blockHash: block.hash })).number).toBe(1n)
    expect(block.parentHash).toBe((await client.getBlock({ blockNumber: 0n })).hash)
    const sent = await client.getTransaction({ hash })
    expect(sent).toMatchObject({ from: alice.address.toLowerCase(), nonce: 0, value: 10n ** 18n })
  })

  it('takes transactions of every kind that has no blobs', async () => {
    const { client, wallet } = clients()
    const kinds = [
      { type: 'legacy', gasPrice: parseGwei('3') },
      { type: 'eip2930', gasPrice: parseGwei('3'), accessList: [] },
      { type: 'eip1559' }
    ] as const
    for (const kind of kinds) {
      const hash = await wallet.sendTransaction({ to: bob.address, value: 1n, ...kind } as never)
      const { status, type, from } = await client.waitForTransactionReceipt({ hash })
      expect({ status, type, from }).toEqual({
        status: 'success',
        type: kind.type,
        from: alice.address.toLowerCase()
      })
    }
  })

  it('moves tokens, with events, allowances and errors that viem decodes', async () => {
    const { client, wallet, bobs } = clients()
    expect(await client.readContract({ ...token, functionName: 'symbol' })).toBe('TKN')
    expect(await client.readContract({ ...token, functionName: 'decimals' })).toBe(18)
    expect(await client.readContract({ ...token, functionName: 'totalSupply' })).toBe(1_010n)
    const args = [bob.address, 5n] as const
    const hash = await wallet.writeContract({ ...token, functionName: 'transfer', args })
    const { logs } = await client.waitForTransactionReceipt({ hash })
    expect(parseEventLogs({ abi, logs }).map((log) => log.args)).toEqual([
      { from: alice.address, to: bob.address, value: 5n }
    ])
    const balanceOf = (owner: Hex) =>
      client.readContract({ ...token, functionName: 'balanceOf', args: [owner] })
    expect(await balanceOf(bob.address)).toBe(15n)
    const taking = { ...token, functionName: 'transferFrom' } as const
    const takes = [alice.address, bob.address, 7n] as const
    await expect(bobs.writeContract({ ...taking, args: takes })).rejects.toEqual(
      refusal('ERC20InsufficientAllowance')
    )
    await wallet.writeContract({ ...token, functionName: 'approve', args: [bob.address, 7n] })
    await bobs.writeContract({ ...taking, args: takes })
    expect(await balanceOf(alice.address)).toBe(988n)
    const tooMuch = { ...token, functionName: 'transfer', args: [bob.address, 989n] } as const
    await expect(client.simulateContract({ ...tooMuch, account: alice })).rejects.toEqual(
      refusal(/ERC20InsufficientBalance[\s\S]*988, 989/)
    )
    // Sent all the same, it is included, costs gas, and has no effect.
    const reverted = await wallet.writeContract({ ...tooMuch, gas: 100_000n })
    expect((await client.waitForTransactionReceipt({ hash: reverted })).status).toBe('reverted')
    expect(await balanceOf(alice.address)).toBe(988n)
  })

  it('refuses what a node refuses, and takes a transaction that pays more for its nonce', async () => {
    const { client, wallet } = clients()
    const send = (more: object) => wallet.sendTransaction({ to: bob.address, ...more } as never)
    await send({ value: 1n })
    await expect(send({ value: 1n, nonce: 0 })).rejects.toEqual(refusal('nonce too low'))
    await expect(send({ value: parseEther('101') })).rejects.toEqual(refusal('insufficient funds'))
    const poor = { value: parseEther('101'), gas: 21_000n }
    await expect(send(poor)).rejects.toEqual(refusal('insufficient funds for gas'))
    await expect(send({ value: 1n, gas: 20_999n })).rejects.toEqual(
      refusal('intrinsic gas too low')
    )
    await expect(send({ maxFeePerGas: 1n, maxPriorityFeePerGas: 1n })).rejects.toEqual(
      refusal('less than block base fee')
    )
    const foreign = await alice.signTransaction({
      to: bob.address,
      chainId: 5,
      gas: 21_000n,
      maxFeePerGas: parseGwei('3')
    })
    await expect(client.sendRawTransaction({ serializedTransaction: foreign })).rejects.toEqual(
      refusal('invalid chain id')
    )
    await expect(client.sendRawTransaction({ serializedTransaction: '0x02c0' })).rejects.toEqual(
      refusal('cannot be decoded')
    )
    await expect(client.request({ method: 'eth_dance' } as never)).rejects.toEqual(
      refusal('does not exist')
    )
    node.chain.mining = false
    const slow = await send({ value: 2n, maxFeePerGas: parseGwei('3') })
    const equal = { value: 3n, nonce: 1, maxFeePerGas: parseGwei('3.1') }
    await expect(send(equal)).rejects.toEqual(refusal('underpriced'))
    const quick = await send({ ...equal, maxFeePerGas: parseGwei('3.3') })
    node.chain.mine()
    expect((await client.getTransactionReceipt({ hash: quick })).status).toBe('success')
    await expect(client.getTransaction({ hash: slow })).rejects.toThrow()
  })

  it('waits for a gap in the nonces, and keeps what is stuck in the pool', async () => {
    const { client, wallet } = clients()
    const send = (nonce: number) => wallet.sendTransaction({ to: bob.address, value: 1n, nonce })
    const later = await send(1)
    expect((await client.getTransaction({ hash: later })).blockNumber).toBeNull()
    const first = await send(0)
    expect((await client.getTransactionReceipt({ hash: later })).blockNumber).toBe(2n)
    expect((await client.getTransactionReceipt({ hash: first })).transactionIndex).toBe(0)
    node.chain.holds = ({ nonce }) => nonce === 2
    const stuck = await send(2)
    node.chain.mine(3)
    expect((await client.getTransaction({ hash: stuck })).blockNumber).toBeNull()
    node.chain.holds = () => false
    node.chain.mine()
    expect((await client.getTransactionReceipt({ hash: stuck })).status).toBe('success')
  })

  it('takes blocks back, and with them balances, receipts and nonces', async () => {
    const { client, wallet } = clients()
    const hash = await wallet.sendTransaction({ to: bob.address, value: 1n })
    const before = await client.getBlock()
    node.chain.reorg(1)
    expect(await client.getBlockNumber()).toBe(1n)
    expect((await client.getBlock()).hash).not.toBe(before.hash)
    await expect(client.getTransactionReceipt({ hash })).rejects.toThrow()
    expect(await client.getBalance({ address: alice.address })).toBe(parseEther('100'))
    expect(await client.getTransactionCount({ address: alice.address })).toBe(0)
  })

  it('is the same node again: the same calls give the same hashes, blocks and times', async () => {
    const seen: Json[] = []
    for (const round of [1, 2]) {
      const { client, wallet } = clients()
      await wallet.writeContract({ ...token, functionName: 'transfer', args: [bob.address, 1n] })
      const block = await client.request({
        method: 'eth_getBlockByNumber',
        params: ['latest', true]
      })
      seen.push(block as unknown as Json)
      await node.close()
      if (round === 1) node = await startNode()
    }
    expect(seen[0]).toEqual(seen[1])
  })
})

describe('a fake node that fails as its script says', () => {
  const signal = new AbortController().signal
  const reading = {
    type: 'evm_read',
    to: tokenAt,
    abi: tokenAbi.balanceOf as Json,
    args: { account: bob.address }
  }

  // A delay of 60 seconds is longer than a read waits.
  it.each<readonly [string, EvmNodeFault]>([
    ['rpc_rate_limited', { status: 429, headers: { 'retry-after': '60' } }],
    ['rpc_down', { status: 503 }],
    ['rpc_down', { breaks: 'before' }],
    ['rpc_down', { breaks: 'after' }],
    ['rpc_malformed', { breaks: 'malformed' }],
    ['rpc_error', { error: { code: -32_000, message: 'not now' } }]
  ])('gives the executor %s, and answers again: %o', async (code, fault) => {
    const executor = executorOf(node)
    const read = () => executor.read({ chain: node.id, execution: reading }, { key: 'k', signal })
    node.script = ({ method, nth }) => (method === 'eth_call' && nth === 0 ? fault : undefined)
    const error = await read().catch((one: unknown) => one)
    expect(chainFailureOf(error)?.code).toBe(code)
    expect(await read()).toEqual({ units: '10' })
  })

  it('shows the headers of a refusal over plain HTTP', async () => {
    node.script = () => ({ status: 429, headers: { 'retry-after': '7' } })
    const asked = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }
    const response = await fetch(node.url, { method: 'POST', body: JSON.stringify(asked) })
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7'])
    const bad = await fetch(node.url, { method: 'POST', body: '{"method":' })
    expect(bad.status).toBe(200)
    expect(await bad.json()).toMatchObject({ error: { code: -32_600 } })
  })

  it('hangs until the time of a fake clock is over', async () => {
    const clock = new FakeClock()
    const chains = { [node.id]: { rpc: [node.url], signer: 'env:KEY', rpcTimeoutMs: 5_000 } }
    const executor = evmExecutor({ chains, environment: { KEY: keys[0] }, clock })
    const asked = new Promise<void>((resolve) => {
      node.script = ({ method }) => {
        if (method !== 'eth_call') return undefined
        resolve()
        return { breaks: 'hang' }
      }
    })
    const read = executor.read({ chain: node.id, execution: reading }, { key: 'k', signal })
    const failure = read.catch((error: unknown) => chainFailureOf(error)?.code)
    await asked
    await clock.advance(5_000)
    expect(await failure).toBe('rpc_timeout')
  })

  it('L7: loses the answer to a sending that has landed, and a run pays once', async () => {
    let isLost = false
    node.script = ({ method, nth }) => {
      isLost ||= method === 'eth_sendRawTransaction'
      return method === 'eth_sendRawTransaction' && nth === 0 ? { breaks: 'after' } : undefined
    }
    await using runtime = await openSending([executorOf(node, { pollMs: 1 })])
    const execution = transfer(bob.address, 3n)
    const { status } = await sendOnce(runtime, { chain: node.id, execution })
    expect({ status, isLost }).toEqual({ status: 'done', isLost: true })
    expect(node.chain.effective()).toHaveLength(1)
  })
})

it('a fake node without money and tokens answers as an empty chain', async () => {
  await using empty = await startEvmNode({ chainId: 5 })
  expect(empty.id).toBe('eip155:5')
  const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'eth_getCode', params: [tokenAt] })
  const response = await fetch(empty.url, { method: 'POST', body })
  expect(await response.json()).toEqual({ jsonrpc: '2.0', id: 7, result: '0x' })
  expect(empty.calls.map(({ method }) => method)).toEqual(['eth_getCode'])
})
