import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { burnId } from '../../examples/06-bridge/relayer.js'
import { bridgeExecutor } from '../../src/executor/bridge/index.js'
import { bridgeConformance } from '../../src/testing/index.js'
import { startChain, type TestChain } from '../support/anvil.js'
import { isLong } from '../support/effort.js'
import { AMOUNT, type LockBridge, openLockBridge } from '../support/lock-bridge-under-test.js'

/** The example's bridge on real chains: a contract on anvil, tokens of Solana, and its relayer. */

let chain: TestChain
beforeAll(async () => {
  chain = await startChain()
})
afterAll(() => chain.anvil.stop())

describe('bridge conformance: the lock of the example', () => {
  for (const check of bridgeConformance)
    it(check.name, () => check.run(() => openLockBridge(chain)))
})

const DEAD = 'the relayer is dead'

/** A way to the nodes on which the relayer dies: before it asks, or before it hears the answer. */
function deadly(death: number) {
  const headers = { 'content-type': 'application/json' }
  let boundaries = 0
  const live = () => {
    boundaries += 1
    if (boundaries >= death) throw new Error(DEAD)
  }
  return async (url: string, body: string): Promise<string> => {
    live()
    const answer = await fetch(url, { method: 'POST', headers, body })
    const text = await answer.text()
    live()
    return text
  }
}

async function lock(bridge: LockBridge): Promise<void> {
  const executor = bridgeExecutor({ bridge: bridge.bridge, executors: bridge.executors() })
  const options = { key: 'lock', signal: new AbortController().signal }
  const request = { chain: bridge.from, execution: bridge.transfer }
  const prepared = await executor.prepare(request, options)
  if (prepared.kind !== 'signed') throw new Error(prepared.kind)
  await executor.broadcast(prepared.transaction, options)
  // The state may show it before the number of its block does.
  const hash = prepared.transaction.hash as `0x${string}`
  const { blockNumber } = await chain.client.waitForTransactionReceipt({ hash })
  while ((await chain.client.getBlockNumber({ cacheTime: 0 })) < blockNumber) {
    await new Promise(setImmediate)
  }
}

const RELAYS_MAX = 10

/** A process after the other, until one finds nothing left to do. */
async function relayed(bridge: LockBridge): Promise<void> {
  for (let process = 1; ; process += 1) {
    try {
      return await bridge.relay()
    } catch (error) {
      // What an earlier process has sent may be refused as known.
      if (process === RELAYS_MAX) throw error
    }
  }
}

/** Lets the relayer die at each boundary in turn; `arrange` makes what there is to carry over. */
async function atEachDeath(
  arrange: (bridge: LockBridge) => Promise<void>,
  check: (bridge: LockBridge) => Promise<void>
): Promise<number> {
  let deaths = 0
  for (let death = 1; ; death += isLong ? 1 : 3) {
    const bridge = await openLockBridge(chain)
    try {
      await arrange(bridge)
      let isDead = false
      try {
        await bridge.relayBy(deadly(death))
      } catch (error) {
        if (!(error instanceof Error) || error.message !== DEAD) throw error
        isDead = true
        deaths += 1
      }
      await relayed(bridge)
      await relayed(bridge)
      await check(bridge)
      if (!isDead) return deaths
    } finally {
      await bridge.close()
    }
  }
}

describe('a relayer that dies', () => {
  it('mints once for a lock, wherever it dies', async () => {
    const deaths = await atEachDeath(lock, async (bridge) => {
      expect([await bridge.taken(), await bridge.handedOut()]).toEqual([1, 1])
    })
    expect(deaths).toBeGreaterThan(isLong ? 12 : 4)
  })

  it('unlocks once for a burn, wherever it dies', async () => {
    const back = async (bridge: LockBridge) => {
      await lock(bridge)
      await relayed(bridge)
      expect(burnId(await bridge.burn(AMOUNT / 2n))).toMatch(/^0x[0-9a-f]{64}$/)
    }
    const deaths = await atEachDeath(back, async (bridge) => {
      expect(await bridge.unlocked()).toBe(AMOUNT / 2n)
    })
    expect(deaths).toBeGreaterThan(isLong ? 12 : 4)
  })
})
