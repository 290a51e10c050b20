import { afterAll, beforeAll, expect, it } from 'vitest'
import type { OpenWait } from '../../src/block/index.js'
import { type Json, systemClock } from '../../src/core/index.js'
import { evmExecutor } from '../../src/executor/evm/index.js'
import { chainProviders } from '../../src/executor/index.js'
import type { RunHandle, RunResult } from '../../src/runtime/index.js'
import { troublesOf } from '../../src/workflow/engine/diagnose.js'
import { aisText } from '../support/ais.js'
import { flow, transfer } from '../support/ais-flows.js'
import {
  anvilKeys,
  artifact,
  fragment,
  owner,
  startChain,
  type TestChain,
  third
} from '../support/anvil.js'
import { cases } from '../support/effort.js'
import { Machine, openOn } from '../support/lives.js'
import { mortalProvider } from '../support/mortal-provider.js'

/**
 * A transfer on a real node that makes no blocks: it is replaced, and one of the two lands,
 * wherever the process dies. Blocks come once the second waits, or else before it can be sent.
 */

const DEATHS = cases({ usual: 4, long: 6, soak: 200 })
const token = artifact('ExampleToken')

let chain: TestChain
let tokenAt: `0x${string}`
beforeAll(async () => {
  chain = await startChain()
  tokenAt = await chain.deploy(token, ['Example', 'EXT', 6, 100_000_000n])
  await chain.rpc('evm_setAutomine', [false])
})
afterAll(() => chain.anvil.stop())

function open(machine: Machine, store: Parameters<typeof openOn>[0]) {
  const evm = evmExecutor({
    chains: { [chain.id]: { rpc: [chain.url], signer: 'env:KEY', pollMs: 5, timeoutMs: 25 } },
    environment: { KEY: anvilKeys[0] }
  })
  return openOn(store, {
    clock: systemClock,
    providers: chainProviders([evm]).map((one) => mortalProvider(one, machine.world)),
    workflow: {
      protocols: [aisText('erc20')],
      writes: 'broadcast',
      policy: { autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 }
    }
  })
}

function payment(): Json {
  const asset = { chain_id: chain.id, address: tokenAt, decimals: 6 }
  const args = { token: { lit: asset }, to: { lit: third.address }, amount: { lit: '5' } }
  const outputs = { hash: { ref: 'nodes.pay.outputs.tx_hash' } }
  return flow([transfer('pay', { args } as never)], { default_chain: chain.id, outputs }) as Json
}

function stuckIn(wait: OpenWait): string | undefined {
  const [trouble] = troublesOf({ waits: [wait], response: null })
  return (trouble?.diagnostic?.transaction as { readonly hash?: string } | undefined)?.hash
}

/** Drives a run until it ends or its process dies; undefined: it died. */
async function drive(
  run: RunHandle,
  { machine, isEarly, hashes }: { machine: Machine; isEarly: boolean; hashes: Set<string> }
): Promise<RunResult | undefined> {
  let result: RunResult | undefined
  run.result.then(
    (ended) => {
      result = ended
    },
    () => undefined
  )
  const mineOnce = async () => {
    const { pending } = (await chain.rpc('txpool_content', [])) as {
      readonly pending: Readonly<Record<string, Readonly<Record<string, { hash: string }>>>>
    }
    const own = Object.values(pending).flatMap((one) => Object.values(one))
    const isReplaced = own.some(({ hash }) => hashes.size > 0 && !hashes.has(hash))
    if (isReplaced || (isEarly && hashes.size > 0)) await chain.rpc('evm_mine', [])
  }
  while (result === undefined && !machine.world.life.isDead) {
    await mineOnce()
    const [wait] = await run.waits().catch(() => [])
    const hash = wait === undefined ? undefined : stuckIn(wait)
    if (wait !== undefined && hash !== undefined) {
      hashes.add(hash)
      const value = { replace: { [hash]: 10 } }
      await run
        .resume(wait.token, { digest: wait.digest, action: 'patch', value })
        .catch(() => undefined)
    }
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return result
}

async function held(): Promise<bigint> {
  return (await chain.client.readContract({
    address: tokenAt,
    abi: [fragment(token, 'balanceOf')] as never,
    functionName: 'balanceOf' as never,
    args: [third.address] as never
  })) as bigint
}

/** One payment in as many processes as it takes; how many boundaries there were. */
async function payOnce(death: number, isEarly: boolean): Promise<number> {
  const machine = new Machine(death + 1)
  const hashes = new Set<string>()
  const [balance, nonce] = [await held(), await chain.client.getTransactionCount(owner)]
  let boundaries = 0
  for (let lives = 1; ; lives += 1) {
    const { life, store } = machine.begin(lives === 1 && death > 0 ? death : undefined)
    const run = async () => {
      const runtime = await open(machine, store)
      const isKnown = runtime.ledger.run('pay' as never) !== undefined
      const handle = isKnown
        ? await runtime.resume('pay' as never)
        : runtime.begin(payment(), { id: 'pay', inputs: {} })
      const result = await drive(handle, { machine, isEarly, hashes })
      if (result === undefined) return undefined
      const report = await runtime.verify()
      await runtime.close()
      return { result, report }
    }
    // A process may die as late as in its close, after the run has ended.
    const ended = await run().catch((error: unknown) => {
      if (!life.isDead) throw error
      return undefined
    })
    boundaries += life.boundaries
    if (ended === undefined) continue
    const { result, report } = ended
    expect(result.status).toBe('done')
    expect((await held()) - balance).toBe(5n)
    expect((await chain.client.getTransactionCount(owner)) - nonce).toBe(1)
    const { hash } = (
      result.response as unknown as { readonly data: { readonly hash: `0x${string}` } }
    ).data
    expect((await chain.client.getTransactionReceipt({ hash })).status).toBe('success')
    expect(report).toMatchObject({ ok: true })
    return boundaries
  }
}

it(
  'W11: a transfer that no block takes is replaced, and made once, wherever its process dies',
  async () => {
    const whole = await payOnce(0, false)
    expect(whole).toBeGreaterThan(20)
    for (let number = 1; number <= DEATHS; number += 1) {
      await payOnce(Math.floor((whole * number) / (DEATHS + 1)), number % 2 === 0)
    }
  },
  DEATHS * 20_000
)
