import { recoverTransactionAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../../src/core/index.js'
import { evmExecutor, httpTransport } from '../../../../src/executor/evm/index.js'
import type { Executor, SendOptions } from '../../../../src/executor/index.js'
import type { WiredRuntime } from '../../../../src/runtime/index.js'
import {
  anvilKeys,
  artifact,
  call,
  fragment,
  mempool,
  namedOutputs,
  other,
  owner,
  startChain,
  type TestChain,
  third
} from '../../../support/anvil.js'
import { openSending, sendOnce } from '../../../support/anvil-send.js'

const token = artifact('ExampleToken')
const bridge = artifact('BridgeLock')
const environment = { OWNER_KEY: anvilKeys[0], OTHER_KEY: anvilKeys[1] }

let chain: TestChain
let evm: Executor
let runtime: WiredRuntime
let tokenAt: string
let bridgeAt: string
/** The methods of each request to the node, in order. */
const requests: string[][] = []

beforeAll(async () => {
  chain = await startChain()
  tokenAt = await chain.deploy(token, ['Example', 'EXT', 6, 1_000_000n])
  bridgeAt = await chain.deploy(bridge, [])
  evm = evmExecutor({
    chains: {
      [chain.id]: {
        rpc: [chain.url],
        signer: 'env:OWNER_KEY',
        signers: { poor: 'env:OTHER_KEY', nobody: 'env:NOT_SET' },
        pollMs: 10,
        timeoutMs: 2_000
      }
    },
    environment,
    transport: (request) => {
      const calls = [JSON.parse(request.body)].flat() as readonly { readonly method: string }[]
      requests.push(calls.map(({ method }) => method))
      return httpTransport(request)
    }
  })
  runtime = await openSending([evm])
})
afterAll(async () => {
  await runtime.close()
  await chain.anvil.stop()
})

async function balance(account: string): Promise<string> {
  const abi = namedOutputs(fragment(token, 'balanceOf'), 'balance')
  const execution = { type: 'evm_read', to: tokenAt, abi, args: { account } }
  const request = { chain: chain.id, execution }
  const outputs = await evm.read(request, { key: 'k', signal: new AbortController().signal })
  return String(outputs['balance'])
}

function transfer(to: string, value: string): SendOptions {
  return { chain: chain.id, execution: call(tokenAt, token, 'transfer', { to, value }) }
}

/** Sends and gives the failure that ended it. */
async function failing(options: SendOptions): Promise<JsonObject> {
  const { status, response } = await sendOnce(runtime, options)
  expect(status).toBe('failed')
  expect(response.details).toMatchObject({ code: response.reason as string })
  return response.details as JsonObject
}

describe('a write to an EVM chain', () => {
  it('L7: is prepared, signed, sealed, sent and confirmed, and replays without the chain', async () => {
    const before = await balance(other.address)
    const { response, id } = await sendOnce(runtime, transfer(other.address, '25'))
    expect(response).toMatchObject({
      success: true,
      data: { confirmations: 1, outputs: { receipt: { status: 'success' } } }
    })
    expect(BigInt(await balance(other.address)) - BigInt(before)).toBe(25n)
    const entries: JsonObject[] = []
    for await (const { value } of runtime.journal(id)) entries.push(value as JsonObject)
    const order = entries
      .filter(({ k }) => k === 'sealed' || k === 'requested')
      .map(({ k, effect }) => `${String(k)} ${String(effect)}`)
    expect(order.slice(0, 5)).toEqual([
      'requested chain.prepare',
      'sealed chain.prepare',
      'requested chain.broadcast',
      'sealed chain.broadcast',
      'sealed chain.look'
    ])
    const { hash } = (response.data ?? {}) as { readonly hash: string }
    expect(
      entries.find(({ k, effect }) => k === 'sealed' && effect === 'chain.prepare')?.['body']
    ).toMatchObject({
      kind: 'signed',
      transaction: {
        hash,
        from: owner.address,
        chain: chain.id,
        raw: expect.stringMatching(/^0x02/)
      }
    })
    expect((await runtime.verify()).failure).toBeUndefined()
  })

  it('W11: takes three requests to the node, and one more for each look at what is pending', async () => {
    requests.length = 0
    await sendOnce(runtime, transfer(other.address, '1'))
    const look = [
      'eth_getTransactionReceipt',
      'eth_blockNumber',
      'eth_getTransactionByHash',
      'eth_chainId'
    ]
    const taken = [
      [
        'eth_getTransactionCount',
        'eth_getTransactionCount',
        'eth_estimateGas',
        'eth_getBalance',
        'eth_getBlockByNumber',
        'eth_maxPriorityFeePerGas',
        'eth_chainId'
      ],
      ['eth_sendRawTransaction']
    ]
    // A node that is slow to mine is looked at again.
    expect(requests).toEqual([...taken, look, ...requests.slice(3).map(() => look)])
    await chain.rpc('evm_setAutomine', [false])
    try {
      requests.length = 0
      const sent = sendOnce(runtime, transfer(other.address, '1'), { id: 'looked-at' })
      await mempool(chain, 1)
      while (requests.length < 5) await new Promise((resolve) => setTimeout(resolve, 5))
      await chain.rpc('evm_mine', [])
      expect((await sent).status).toBe('done')
    } finally {
      await chain.rpc('evm_setAutomine', [true])
    }
    expect(requests.slice(0, 2)).toEqual(taken)
    const looks: Json[] = []
    for await (const { value } of runtime.journal('looked-at')) {
      const { k, effect, body } = value as JsonObject
      if (k === 'sealed' && effect === 'chain.look')
        looks.push((body as JsonObject)['status'] ?? '')
    }
    expect(looks.slice(0, 2)).toEqual(['pending', 'pending'])
    expect(requests.slice(2)).toEqual(looks.map(() => look))
  })

  it('waits for confirmations, and decodes events by their fragments', async () => {
    await sendOnce(runtime, {
      chain: chain.id,
      execution: call(tokenAt, token, 'approve', { spender: bridgeAt, value: '100' })
    })
    const args = { token: tokenAt, amount: '40', toChain: 'solana', to: `0x${'11'.repeat(32)}` }
    const events = [fragment(bridge, 'Locked')]
    const sent = sendOnce(runtime, {
      chain: chain.id,
      execution: call(bridgeAt, bridge, 'send', args, { events: events as Json[] }),
      confirmations: 3
    })
    const mining = setInterval(() => void chain.rpc('evm_mine', []), 30)
    const { response } = await sent
    clearInterval(mining)
    expect(response.data).toMatchObject({ outputs: { receipt: { status: 'success' } } })
    const { outputs, confirmations } = response.data as {
      readonly confirmations: number
      readonly outputs: { readonly receipt: { readonly logs: readonly JsonObject[] } }
    }
    expect(confirmations).toBeGreaterThanOrEqual(3)
    expect(outputs.receipt.logs.find(({ event }) => event === 'Locked')?.['args']).toMatchObject({
      sender: owner.address,
      message: { token: tokenAt, amount: '40', toChain: 'solana' }
    })
  })

  it('sends several calls as one transaction, with a deadline', async () => {
    const note = fragment(bridge, 'note')
    const calls = [1, 2, 3].map((value) => ({ abi: note, args: { value: String(value) } }))
    const at = { chain: chain.id }
    const plain = { type: 'evm_multicall', to: bridgeAt, calls }
    expect((await sendOnce(runtime, { ...at, execution: plain })).status).toBe('done')
    const late = { ...plain, deadline: '1', errors: [fragment(bridge, 'DeadlinePassed')] }
    expect(await failing({ ...at, execution: late })).toMatchObject({
      code: 'reverted',
      phase: 'prepare',
      sent: false,
      revert: { name: 'DeadlinePassed', args: { deadline: '1' } }
    })
  })

  it('gives nonces one by one to writes that start at once', async () => {
    const before = BigInt(await balance(other.address))
    const all = Array.from({ length: 8 }, (_, n) =>
      sendOnce(runtime, transfer(other.address, '1'), { id: `at-once-${n}` })
    )
    for (const { status } of await Promise.all(all)) expect(status).toBe('done')
    expect(BigInt(await balance(other.address)) - before).toBe(8n)
  })
})

describe('a refusal', () => {
  it('W10: names a custom error with its arguments before anything is sent', async () => {
    const nonce = await chain.client.getTransactionCount({ address: owner.address })
    expect(await failing(transfer(other.address, '99999999999'))).toMatchObject({
      code: 'reverted',
      phase: 'prepare',
      chain: chain.id,
      executionType: 'evm_call',
      sent: false,
      retryable: false,
      revert: {
        name: 'ERC20InsufficientBalance',
        args: { sender: owner.address, needed: '99999999999' }
      }
    })
    expect(await chain.client.getTransactionCount({ address: owner.address })).toBe(nonce)
  })

  it('W10: gives the text of a require, and errors that the execution names', async () => {
    const args = { token: tokenAt, amount: '1', toChain: '', to: `0x${'00'.repeat(32)}` }
    const execution = call(bridgeAt, bridge, 'send', args)
    expect(await failing({ chain: chain.id, execution })).toMatchObject({
      revert: { name: 'Error', reason: 'no destination' }
    })
    const zero = { ...args, amount: '0', toChain: 'x' }
    const unnamed = await failing({
      chain: chain.id,
      execution: call(bridgeAt, bridge, 'send', zero)
    })
    expect(unnamed['revert']).toMatchObject({ name: null, data: expect.stringMatching(/^0x/) })
    const errors = [fragment(bridge, 'ZeroAmount')]
    const named = call(bridgeAt, bridge, 'send', zero, { errors })
    expect(await failing({ chain: chain.id, execution: named })).toMatchObject({
      revert: { name: 'ZeroAmount', args: { token: tokenAt } }
    })
  })

  it('W10: reports a transaction that was included and reverted, with the reason', async () => {
    await chain.rpc('evm_setAutomine', [false])
    try {
      // Fine when it is prepared, and too late when it is included.
      const { timestamp } = await chain.client.getBlock()
      const execution = {
        type: 'evm_multicall',
        to: bridgeAt,
        calls: [{ abi: fragment(bridge, 'note'), args: { value: '1' } }],
        deadline: String(timestamp + 100n),
        errors: [fragment(bridge, 'DeadlinePassed')]
      }
      const sent = failing({ chain: chain.id, execution })
      await mempool(chain, 1)
      await chain.rpc('evm_setNextBlockTimestamp', [Number(timestamp + 1_000n)])
      await chain.rpc('evm_mine', [])
      expect(await sent).toMatchObject({
        code: 'reverted',
        phase: 'confirm',
        sent: true,
        revert: { name: 'DeadlinePassed', args: { deadline: String(timestamp + 100n) } },
        transaction: { from: owner.address }
      })
    } finally {
      await chain.rpc('evm_setAutomine', [true])
    }
  })

  it('W15: does not sign what could cost more than it may', async () => {
    const sent = await chain.client.getTransactionCount({ address: owner.address })
    const dear = { ...transfer(third.address, '1'), maxFee: '1' }
    expect(await failing(dear)).toMatchObject({
      code: 'fee_too_high',
      phase: 'prepare',
      sent: false,
      retryable: true
    })
    expect(await chain.client.getTransactionCount({ address: owner.address })).toBe(sent)
    const free = { ...transfer(third.address, '1'), maxFee: (10n ** 18n).toString() }
    expect(await sendOnce(runtime, free)).toMatchObject({ status: 'done' })
    expect(await chain.client.getTransactionCount({ address: owner.address })).toBe(sent + 1)
  })

  it('says what is missing: funds, keys, accounts, contracts, chains', async () => {
    const poor = { ...transfer(owner.address, '1'), account: 'poor' }
    await chain.rpc('anvil_setBalance', [other.address, '0x1'])
    expect(await failing(poor)).toMatchObject({ code: 'insufficient_funds', sent: false })
    expect(await failing({ ...poor, account: 'nobody' })).toMatchObject({ code: 'missing_secret' })
    expect(await failing({ ...poor, account: 'unheard' })).toMatchObject({
      code: 'unknown_account'
    })
    expect(await failing({ ...poor, chain: 'eip155:5' })).toMatchObject({ code: 'unknown_chain' })
    expect(await failing({ ...poor, chain: 'solana:x' })).toMatchObject({ code: 'unknown_chain' })
    const execution = { type: 'evm_read', to: tokenAt, abi: fragment(token, 'symbol') }
    expect(await failing({ chain: chain.id, execution })).toMatchObject({
      code: 'invalid_execution'
    })
  })

  it('signs with the key that is behind a name now', async () => {
    const changing = { KEY: anvilKeys[0] as string }
    const rotated = evmExecutor({
      chains: { [chain.id]: { rpc: [chain.url], signer: 'env:KEY' } },
      environment: changing
    })
    const options = { key: 'k', signal: new AbortController().signal }
    const signer = async () => (await rotated.account({ chain: chain.id }, options)).address
    expect(await signer()).toBe(owner.address)
    changing.KEY = anvilKeys[2]
    expect(await signer()).toBe(third.address)
    const { execution } = transfer(other.address, '0')
    const prepared = await rotated.prepare({ chain: chain.id, execution }, options)
    const raw = (prepared.kind === 'signed' ? prepared.transaction.raw : '0x') as `0x02${string}`
    expect(await recoverTransactionAddress({ serializedTransaction: raw })).toBe(third.address)
  })

  it('refuses an endpoint that serves another chain', async () => {
    const wrong = evmExecutor({
      chains: { 'eip155:999': { rpc: [chain.url], signer: 'env:OWNER_KEY' } },
      environment
    })
    const second = await openSending([wrong])
    const options = { ...transfer(other.address, '1'), chain: 'eip155:999' }
    const { response } = await sendOnce(second, options)
    expect(response.details).toMatchObject({
      code: 'chain_mismatch',
      retryable: false,
      sent: false
    })
    await second.close()
  })
})
