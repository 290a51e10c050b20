import { describe, expect, it } from 'vitest'
import { type Json, systemClock } from '../../../src/core/index.js'
import { chainEffects, chainFailed, chainProviders } from '../../../src/executor/index.js'
import { openMemoryStore } from '../../../src/ledger/stores/memory.js'
import { FakeChain, fakeExecutor } from '../../../src/testing/index.js'
import { sendBlock, sending } from '../../support/anvil-send.js'
import { openOn } from '../../support/lives.js'

describe('a retry of a step that has sent a transaction', () => {
  it('L7: keeps the transaction, also when one before it was superseded', async () => {
    const chain = new FakeChain({ id: 'solana:fake' })
    chain.mining = false
    const executor = fakeExecutor({ chains: [chain], accounts: { default: '0xme' } })
    let refusals = 0
    const providers = chainProviders([executor]).map((provider) => {
      if (provider.name !== chainEffects.broadcast) return provider
      const perform: typeof provider.perform = (call) => {
        const { transaction } = call.request as { readonly transaction: { readonly hash: string } }
        first ??= transaction.hash
        if (transaction.hash !== first) return provider.perform(call)
        refusals += 1
        const fields = { phase: 'send', chain: chain.id, message: 'taken' } as const
        throw chainFailed('nonce_superseded', fields)
      }
      return { name: provider.name, perform }
    })
    let first: string | undefined
    const clock = systemClock
    const runtime = await openOn(openMemoryStore(), { blocks: [sendBlock], providers, clock })
    const recovery = [{ retry: { max_attempts: 20, interval_ms: 10 } }]
    const inputs = {
      chain: chain.id,
      execution: { type: 'solana_instruction', value: 1 },
      pollMs: 5,
      timeoutMs: 20
    }
    const run = runtime.begin(sending({ recovery } as Json), { id: 'retried', inputs })
    let tries = 0
    for await (const event of run) {
      if (event.type === 'effect.sealed' && event.effect === chainEffects.prepare) tries += 1
      // The first try has given up: now it is included.
      if (tries > 4 && !chain.mining) {
        chain.mining = true
        chain.mine()
      }
    }
    expect((await run.result).status).toBe('done')
    expect(refusals).toBeGreaterThan(1)
    expect(chain.effective()).toHaveLength(1)
    expect((await runtime.verify()).failure).toBeUndefined()
    await runtime.close()
  })
})
