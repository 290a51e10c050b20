import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../../src/core/index.js'
import { evmExecutor } from '../../../../src/executor/evm/index.js'
import { chainFailureOf, type Execution, type Executor } from '../../../../src/executor/index.js'
import {
  artifact,
  fragment,
  namedOutputs,
  other,
  owner,
  startChain,
  type TestChain
} from '../../../support/anvil.js'

const token = artifact('ExampleToken')
const bridge = artifact('BridgeLock')
const call = { key: 'k', signal: new AbortController().signal }

let chain: TestChain
let evm: Executor
let tokenAt: string
let bridgeAt: string

beforeAll(async () => {
  chain = await startChain()
  tokenAt = await chain.deploy(token, ['Example', 'EXT', 6, 1_000_000n])
  bridgeAt = await chain.deploy(bridge, [])
  evm = evmExecutor({ chains: { [chain.id]: { rpc: [chain.url] } } })
})
afterAll(() => chain.anvil.stop())

const balanceOf = namedOutputs(fragment(token, 'balanceOf'), 'balance')
const decimals = namedOutputs(fragment(token, 'decimals'), 'decimals')

function read(execution: Execution, block?: string): Promise<JsonObject> {
  const request = { chain: chain.id, execution }
  return evm.read(block === undefined ? request : { ...request, block }, call)
}

async function failureOf(promise: Promise<unknown>) {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason
  )
  return chainFailureOf(error)
}

describe('reads of an EVM chain', () => {
  it('give outputs by name, whole numbers as decimal strings', async () => {
    const args = { account: owner.address }
    expect(await read({ type: 'evm_read', to: tokenAt, abi: balanceOf, args })).toEqual({
      balance: '1000000'
    })
    // A fragment may be JSON text, as documents often have it.
    const abi = JSON.stringify(decimals)
    expect(await read({ type: 'evm_read', to: tokenAt, abi })).toEqual({ decimals: '6' })
  })

  it('decode tuples, lists, texts, bytes and negative numbers', async () => {
    const abi = fragment(bridge, 'summary')
    const args = { token: tokenAt }
    expect(await read({ type: 'evm_read', to: bridgeAt, abi, args })).toEqual({
      last: { token: tokenAt, amount: '0', toChain: 'here', to: `0x${'00'.repeat(32)}` },
      sign: '-1',
      pair: ['0', '0']
    })
  })

  it('take several calls in a batch on one block, and through Multicall3 where it is', async () => {
    const calls = [
      { id: 'mine', to: tokenAt, abi: balanceOf, args: { account: owner.address } },
      { id: 'theirs', to: tokenAt, abi: balanceOf, args: { account: other.address } },
      { id: 'places', to: tokenAt, abi: decimals }
    ]
    const expected = {
      mine: { balance: '1000000' },
      theirs: { balance: '0' },
      places: { decimals: '6' }
    }
    expect(await read({ type: 'evm_multiread', method: 'rpc_batch', calls })).toEqual(expected)
    expect(await read({ type: 'evm_multiread', method: 'multicall3', calls })).toEqual(expected)
    const multicall3 = await chain.deploy(artifact('Multicall3'), [])
    const there = evmExecutor({ chains: { [chain.id]: { rpc: [chain.url], multicall3 } } })
    const execution = { type: 'evm_multiread', method: 'multicall3', calls }
    expect(await there.read({ chain: chain.id, execution }, call)).toEqual(expected)
    const wrong = [
      ...calls,
      { id: 'no', to: bridgeAt, abi: fragment(bridge, 'noteAt'), args: { index: '7' } }
    ]
    const failing = { type: 'evm_multiread', method: 'multicall3', calls: wrong }
    expect(
      await failureOf(there.read({ chain: chain.id, execution: failing }, call))
    ).toMatchObject({
      code: 'reverted',
      revert: { name: 'Panic', args: { code: '50' } }
    })
  })

  it('ask a node directly, by methods that change nothing', async () => {
    const params = [owner.address, 'latest']
    const { result } = await read({ type: 'evm_rpc', method: 'eth_getBalance', params })
    expect(BigInt(String(result))).toBe(await chain.client.getBalance({ address: owner.address }))
    const refused = read({ type: 'evm_rpc', method: 'eth_sendRawTransaction', params: ['0x'] })
    expect(await failureOf(refused)).toMatchObject({ code: 'invalid_execution', sent: false })
  })

  it('look at an earlier block when asked to', async () => {
    const execution = { type: 'evm_read', to: tokenAt, abi: decimals }
    expect(await read(execution, 'latest')).toEqual({ decimals: '6' })
    expect(await failureOf(read(execution, '0'))).toMatchObject({ code: 'invalid_execution' })
    expect(await failureOf(read(execution, 'yesterday'))).toMatchObject({
      code: 'invalid_execution'
    })
  })

  it('say why a contract refuses: panics, texts and errors by name', async () => {
    const abi = fragment(bridge, 'noteAt')
    const failure = await failureOf(
      read({ type: 'evm_read', to: bridgeAt, abi, args: { index: 3 } })
    )
    expect(failure).toMatchObject({
      code: 'reverted',
      phase: 'read',
      executionType: 'evm_read',
      retryable: false,
      revert: { name: 'Panic', reason: 'index out of bounds' },
      rpc: { endpoint: 0, method: 'eth_call' }
    })
  })

  it('refuse arguments that are missing, extra or do not fit, before asking anybody', async () => {
    const cases: readonly [JsonObject, RegExp][] = [
      [{}, /args.account: is missing/],
      [{ account: owner.address, more: 1 }, /args.more: is not in the ABI/],
      [{ account: '0x12' }, /not an address/],
      [{ account: 7 }, /not a text/]
    ]
    for (const [args, problem] of cases) {
      const execution = { type: 'evm_read', to: tokenAt, abi: balanceOf, args }
      expect(await evm.check(execution)).toMatch(problem)
      expect(await failureOf(read(execution))).toMatchObject({ code: 'invalid_execution' })
    }
    const transfer = fragment(token, 'transfer')
    for (const value of ['-1', '1.5', '01', String(2n ** 256n), 1.5, true, null]) {
      const args = { to: other.address, value }
      const execution = { type: 'evm_call', to: tokenAt, abi: transfer, args }
      expect(await evm.check(execution), String(value)).toMatch(/args.value/)
    }
    expect(await evm.check({ type: 'evm_dance' })).toMatch(/none of an EVM chain/)
    expect(await evm.check({ type: 'evm_read', to: tokenAt, abi: '{' })).toMatch(/JSON/)
    expect(await evm.check({ type: 'evm_read', to: tokenAt, abi: decimals, gas: 1 })).toMatch(/gas/)
  })
})
