import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Clock, type Json, type JsonObject, systemClock } from '../../../../src/core/index.js'
import { evmExecutor } from '../../../../src/executor/evm/index.js'
import type { Executor, SendOptions } from '../../../../src/executor/index.js'
import type { WiredRuntime } from '../../../../src/runtime/index.js'
import {
  anvilKeys,
  artifact,
  call,
  fragment,
  startChain,
  type TestChain
} from '../../../support/anvil.js'
import { type Fault, FaultyProxy, type ProxiedCall } from '../../../support/anvil-proxy.js'
import { openSending, readingOf, sendOnce } from '../../../support/anvil-send.js'
import { until } from '../../../support/lives.js'

const bridge = artifact('BridgeLock')
/** In the path and the query, as providers have it; and a key of an account. */
const planted = ['k3y-in-the-path-1234', 'k3y-in-the-query-5678', anvilKeys[0].slice(2)] as const

/** So long that it is never over by itself, however slow this machine is. */
const rpcTimeoutMs = 3_600_000
const waiting = new Set<() => void>()
/** Time that is over for calls only when the endpoint has been heard to hang. */
const clock: Clock = {
  now: () => systemClock.now(),
  schedule: (at, act) => {
    if (at - systemClock.now() < rpcTimeoutMs / 2) return systemClock.schedule(at, act)
    waiting.add(act)
    return () => waiting.delete(act)
  }
}

let chain: TestChain
let proxy: FaultyProxy
let directory: string
let bridgeAt: string
let runtime: WiredRuntime
let evm: Executor

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tally-evm-'))
  chain = await startChain()
  bridgeAt = await chain.deploy(bridge, [])
})
afterAll(async () => {
  await chain.anvil.stop()
  await rm(directory, { recursive: true, force: true })
})
beforeEach(async () => {
  proxy = await FaultyProxy.start(chain.url)
  const keyFile = join(directory, 'key')
  await writeFile(keyFile, `${anvilKeys[0]}\n`)
  evm = evmExecutor({
    chains: {
      [chain.id]: {
        rpc: ['env:RPC'],
        signer: `file:${keyFile}`,
        pollMs: 10,
        timeoutMs: 500,
        rpcTimeoutMs
      }
    },
    clock,
    environment: { RPC: `${proxy.url}/v2/${planted[0]}?token=${planted[1]}` }
  })
  runtime = await openSending([evm])
})
afterEach(async () => {
  await runtime.close()
  await proxy[Symbol.asyncDispose]()
})

function note(value: number): SendOptions {
  const execution = call(bridgeAt, bridge, 'note', { value: String(value) })
  return { chain: chain.id, execution }
}

/** Once the node has mined what it has taken: it answers a write before that. */
async function notes(): Promise<bigint> {
  await until(async () => {
    const pool = await chain.rpc('txpool_status', [])
    return (pool as JsonObject)['pending'] === '0x0'
  })
  return (await chain.client.readContract({
    address: bridgeAt as `0x${string}`,
    abi: [fragment(bridge, 'noteCount')] as never,
    functionName: 'noteCount'
  })) as bigint
}

const reading = () => ({
  type: 'evm_read',
  to: bridgeAt,
  abi: fragment(bridge, 'noteCount')
})

/** Everything that a run has left behind or told. */
async function everything(told: Json): Promise<string> {
  const kept: unknown[] = [told]
  for await (const record of runtime.runs()) {
    kept.push(record)
    for await (const entry of runtime.journal(record.runId)) kept.push(entry)
  }
  for await (const receipt of runtime.receipts()) kept.push(receipt)
  return JSON.stringify(kept)
}

/** Fails calls to a method, the first `times` of them. */
function failing(method: string, fault: Fault, times = Number.POSITIVE_INFINITY) {
  let left = times
  proxy.fault = (one: ProxiedCall) => {
    if (one.method !== method || left <= 0) return 'pass'
    left -= 1
    if (fault === 'hang') setImmediate(() => [...waiting].map((giveUp) => giveUp()))
    return fault
  }
}

describe('an endpoint that fails a read', () => {
  const faults: readonly [Fault, string][] = [
    ['drop_before', 'rpc_down'],
    ['server_error', 'rpc_down'],
    ['hang', 'rpc_timeout'],
    ['rate_limit', 'rpc_rate_limited'],
    ['malformed', 'rpc_malformed'],
    ['huge', 'rpc_malformed'],
    [{ result: 'no hex' }, 'rpc_malformed'],
    [{ result: { deep: [[[[[[['x'.repeat(2_000)]]]]]]] } }, 'rpc_malformed'],
    [{ error: { code: -32005, message: 'limit exceeded' } }, 'rpc_rate_limited'],
    [{ error: { code: -32000, message: `denied to ${planted[0]} at https://a.b/c` } }, 'rpc_error']
  ]

  it('W10: gets a diagnostic for each way, in which no secret is', async () => {
    for (const [fault, code] of faults) {
      failing('eth_call', fault)
      const { status, response } = await readingOf(runtime, {
        chain: chain.id,
        execution: reading()
      })
      expect(status).toBe('failed')
      expect(response.details).toMatchObject({
        code,
        phase: 'read',
        chain: chain.id,
        executionType: 'evm_read',
        retryable: true,
        sent: false,
        rpc: { method: 'eth_call' }
      })
      const size = JSON.stringify(response.details).length
      expect(size, `${code} is cut`).toBeLessThan(4_000)
      const text = await everything(response as unknown as Json)
      for (const secret of planted) expect(text).not.toContain(secret)
      // Between its borders: five digits alone are also in hashes.
      expect(text).not.toMatch(new RegExp(`\\b${new URL(proxy.url).port}\\b`))
      expect(text).not.toContain('a.b/c')
    }
  })

  it('is replaced by the next one, if that serves the right chain', async () => {
    const wrong = await startChain({ chainId: 77 })
    const two = (rpc: readonly string[]) =>
      evmExecutor({ chains: { [chain.id]: { rpc, rpcTimeoutMs } }, clock })
    const request = { chain: chain.id, execution: reading() }
    const options = { key: 'k', signal: new AbortController().signal }
    const dead = 'http://127.0.0.1:1'
    const outputs = await two([dead, chain.url]).read(request, options)
    expect(outputs).toEqual({ count: String(await notes()) })
    await expect(two([dead, wrong.url]).read(request, options)).rejects.toMatchObject({
      reason: 'rpc_down'
    })
    await expect(two([wrong.url]).read(request, options)).rejects.toMatchObject({
      reason: 'chain_mismatch'
    })
    await wrong.anvil.stop()
  })
})

describe('an endpoint that fails a write', () => {
  it('L7: has taken it when the connection broke after it, and is asked by hash', async () => {
    const before = await notes()
    failing('eth_sendRawTransaction', 'drop_after', 1)
    const { status } = await sendOnce(runtime, note(1))
    expect(status).toBe('done')
    expect(await notes()).toBe(before + 1n)
    expect(proxy.count('eth_sendRawTransaction')).toBe(1)
  })

  it('L7: gets the same bytes again when they never arrived', async () => {
    for (const fault of [
      'drop_before',
      'hang',
      'server_error',
      'malformed',
      'rate_limit'
    ] as const) {
      const before = await notes()
      failing('eth_sendRawTransaction', fault, 1)
      const { status } = await sendOnce(runtime, note(2))
      expect(status, fault).toBe('done')
      expect(await notes(), fault).toBe(before + 1n)
    }
    const sent = proxy.calls.filter(({ method }) => method === 'eth_sendRawTransaction')
    expect(sent).toHaveLength(10)
    expect(new Set(sent.map(({ params }) => params[0])).size).toBe(5)
  })

  it('L7: is not believed when it refuses what it has', async () => {
    const before = await notes()
    const words = ['already known', 'transaction underpriced', 'internal error']
    for (const [index, message] of words.entries()) {
      failing('eth_sendRawTransaction', { done: true, error: { code: -32000, message } }, 1)
      expect((await sendOnce(runtime, note(30 + index))).status, message).toBe('done')
    }
    expect([await notes(), proxy.count('eth_sendRawTransaction')]).toEqual([before + 3n, 3])
  })

  it('L7: is not believed while the chain does not show what it has, or cannot be asked', async () => {
    const before = await notes()
    const look = 'eth_getTransactionByHash'
    const known = ['already known', 'Known transaction', 'AlreadyKnown', 'already imported']
    const cases: readonly (readonly [string, Fault])[] = [
      ...[...known, 'Internal error'].map((said) => [said, { result: null }] as const),
      ['transaction underpriced', 'server_error']
    ]
    for (const [index, [message, unseen]] of cases.entries()) {
      let looks = 0
      proxy.fault = ({ method }) => {
        if (method === look && ++looks === 1) return unseen
        const isFirst = method === 'eth_sendRawTransaction' && looks === 0
        return isFirst ? { done: true, error: { code: -32000, message } } : 'pass'
      }
      expect((await sendOnce(runtime, note(40 + index))).status, message).toBe('done')
    }
    expect(await notes()).toBe(before + BigInt(cases.length))
  })

  it('tells a definite refusal, and leaves the nonce to the next write', async () => {
    const before = await notes()
    const error = { code: -32000, message: 'transaction underpriced' }
    failing('eth_sendRawTransaction', { error }, 1)
    const { response } = await sendOnce(runtime, note(4))
    expect(response.details).toMatchObject({
      code: 'rejected',
      phase: 'send',
      sent: false,
      rpc: { request: ['[signed bytes]'] }
    })
    expect((await sendOnce(runtime, note(5))).status).toBe('done')
    expect(await notes()).toBe(before + 1n)
  })

  it('is tolerated while it is looked at, and named when it does not come back', async () => {
    const before = await notes()
    failing('eth_getTransactionReceipt', 'rate_limit', 5)
    expect((await sendOnce(runtime, note(6))).status).toBe('done')
    failing('eth_getTransactionReceipt', 'server_error')
    const { response } = await sendOnce(runtime, { ...note(7), timeoutMs: 80 })
    expect(response.details).toMatchObject({ code: 'rpc_down', phase: 'confirm', sent: true })
    expect(await notes()).toBe(before + 2n)
    const text = await everything(response as unknown as Json)
    for (const secret of planted) expect(text).not.toContain(secret)
  })

  it('sends nothing when it cannot prepare', async () => {
    const before = proxy.count('eth_sendRawTransaction')
    for (const method of ['eth_estimateGas', 'eth_getTransactionCount', 'eth_getBalance']) {
      failing(method, 'server_error')
      const { response } = await sendOnce(runtime, note(8))
      expect((response.details as JsonObject)['phase']).toBe('prepare')
    }
    expect(proxy.count('eth_sendRawTransaction')).toBe(before)
  })
})

describe('an endpoint that lies', () => {
  const receiptOf = 'eth_getTransactionReceipt'
  const sent = () => proxy.count('eth_sendRawTransaction')
  /** A receipt of the node with some of its fields changed. */
  const altered = (fields: JsonObject): Fault => ({
    rewrite: (receipt) => (receipt === null ? null : { ...(receipt as JsonObject), ...fields })
  })
  const foreign: readonly JsonObject[] = [
    { transactionHash: `0x${'1'.repeat(64)}` },
    { from: `0x${'2'.repeat(40)}` },
    { status: 'yes' },
    { blockHash: null }
  ]

  it('W11: is not believed about a receipt of another transaction or sender', async () => {
    const before = await notes()
    for (const [index, fields] of foreign.entries()) {
      failing(receiptOf, altered(fields), 3)
      const { status } = await sendOnce(runtime, note(10 + index))
      expect(status, JSON.stringify(fields)).toBe('done')
    }
    failing(receiptOf, altered(foreign[0] ?? {}))
    const { response } = await sendOnce(runtime, { ...note(14), timeoutMs: 50 })
    const rpc = { method: receiptOf }
    expect(response.details).toMatchObject({ code: 'rpc_malformed', phase: 'confirm', rpc })
    expect(response.details).toMatchObject({ sent: true, retryable: true })
    expect([await notes(), sent()]).toEqual([before + 5n, 5])
  })

  it('W11: is found to serve another chain by now, before a write and after it', async () => {
    const before = await notes()
    expect((await sendOnce(runtime, note(20))).status).toBe('done')
    const other: Fault = { rewrite: () => '0x1' }
    failing('eth_chainId', other)
    const mismatch = { code: 'chain_mismatch', retryable: false }
    const refused = await sendOnce(runtime, note(21))
    expect(refused.response.details).toMatchObject({ ...mismatch, phase: 'prepare', sent: false })
    expect(sent()).toBe(1)
    // It changes after the bytes were taken.
    proxy.fault = ({ method }) => (method === 'eth_chainId' && sent() === 2 ? other : 'pass')
    const lost = await sendOnce(runtime, note(22))
    expect(lost.response.details).toMatchObject({ ...mismatch, phase: 'confirm', sent: true })
    proxy.fault = () => 'pass'
    expect([await notes(), sent()]).toEqual([before + 2n, 2])
  })

  it('W11: counts no confirmations while its head goes backwards', async () => {
    const head = Number(await chain.rpc('eth_blockNumber', []))
    failing('eth_blockNumber', { rewrite: () => `0x${(head - 1).toString(16)}` })
    const early = await sendOnce(runtime, { ...note(30), confirmations: 2, timeoutMs: 60 })
    expect(early.response.details).toMatchObject({ code: 'timed_out', sent: true })
  })

  it('W11: does not take our own transaction for one that has replaced it', async () => {
    const before = await notes()
    const none: Fault = { rewrite: () => null }
    let looks = 0
    // Its blocks know the transaction long before its index of receipts does.
    proxy.fault = ({ method }) => {
      if (method === receiptOf) looks += 1
      const isLate = method === receiptOf || method === 'eth_getTransactionByHash'
      return isLate && looks < 12 ? none : 'pass'
    }
    expect((await sendOnce(runtime, note(40))).status).toBe('done')
    expect([await notes(), sent()]).toEqual([before + 1n, 1])
  })
})

describe('a configuration', () => {
  it('takes secrets by reference only', () => {
    const chains = (config: object) => () =>
      evmExecutor({ chains: { 'eip155:1': { rpc: ['http://127.0.0.1:8545'], ...config } } })
    expect(chains({})).not.toThrow()
    const refused = [
      { signer: anvilKeys[0] },
      { rpc: ['https://eth.example/v2/0123456789abcdef0123456789abcdef'] },
      { rpc: ['https://user:password@eth.example'] },
      { rpc: ['https://eth.example/?key=1'] },
      { rpc: ['ftp://eth.example'] },
      { rpc: [] },
      { confirmations: 0 },
      { multicall3: '0x12' }
    ]
    for (const config of refused) {
      expect(chains(config), JSON.stringify(config)).toThrow('The chain eip155:1 cannot be used')
    }
    expect(() => evmExecutor({ chains: { 'solana:x': { rpc: ['env:X'] } } })).toThrow('CAIP-2')
  })
})
