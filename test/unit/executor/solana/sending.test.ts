import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ManualClock } from '../../../../src/core/index.js'
import { chainFailureOf, type SendOptions } from '../../../../src/executor/index.js'
import { solanaExecutor } from '../../../../src/executor/solana/index.js'
import type { RpcFault } from '../../../../src/testing/rpc-node/index.js'
import type { SolanaNode } from '../../../../src/testing/solana-node/index.js'
import { openSending, sendOnce } from '../../../support/anvil-send.js'
import { cases } from '../../../support/effort.js'
import {
  alice,
  aliceKey,
  bob,
  executorOf,
  LAMPORTS,
  LEAST,
  startSolana,
  transfer
} from '../../../support/solana-executor.js'

let node: SolanaNode

beforeEach(async () => {
  node = await startSolana()
})
afterEach(() => node.close())

const write = (more: Partial<SendOptions> = {}): SendOptions => ({
  chain: node.id,
  execution: transfer(LEAST),
  timeoutMs: 2_000,
  pollMs: 1,
  ...more
})

const moved = () => node.lamports(bob.address) - LAMPORTS

/** Sends once, with these settings of the chain. */
async function sent(more: Parameters<typeof executorOf>[1] = {}, options = write()) {
  const runtime = await openSending([executorOf(node, more)])
  try {
    return await sendOnce(runtime, options)
  } finally {
    expect((await runtime.verify()).failure).toBeUndefined()
    await runtime.close()
  }
}

/** Fails calls to a method, the first `times` of them. */
function failing(method: string, fault: RpcFault, times = Number.POSITIVE_INFINITY) {
  node.script = (call) => (call.method === method && call.nth < times ? fault : undefined)
}

const asked = (method: string) => node.calls.filter((call) => call.method === method)

describe('a write to a Solana chain', () => {
  it('W11: is done when its commitment is reached', async () => {
    const { status, response } = await sent()
    expect(status).toBe('done')
    expect(response.data).toMatchObject({
      confirmations: 3,
      outputs: { confirmation: { status: 'success', commitment: 'confirmed' } }
    })
    expect(moved()).toBe(BigInt(LEAST))
    const later = await sent({ commitment: 'finalized' })
    expect(later.response.data).toMatchObject({
      outputs: { confirmation: { commitment: 'finalized' } }
    })
  })

  it('L7: takes effect for each of two that are alike and have one blockhash', async () => {
    node.slotsPerRequest = 0
    const executor = executorOf(node)
    const signal = new AbortController().signal
    const hashes: string[] = []
    for (const key of ['one', 'two', 'two']) {
      const request = { chain: node.id, execution: transfer(LEAST) }
      const prepared = await executor.prepare(request, { key, signal })
      if (prepared.kind !== 'signed') throw new Error(prepared.kind)
      hashes.push(prepared.transaction.hash)
      await executor.broadcast(prepared.transaction, { key, signal })
    }
    expect(new Set(hashes).size).toBe(2)
    expect(moved()).toBe(2n * BigInt(LEAST))
  })
})

describe('an endpoint that fails a write', () => {
  const faults: readonly [string, string, RpcFault][] = [
    ['drops it', 'sendTransaction', { breaks: 'before' }],
    ['carries it out and loses the answer', 'sendTransaction', { breaks: 'after' }],
    ['carries it out twice', 'sendTransaction', { repeats: true }],
    ['answers no JSON', 'sendTransaction', { breaks: 'malformed' }],
    ['is busy', 'sendTransaction', { status: 429 }],
    ['is out of order', 'sendTransaction', { status: 503 }],
    ['is behind', 'sendTransaction', { error: { code: -32005, message: 'Node is behind' } }],
    [
      'knows no blockhash',
      'sendTransaction',
      {
        error: { code: -32002, message: 'Blockhash not found', data: { err: 'BlockhashNotFound' } }
      }
    ],
    ['loses the answer to a look', 'getSignatureStatuses', { breaks: 'after' }],
    ['is busy when it is looked at', 'getSignatureStatuses', { status: 429 }]
  ]

  it.each(faults)('W11: %s: makes one transfer', async (_, method, fault) => {
    failing(method, fault, 2)
    const { status } = await sent()
    expect(status).toBe('done')
    expect(moved()).toBe(BigInt(LEAST))
  })

  it('W11: hangs: makes one transfer when its time is over', async () => {
    const clock = new ManualClock()
    let hung = 0
    node.script = ({ method, nth }) => {
      if (method !== 'sendTransaction' || nth > 0) return undefined
      hung += 1
      setImmediate(() => clock.advance(60_000))
      return { breaks: 'hang' }
    }
    const executor = solanaExecutor({
      chains: { [node.id]: { rpc: [node.url], signer: 'env:KEY' } },
      environment: { KEY: aliceKey },
      clock
    })
    const runtime = await openSending([executor])
    const { status } = await sendOnce(runtime, write())
    await runtime.close()
    expect({ status, hung }).toEqual({ status: 'done', hung: 1 })
    expect(moved()).toBe(BigInt(LEAST))
  })

  it('W11: serves another chain: nothing is signed', async () => {
    const other = { id: `solana:${'1'.repeat(32)}`, url: node.url }
    const runtime = await openSending([executorOf(other)])
    const { response } = await sendOnce(runtime, write({ chain: other.id }))
    await runtime.close()
    expect(response).toMatchObject({ reason: 'chain_mismatch' })
    expect(asked('sendTransaction')).toEqual([])
    expect(asked('simulateTransaction')).toEqual([])
  })

  it('W11: comes to serve another chain before a write: nothing is signed', async () => {
    await using second = await startSolana({ genesisHash: bob.address })
    const environment = { KEY: aliceKey, RPC: node.url }
    const executor = solanaExecutor({
      chains: { [node.id]: { rpc: ['env:RPC'], signer: 'env:KEY' } },
      environment
    })
    const request = { chain: node.id, execution: transfer(LEAST) }
    const call = { key: 'k', signal: new AbortController().signal }
    await executor.simulate(request, call)
    environment.RPC = second.url
    const error = await executor.prepare(request, call).catch((one: unknown) => one)
    expect(chainFailureOf(error)?.code).toBe('chain_mismatch')
  })

  it('W11: one of two is stale: the other says that it has landed', async () => {
    await using stale = await startSolana()
    stale.slotsPerRequest = 0
    const runtime = await openSending([executorOf(node, { rpc: [node.url, stale.url] })])
    // The first loses every look, so that the second, which knows nothing, is asked.
    node.script = ({ method, nth }) =>
      method === 'getSignatureStatuses' && nth < 8 ? { status: 503 } : undefined
    stale.slotsPerRequest = 100
    const { status } = await sendOnce(runtime, write())
    await runtime.close()
    expect(status).toBe('done')
    expect(moved() + stale.lamports(bob.address) - LAMPORTS).toBe(BigInt(LEAST))
  })
})

describe('a transaction that expires', () => {
  it('W11: is replaced within the attempt by one with a new blockhash', async () => {
    node.slotsPerRequest = 30
    // Whatever is sent first is lost on its way, also when it is sent again.
    let lost: string | undefined
    node.script = ({ method, params }) => {
      if (method !== 'sendTransaction') return undefined
      lost ??= String(params[0])
      return params[0] === lost ? { breaks: 'before' } : undefined
    }
    const { status, response } = await sent()
    expect(status).toBe('done')
    expect(response).toMatchObject({ data: { outputs: { confirmation: { status: 'success' } } } })
    expect(new Set(asked('sendTransaction').map(({ params }) => params[0])).size).toBe(2)
    expect(moved()).toBe(BigInt(LEAST))
  })

  it('W11: is not given up by an endpoint that keeps no history', async () => {
    node.slotsPerRequest = 30
    node.script = ({ method }) => {
      if (method === 'sendTransaction') return { breaks: 'before' }
      if (method !== 'getFirstAvailableBlock') return undefined
      return { error: { code: -32601, message: 'Method not found' } }
    }
    const { status, response } = await sent({}, write({ timeoutMs: 40, pollMs: 4 }))
    expect(status).toBe('failed')
    expect(response).toMatchObject({ reason: 'timed_out', details: { sent: true } })
    expect(new Set(asked('sendTransaction').map(({ params }) => params[0])).size).toBe(1)
  })

  it('W11: takes effect once, whenever it lands and however fast blocks come', async () => {
    const scene = fc.record({
      landsAfter: fc.integer({ min: 0, max: 190 }),
      // Faster, and it has expired before it is signed.
      slotsPerRequest: fc.integer({ min: 1, max: 25 }),
      lost: fc.integer({ min: 0, max: 3 })
    })
    await fc.assert(
      fc.asyncProperty(scene, async ({ landsAfter, slotsPerRequest, lost }) => {
        await using own = await startSolana({ slotsPerRequest })
        const from = own.slot
        own.holds = () => own.slot < from + landsAfter
        own.script = ({ method, nth }) =>
          method === 'sendTransaction' && nth < lost ? { breaks: 'after' } : undefined
        const runtime = await openSending([executorOf(own)])
        const { status } = await sendOnce(runtime, { ...write(), chain: own.id, timeoutMs: 5_000 })
        await runtime.close()
        expect(status).toBe('done')
        expect(own.lamports(bob.address) - LAMPORTS).toBe(BigInt(LEAST))
      }),
      { numRuns: cases({ usual: 5, long: 22, soak: 500 }) }
    )
  })
})

describe('a program that refuses', () => {
  it('W10: is told by its error and its logs, before anything is sent', async () => {
    const { response } = await sent({}, write({ execution: transfer(2n * LAMPORTS) }))
    expect(response).toMatchObject({
      reason: 'reverted',
      details: {
        phase: 'prepare',
        sent: false,
        programError: { instruction: 0, name: 'ResultWithNegativeLamports', code: '1' }
      }
    })
    const { logs } = response.details as { readonly logs: readonly string[] }
    expect(logs.join('\n')).toContain('insufficient lamports')
    expect(asked('sendTransaction')).toEqual([])
  })

  it('W10: is told as well when it refuses after it was sent', async () => {
    // Between signing and sending, the lamports go elsewhere.
    const executor = executorOf(node)
    const signal = new AbortController().signal
    const execution = transfer(LAMPORTS - 1_000_000_000n)
    const call = { key: 'k', signal }
    const first = await executor.prepare({ chain: node.id, execution }, { ...call, key: 'first' })
    const second = await executor.prepare({ chain: node.id, execution }, call)
    if (first.kind !== 'signed' || second.kind !== 'signed') throw new Error('it is not signed')
    await executor.broadcast(first.transaction, call)
    await executor.broadcast(second.transaction, call)
    node.advance(3)
    const { chain, hash, from, nonce, validUntil } = second.transaction
    const look = { chain, hash, from, nonce, validUntil, execution, expected: null }
    expect(await executor.look(look, call)).toMatchObject({
      status: 'included',
      success: false,
      revert: { programError: { instruction: 0, name: 'ResultWithNegativeLamports' } }
    })
    expect(alice.address).toBe(from)
  })
})
