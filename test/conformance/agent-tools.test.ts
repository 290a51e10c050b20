import { fileURLToPath } from 'node:url'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { Model } from '@mariozechner/pi-ai'
import { describe, expect, it } from 'vitest'
import { PiMonoServer } from '../../examples/pi-mono-server/server.js'
import {
  AdapterRegistry,
  type AgentAdapter,
  type AgentTool,
  aiSdkAdapter,
  deepSeekAdapter,
  defineTool,
  fakeAdapter,
  piMonoAdapter
} from '../../src/agent/index.js'
import { isJsonObject, type Json, type JsonObject } from '../../src/core/index.js'
import type { RunHandle } from '../../src/runtime/index.js'
import { type ChatScene, type ChatServer, startChatServer } from '../../src/testing/index.js'
import { agentOf, flowOf, nodeOf, runFlow } from '../support/flows.js'

/**
 * A7: every adapter kind over every transport does a tool, an approval and a denial alike, or is
 * refused with a diagnostic before the run begins.
 */

const apiKey = 'sk-0123456789abcdef'
const piProgram = fileURLToPath(new URL('./fixtures/pi-rpc.mjs', import.meta.url))

/** The model calls `pay` once, and then says what it was answered. */
function callsOnce(body: JsonObject): ChatScene {
  const messages = body['messages'] as readonly JsonObject[]
  const answer = messages.findLast(({ role }) => role === 'tool')
  if (answer !== undefined) return { text: `got ${JSON.stringify(answer['content'])}` }
  return { toolCalls: [{ id: 'call-1', name: 'pay', arguments: '{"to":"alice"}' }] }
}

interface Backend {
  readonly adapter: AgentAdapter
  readonly settings?: JsonObject
  readonly environment?: Readonly<Record<string, string>>
  close?(): Promise<void>
}

type Kind = (chat: ChatServer) => Promise<Backend> | Backend

const piModel = (baseUrl: string): Model<'openai-completions'> => ({
  id: 'm',
  name: 'fake',
  api: 'openai-completions',
  provider: 'deepseek',
  baseUrl,
  reasoning: false,
  input: ['text'],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 64_000,
  maxTokens: 4_096
})

/** Settings of the host, so that no server is named by the document. */
const chatEnvironment = (url: string) => ({
  TALLY_LLM_BASE_URL: url,
  TALLY_LLM_API_KEY: apiKey,
  TALLY_LLM_MODEL: 'm'
})

const works: Readonly<Record<string, Kind>> = {
  fake: () => ({
    adapter: fakeAdapter({
      script: ({ messages }) => {
        const answer = messages.findLast(({ role }) => role === 'tool')
        if (answer?.role === 'tool') return { text: `got ${JSON.stringify(answer.result)}` }
        return { toolCalls: [{ id: 'call-1', name: 'pay', arguments: { to: 'alice' } }] }
      }
    })
  }),
  deepseek: ({ url }) => ({ adapter: deepSeekAdapter(), environment: chatEnvironment(url) }),
  'deepseek, openai-compatible': ({ url }) => ({
    adapter: deepSeekAdapter(),
    settings: { transport: 'openai-compatible' },
    environment: chatEnvironment(url)
  }),
  'pi-mono, deepseek': ({ url }) => ({
    adapter: piMonoAdapter(),
    settings: { transport: 'deepseek' },
    environment: chatEnvironment(url)
  }),
  'pi-mono, deepseek by the environment': ({ url }) => ({
    adapter: piMonoAdapter(),
    environment: { ...chatEnvironment(url), TALLY_PI_MONO_TRANSPORT: 'deepseek' }
  }),
  'pi-mono, openai-compatible': ({ url }) => ({
    adapter: piMonoAdapter(),
    settings: { transport: 'openai-compatible' },
    environment: chatEnvironment(url)
  }),
  'pi-mono, http, with the real pi agent': async ({ url }) => {
    const server = await PiMonoServer.start({ model: piModel(url), modelKey: apiKey, apiKey })
    return {
      adapter: piMonoAdapter(),
      environment: { TALLY_PI_MONO_BASE_URL: server.url, TALLY_PI_MONO_API_KEY: apiKey },
      close: () => server.close()
    }
  },
  'ai-sdk': ({ url }) => {
    const provider = createOpenAICompatible({ name: 'mine', baseURL: url, apiKey })
    return {
      adapter: aiSdkAdapter({ model: (name) => provider(name) }),
      environment: { TALLY_AI_SDK_MODEL: 'm' }
    }
  }
}

/** Kinds that do tools on their own side. */
const refuses: Readonly<Record<string, Kind>> = {
  'pi-mono, rpc': () => ({
    adapter: piMonoAdapter({ rpc: { command: process.execPath, arguments: [piProgram] } }),
    settings: { transport: 'rpc' }
  }),
  'pi-mono, http, whose backend does tools itself': () => ({
    adapter: piMonoAdapter({ backendRunsTools: true }),
    environment: { TALLY_PI_MONO_BASE_URL: 'http://127.0.0.1:9', TALLY_PI_MONO_API_KEY: apiKey }
  })
}

function payTool(done: Json[]): AgentTool {
  return defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
    sideEffects: 'non_idempotent',
    perform: ({ request }) => {
      done.push(request)
      return { paid: true }
    }
  })
}

async function ran(
  kind: Kind,
  approvalRequirement: 'never' | 'always' | 'destructive_only',
  options: { readonly action?: 'approve' | 'deny'; readonly agent?: JsonObject } = {}
) {
  await using chat = await startChatServer({ script: ({ body }) => callsOnce(body) })
  const { adapter, settings = {}, environment = {}, close } = await kind(chat)
  const done: Json[] = []
  const asked: Json[] = []
  const follow = async (run: RunHandle) => {
    for await (const event of run) {
      if (event.type !== 'waiting') continue
      const { request } = event.request as { readonly request: JsonObject }
      asked.push(request['arguments'] ?? null)
      await run[options.action ?? 'approve'](event.token, { digest: event.digest })
    }
  }
  const agent = {
    ...agentOf('clerk'),
    adapterKind: adapter.kind,
    adapterConfig: settings,
    toolPolicy: { allowedCapabilities: ['pay'], approvalRequirement },
    ...options.agent
  }
  const flow = flowOf({
    agents: [agent],
    nodes: [nodeOf('ask', 'agent.main', { agentId: 'clerk', config: { userPrompt: 'Pay her.' } })]
  })
  try {
    const run = await runFlow(flow, {
      script: () => ({ text: '' }),
      adapters: new AdapterRegistry().registerAdapter(adapter.kind, () => adapter),
      host: { environment, tools: [payTool(done)] },
      follow
    })
    return { response: run.result.response, done, asked, requests: chat.requests.length }
  } finally {
    await close?.()
  }
}

function said(data: Json | undefined): string {
  const ports = isJsonObject(data) ? data['ports'] : undefined
  return JSON.stringify(isJsonObject(ports) ? ports['result'] : data)
}

describe('A7: tools of an agent, by adapter kind and transport', () => {
  for (const [name, kind] of Object.entries(works)) {
    it(`${name}: a tool is done once, and the model reads its result`, async () => {
      const { response, done, asked } = await ran(kind, 'never')
      expect(response.success, JSON.stringify(response)).toBe(true)
      expect([done, asked]).toEqual([[{ to: 'alice' }], []])
      expect(said(response.data)).toContain('paid')
    })

    it(`${name}: an approval is asked for the arguments of the model`, async () => {
      const { response, done, asked } = await ran(kind, 'destructive_only')
      expect(response.success, JSON.stringify(response)).toBe(true)
      expect(asked).toEqual([{ to: 'alice' }])
      expect(done).toEqual(asked)
    })

    it(`${name}: a denial keeps the tool from being done, and the model reads it`, async () => {
      const { response, done, asked } = await ran(kind, 'always', { action: 'deny' })
      expect([done, asked]).toEqual([[], [{ to: 'alice' }]])
      expect(said(response.data)).toContain('denied')
    })
  }

  for (const [name, kind] of Object.entries(refuses)) {
    it.each([
      ['an approval', 'always', {}],
      ['an approval of writes', 'destructive_only', {}],
      ['a blocked tool', 'never', { toolPolicy: { blockedTools: ['rm'] } }],
      [
        'a suggested agent',
        'never',
        { subagentPolicy: { switchModes: ['agent-suggested'], maxDelegations: 1 } }
      ]
    ] as const)(`A8: ${name}: %s is refused before the run begins`, async (_, approval, agent) => {
      const { response, done, asked, requests } = await ran(kind, approval, { agent })
      expect(response.reason).toBe('invalid_graph')
      expect(JSON.stringify(response.details)).toContain('tool_policy_not_enforceable')
      expect([done, asked, requests]).toEqual([[], [], 0])
    })
  }

  it('pi-mono, http, whose backend does tools itself: what it used stands in the result', async () => {
    const answer = { toolCalls: [{ id: 'c', name: 'pay', arguments: {} }], finalText: 'paid' }
    const fetch = async (input: unknown) =>
      Response.json(String(input).endsWith('/turns') ? answer : { sessionId: 's' })
    const { response, done } = await ran(
      () => ({
        adapter: piMonoAdapter({
          backendRunsTools: true,
          fetch: fetch as typeof globalThis.fetch
        }),
        environment: { TALLY_PI_MONO_BASE_URL: 'http://pi.test' }
      }),
      'never'
    )
    expect(done).toEqual([])
    expect(JSON.stringify(response.data)).toContain('the backend used its tool pay')
  })
})
