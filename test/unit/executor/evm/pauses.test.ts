import { describe, expect, it } from 'vitest'
import type { Clock } from '../../../../src/core/index.js'
import { evmExecutor } from '../../../../src/executor/evm/index.js'
import { chainFailureOf } from '../../../../src/executor/index.js'

/** Time that passes only where a pause is waited for. */
class PausingClock implements Clock {
  readonly pauses: number[] = []
  #now = Date.parse('2026-11-23T12:00:00Z')

  now(): number {
    return this.#now
  }

  schedule(at: number, due: () => void): () => void {
    const delayMs = at - this.#now
    // The time of a request is longer than every pause of these tests.
    if (delayMs >= 20_000) return () => undefined
    this.pauses.push(delayMs)
    const timer = setImmediate(() => {
      this.#now = at
      due()
    })
    return () => clearImmediate(timer)
  }
}

/** An endpoint that refuses so often before it answers. */
async function read(retryAfter: string | null, times: number) {
  const clock = new PausingClock()
  let refusals = 0
  const evm = evmExecutor({
    chains: { 'eip155:1': { rpc: ['http://127.0.0.1:1'], rpcTimeoutMs: 60_000 } },
    clock,
    transport: async ({ body }) => {
      refusals += 1
      if (refusals <= times) return { status: 429, text: '', retryAfter }
      const calls = [JSON.parse(body)].flat() as readonly { readonly id: number }[]
      const replies = calls.map(({ id }) => ({ jsonrpc: '2.0', id, result: '0x1' }))
      return { status: 200, text: JSON.stringify(replies.length === 1 ? replies[0] : replies) }
    }
  })
  const execution = { type: 'evm_rpc', method: 'eth_blockNumber', params: [] }
  const { signal } = new AbortController()
  const asked = evm.read({ chain: 'eip155:1', execution }, { key: 'k', signal })
  const found = await asked.then(
    (outputs) => outputs,
    (error: unknown) => chainFailureOf(error)?.code
  )
  return { found, pauses: clock.pauses }
}

describe('W13: an endpoint that asks for fewer calls', () => {
  it('is asked again after the pause that it names, in seconds or as a date', async () => {
    expect(await read('7', 2)).toEqual({ found: { result: '0x1' }, pauses: [7_000, 7_000] })
    const date = await read('Mon, 23 Nov 2026 12:00:05 GMT', 1)
    expect(date).toEqual({ found: { result: '0x1' }, pauses: [5_000] })
  })

  it('is left alone where it names none, too long a one, or one again and again', async () => {
    for (const header of [null, 'soon', '3600', '-5']) {
      expect(await read(header, 9)).toEqual({ found: 'rpc_rate_limited', pauses: [] })
    }
    const { found, pauses } = await read('1', 9)
    expect([found, pauses]).toEqual(['rpc_rate_limited', [1_000, 1_000, 1_000]])
  })
})
