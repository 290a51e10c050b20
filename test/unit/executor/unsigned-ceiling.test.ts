import { describe, expect, it } from 'vitest'
import type { OpenWait } from '../../../src/block/index.js'
import { FakeChain, fakeExecutor } from '../../../src/testing/index.js'
import { openSending, sending } from '../../support/anvil-send.js'
import { onEvmNode } from '../../support/evm-node-under-test.js'

describe('W15: a write that a wallet outside signs', () => {
  it('says in its question what it may cost at most', async () => {
    const chain = new FakeChain({ id: 'eip155:7' })
    await using tally = await openSending([fakeExecutor({ chains: [chain] })])
    const execution = { type: 'evm_call' }
    const inputs = { chain: chain.id, execution, account: '0xthem', maxFee: '70' }
    const run = tally.begin(sending(), { id: 'one', inputs })
    let wait: OpenWait | undefined
    for await (const event of run) {
      if (event.type !== 'run.parked') continue
      ;[wait] = await run.waits()
      break
    }
    const asked = { kind: 'sign_and_send', from: '0xthem', max_fee: '70' }
    expect(wait?.request).toMatchObject({ request: asked })
    await run.cancel('enough')
    await run.result
  })

  it('has the bound beside its payload, and none where nothing is bounded', async () => {
    const test = await onEvmNode.open()
    try {
      const { executor, chain, watched } = test
      const request = { chain, execution: test.write(1), account: watched }
      const options = { key: 'k', signal: new AbortController().signal }
      const bounded = await executor.prepare({ ...request, maxFee: '70' }, options)
      const free = await executor.prepare(request, options)
      expect([bounded.transaction, free.transaction]).toMatchObject([{ maxFee: '70' }, {}])
      expect(free.transaction).not.toHaveProperty('maxFee')
      expect(bounded.transaction).toMatchObject({ payload: (free.transaction as never)['payload'] })
    } finally {
      await test.close()
    }
  })
})
