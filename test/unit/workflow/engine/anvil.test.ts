import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Clock, type Json, systemClock } from '../../../../src/core/index.js'
import { evmExecutor } from '../../../../src/executor/evm/index.js'
import { chainProviders } from '../../../../src/executor/index.js'
import { createRuntime, MEMORY_LOCATION } from '../../../../src/runtime/index.js'
import { troublesOf } from '../../../../src/workflow/engine/diagnose.js'
import { aisText } from '../../../support/ais.js'
import { flow, transfer } from '../../../support/ais-flows.js'
import {
  anvilKeys,
  artifact,
  owner,
  startChain,
  type TestChain,
  third
} from '../../../support/anvil.js'

/** Workflows on a real EVM chain. */

const text = (name: string) =>
  readFileSync(new URL(`../../../../examples/03-evm-transfer/${name}`, import.meta.url), 'utf8')

let chain: TestChain
let token: string
let bridge: string
beforeAll(async () => {
  chain = await startChain()
  token = await chain.deploy(artifact('ExampleToken'), ['Example', 'EXT', 6, 100_000_000n])
  bridge = await chain.deploy(artifact('BridgeLock'), [])
})
afterAll(() => chain.anvil.stop())

async function pay(
  given: { readonly payment: string; readonly bridged: string },
  {
    writes = 'broadcast',
    bridge: at = bridge,
    key = anvilKeys[0]
  }: {
    readonly writes?: 'broadcast' | 'simulate'
    readonly bridge?: string
    readonly key?: string | undefined
  } = {}
) {
  const evm = evmExecutor({
    chains: { [chain.id]: { rpc: [chain.url], signer: 'env:KEY', pollMs: 20 } },
    environment: { KEY: key }
  })
  await using tally = await createRuntime({
    location: MEMORY_LOCATION,
    providers: chainProviders([evm]),
    workflow: {
      onError: 'stop',
      protocols: [text('erc20.yaml'), text('bridge.yaml')],
      writes,
      policy: { autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 }
    }
  })
  const inputs = {
    inputs: { recipient: third.address, ...given },
    contracts: { bridge: at },
    calculated: {
      token: { chain_id: chain.id, address: token, decimals: 6 }
    }
  } as unknown as Json
  const { status, response } = await tally.begin(text('pay.yaml'), { id: 'pay', inputs }).result
  const { ok } = await tally.verify()
  return { status, response, ok, troubles: troublesOf({ waits: [], response }) }
}

describe('a workflow on anvil', () => {
  it('W11: pays, approves only what is needed, and replays without the chain', async () => {
    const first = await pay({ payment: '12.5', bridged: '30' })
    expect(first).toMatchObject({
      status: 'done',
      ok: true,
      response: {
        data: {
          received: '12.5',
          locked: '30',
          approved: true,
          message_id: expect.stringMatching(/^0x[0-9a-f]{64}$/)
        }
      }
    })
    const balance = await chain.client.readContract({
      address: token as `0x${string}`,
      abi: artifact('ExampleToken').abi as never,
      functionName: 'balanceOf',
      args: [owner.address]
    } as never)
    expect(balance).toBe(57_500_000n)
  })

  it('W10: tells what a contract refuses, by the name of its error', async () => {
    const { status, troubles, ok } = await pay({ payment: '1', bridged: '0' })
    expect(status).toBe('failed')
    expect(ok).toBe(true)
    expect(troubles).toMatchObject([
      { nodeId: 'send', diagnostic: { code: 'reverted', revert: { name: 'ZeroAmount' } } }
    ])
  })

  it('simulates against the chain as it is, and sends nothing', async () => {
    const before = await chain.rpc('eth_blockNumber', [])
    const amounts = { payment: '1', bridged: '2' }
    const { status, response, troubles, ok } = await pay(amounts, { writes: 'simulate' })
    // The approval was only simulated, so that the bridge may not take anything yet.
    expect([status, ok]).toEqual(['failed', true])
    expect(troubles).toMatchObject([
      { nodeId: 'send', diagnostic: { code: 'reverted', phase: 'simulate' } }
    ])
    expect(response.details).toMatchObject({ nodes: { approve: { status: 'done' } } })
    expect(await chain.rpc('eth_blockNumber', [])).toBe(before)
    const nonce = await chain.client.getTransactionCount({ address: owner.address })
    expect(nonce).toBe(
      await chain.client.getTransactionCount({
        address: owner.address,
        blockTag: 'pending'
      })
    )
  })

  it('W10: stops at an assertion before anything is sent', async () => {
    const before = await chain.rpc('eth_blockNumber', [])
    const { status, troubles } = await pay({ payment: '1000', bridged: '1' })
    expect(status).toBe('failed')
    expect(troubles).toMatchObject([
      {
        nodeId: 'funds',
        diagnostic: {
          code: 'assert_failed',
          message: 'the wallet holds less than both branches need'
        }
      }
    ])
    expect(await chain.rpc('eth_blockNumber', [])).toBe(before)
  })

  it('W15: sends nothing before all that is missing was listed', async () => {
    const before = await chain.rpc('eth_blockNumber', [])
    const poor = `0x${'7'.repeat(64)}`
    const nowhere = `0x${'7'.repeat(40)}`
    const amounts = { payment: '1', bridged: '2' }
    const { status, troubles, ok } = await pay(amounts, { bridge: nowhere, key: poor })
    expect([status, ok]).toEqual(['failed', true])
    const on = (about: string) => `${chain.id} ${about}`
    expect(troubles).toMatchObject([
      {
        nodeId: 'run__preflight',
        diagnostic: {
          code: 'not_ready',
          values: [
            { place: on('fees'), message: expect.stringContaining('insufficient_funds') },
            { place: on('contract'), message: expect.stringContaining(nowhere) }
          ]
        }
      }
    ])
    expect(await chain.rpc('eth_blockNumber', [])).toBe(before)
  })

  it('W11: finds what it has sent, though its arguments tell another time by now', async () => {
    let laterMs = 0
    const clock: Clock = {
      now: () => systemClock.now() + laterMs,
      schedule: (at, due) => systemClock.schedule(at - laterMs, due)
    }
    const evm = evmExecutor({
      chains: {
        [chain.id]: { rpc: [chain.url], signer: 'env:KEY', pollMs: 20, timeoutMs: 60 }
      },
      environment: { KEY: anvilKeys[0] }
    })
    await using tally = await createRuntime({
      location: MEMORY_LOCATION,
      clock,
      providers: chainProviders([evm]),
      workflow: {
        protocols: [aisText('erc20')],
        writes: 'broadcast',
        policy: { autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 }
      }
    })
    const lit = { chain_id: chain.id, address: token, decimals: 6 }
    const args = { token: { lit }, to: { lit: third.address }, amount: { cel: 'ctx.now % 1000' } }
    const count = () => chain.client.getTransactionCount({ address: owner.address })
    const before = await count()
    await chain.rpc('evm_setAutomine', [false])
    const document = flow([transfer('pay', { args })], { default_chain: chain.id })
    const run = tally.begin(document, { id: 'pay', inputs: {} })
    for await (const { type } of run) {
      if (type === 'run.finished') break
      const [wait] = type === 'run.parked' ? await run.waits() : []
      if (wait === undefined) continue
      laterMs += 1_500
      if (laterMs > 3_000) await chain.rpc('evm_mine', [])
      const { token: named, digest } = wait
      await run.resume(named, { digest, action: 'retry' })
    }
    await chain.rpc('evm_setAutomine', [true])
    await chain.rpc('evm_mine', [])
    expect([(await run.result).status, (await count()) - before]).toEqual(['done', 1])
    expect(await tally.verify()).toMatchObject({ ok: true })
  })
})
