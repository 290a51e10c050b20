import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { AgentTurns, builtInAdapters, TURN_EFFECT } from '../../../src/agent/index.js'
import { defineBlock, type SideEffectClass } from '../../../src/code/index.js'
import type { Json } from '../../../src/core/index.js'
import { createRuntime, MEMORY_LOCATION } from '../../../src/runtime/index.js'
import { type ChatScene, startChatServer } from '../../../src/testing/index.js'

const apiKey = 'sk-0123456789abcdef'

/** A leaf that does one turn, as the turn block does. */
function turnBlock(baseUrl: string, sideEffects: SideEffectClass) {
  return defineBlock({
    name: 'ask',
    version: '1.0.0',
    sideEffects,
    input: z.object({ prompt: z.string() }),
    run: async (ctx, { prompt }) => {
      const turn = {
        runId: ctx.runId,
        nodeId: 'ask',
        agentId: 'clerk',
        turnMode: 'normal',
        prompt,
        input: {},
        messages: []
      }
      const adapterConfig = { baseUrl, apiKey: 'env:CHAT_KEY', model: 'deepseek-chat' }
      const request: Json = {
        adapterKind: 'deepseek',
        adapterConfig,
        flowName: 'flow',
        timeoutMs: 60_000,
        turn
      }
      return await ctx.effect(TURN_EFFECT, { request })
    }
  })
}

const document: Json = {
  schema: 'tally-composite/1',
  name: 'conversation',
  version: '1.0.0',
  entry_point: 'first',
  nodes: { first: { block: 'ask' }, second: { block: 'ask' } },
  transitions: { first: 'second' }
}

async function running(
  script: (index: number) => ChatScene,
  sideEffects: SideEffectClass = 'none'
) {
  const server = await startChatServer({ script: ({ index }) => script(index) })
  const environment = { CHAT_KEY: apiKey }
  const documentSecrets = ['env:CHAT_KEY']
  const turns = new AgentTurns({ adapters: builtInAdapters(), environment, documentSecrets })
  const blocks = [turnBlock(server.url, sideEffects)]
  const options = {
    location: MEMORY_LOCATION,
    create: 'if-absent',
    blocks,
    providers: [turns]
  } as const
  const tally = await createRuntime(options)
  return { server, tally }
}

describe('turns in runs', () => {
  it('A5: replays the conversation with the server gone, and opens no socket', async () => {
    const { server, tally } = await running((index) => ({ text: `answer ${index}` }))
    const sockets: unknown[] = []
    const count = (message: unknown) => sockets.push(message)
    subscribe('net.client.socket', count)
    const run = tally.begin(document, { inputs: { prompt: 'hello' } })
    const { status, response } = await run.result
    expect(status).toBe('done')
    expect(response.data).toMatchObject({ finalText: 'answer 1', model: 'deepseek-chat' })
    expect(sockets.splice(0).length).toBeGreaterThan(0)
    await server.close()
    const report = await tally.replay()
    unsubscribe('net.client.socket', count)
    expect(sockets).toEqual([])
    expect(report.failure).toBeUndefined()
    expect(report.ok).toBe(true)
    expect(report.reexecuted).toBeGreaterThan(0)
    const receipts = []
    for await (const { receipt } of tally.receipts()) receipts.push(JSON.stringify(receipt))
    expect(receipts.join()).not.toContain(apiKey)
    await tally.close()
  })

  it('a refusal fails the node with its reason, and the key is nowhere', async () => {
    const { server, tally } = await running(() => ({
      status: 429,
      headers: { 'retry-after': '7' },
      code: 'rate_limit_exceeded'
    }))
    const run = tally.begin(document, { inputs: { prompt: 'the prompt' } })
    const { status, response } = await run.result
    expect(status).toBe('failed')
    expect(response).toMatchObject({ reason: 'rate_limited', details: { retryAfterMs: 7_000 } })
    const told = JSON.stringify(response)
    for (const secret of [apiKey, 'the prompt']) expect(told).not.toContain(secret)
    await tally.close()
    await server.close()
  })

  it('a lost answer is unknown_outcome, and a question, when the agent may act', async () => {
    const { server, tally } = await running(() => ({ breaks: 'disconnect' }), 'non_idempotent')
    const run = tally.begin(document, { inputs: { prompt: 'pay' } })
    let asked: Json = null
    for await (const event of run) {
      if (event.type !== 'waiting') continue
      asked = event.request
      await run.resume(event.token, { digest: event.digest, action: 'abort' })
    }
    expect(JSON.stringify(asked)).toContain('unknown_outcome')
    expect((await run.result).status).toBe('failed')
    expect(server.requests).toHaveLength(1)
    await tally.close()
    await server.close()
  })

  it('a lost answer is only a failure when it may not', async () => {
    const { server, tally } = await running(() => ({ breaks: 'disconnect' }), 'none')
    const { response } = await tally.begin(document, { inputs: { prompt: 'look' } }).result
    expect(response.reason).toBe('connection_lost')
    await tally.close()
    await server.close()
  })

  it('cancelling a run breaks the connection in mid-answer', async () => {
    const { server, tally } = await running(() => ({ breaks: 'hang', text: 'The inv' }))
    const run = tally.begin(document, { inputs: { prompt: 'hello' } })
    while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    await run.cancel('enough')
    expect((await run.result).status).toBe('cancelled')
    await server.untilAbandoned(1)
    expect(server.abandoned).toBe(1)
    await tally.close()
    await server.close()
  })
})
