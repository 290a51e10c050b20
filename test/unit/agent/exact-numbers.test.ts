import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AdapterRegistry, deepSeekAdapter, defineTool } from '../../../src/agent/index.js'
import type { Json, JsonObject } from '../../../src/core/index.js'
import type { RunHandle } from '../../../src/runtime/index.js'
import { startChatServer } from '../../../src/testing/index.js'
import { cases } from '../../support/effort.js'
import { oneTurn, runFlow } from '../../support/flows.js'
import { saidNumber, saysExactly } from '../../support/said-numbers.js'

/** A7: what a person approves, the ledger keeps and a tool gets are the same digits. */

/** The model calls `pay` with this text, and says with `got` what it was answered. */
async function paid(argumentsText: string, parameters: JsonObject) {
  await using server = await startChatServer({
    script: ({ body }) => {
      const messages = body['messages'] as readonly JsonObject[]
      const last = messages.at(-1)
      if (last?.['role'] === 'tool') return { text: `got ${String(last['content'])}` }
      return { toolCalls: [{ id: 'c', name: 'pay', arguments: argumentsText }] }
    }
  })
  const given: Json[] = []
  const approved: Json[] = []
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters,
    sideEffects: 'non_idempotent',
    perform: ({ request }) => {
      given.push(request)
      return { ok: true }
    }
  })
  const environment = {
    TALLY_LLM_BASE_URL: server.url,
    TALLY_LLM_API_KEY: 'sk-0123456789abcdef',
    TALLY_LLM_MODEL: 'm'
  }
  const adapters = new AdapterRegistry().registerAdapter('fake', () => ({
    ...deepSeekAdapter(),
    kind: 'fake'
  }))
  const follow = async (run: RunHandle) => {
    for await (const event of run) {
      if (event.type !== 'waiting') continue
      const { request } = event.request as { readonly request: JsonObject }
      approved.push(request['arguments'] ?? null)
      await run.approve(event.token, { digest: event.digest })
    }
  }
  const policy = { toolPolicy: { allowedCapabilities: ['pay'] } }
  const run = await runFlow(oneTurn({}, policy), {
    script: () => ({ text: '' }),
    adapters,
    host: { environment, tools: [pay] },
    follow
  })
  const data = run.result.response.data as JsonObject
  return { given, approved, said: String(data['result']), receipts: run.receipts.join('\n') }
}

const amount = (schema: JsonObject) => ({ type: 'object', properties: { amount: schema } })

describe('A7: numbers of a tool call', () => {
  it('are the same for the person who approves and for the tool', async () => {
    await fc.assert(
      fc.asyncProperty(saidNumber, async (number) => {
        const { given, approved } = await paid(`{"amount":${number}}`, amount({}))
        expect(given).toEqual(approved)
        expect(saysExactly((given[0] as JsonObject)['amount'], number)).toBe(true)
      }),
      { numRuns: cases({ usual: 8, long: 22 }) }
    )
  })

  it('that no JSON number holds are refused where the tool takes a number only', async () => {
    const { given, approved, said } = await paid(
      '{"amount":1000000000000000001}',
      amount({ type: 'integer' })
    )
    expect([given, approved]).toEqual([[], []])
    expect(said).toContain('invalid_arguments')
    expect(said).toContain('send it as a string')
  })
})
