import { describe, expect, it } from 'vitest'
import {
  AdapterRegistry,
  type AgentAdapter,
  builtInAdapters,
  deepSeekAdapter,
  fakeAdapter
} from '../../../src/agent/index.js'
import { type JsonObject, ManualClock, nextTurn } from '../../../src/core/index.js'
import { type ChatScene, startChatServer } from '../../../src/testing/index.js'
import { agentOf, dataOf, flowOf, nodeOf, oneTurn, runFlow } from '../../support/flows.js'

const key = 'sk-0123456789abcdef'

describe('A6: turns without an answer', () => {
  const usage = { inputTokens: 60, outputTokens: 40 }
  const retry = { maxAttempts: 3, intervalMs: 1 }

  /** Breaks twice, then answers. */
  async function broken(
    agent: JsonObject,
    reason: 'connection_lost' | 'refused' = 'connection_lost'
  ) {
    const clock = new ManualClock()
    let turns = 0
    let isOver = false
    const run = await runFlow(oneTurn({ retry }, agent), {
      clock,
      script: () => {
        turns += 1
        return turns < 3 ? { fails: reason } : { text: 'done', usage }
      },
      follow: async (handle) => {
        void handle.result.then(() => {
          isOver = true
        })
        while (!isOver) {
          await nextTurn()
          if (clock.nextDue !== undefined) clock.advance(1)
        }
      }
    })
    return { run, turns }
  }

  it('are counted as an upper bound with the next answer, which says so', async () => {
    const { run } = await broken({ modelProfile: { maxTokens: 500 } })
    const { spent } = dataOf(run) as { spent: { main: { turns: number; outputTokens: number } } }
    expect(spent.main).toMatchObject({ turns: 1, outputTokens: 40 + 2 * 500 })
    expect(run.receipts.length).toBeGreaterThan(0)
  })

  it('count for the budget', async () => {
    const { run } = await broken({
      modelProfile: { maxTokens: 500 },
      budgets: { maxTokens: 900 }
    })
    expect(run.result.response).toMatchObject({
      reason: 'budget_exceeded',
      details: { budget: 'maxTokens' }
    })
  })

  it('count nothing where nothing was begun', async () => {
    const { run } = await broken({ modelProfile: { maxTokens: 500 } }, 'refused')
    expect(dataOf(run)).toMatchObject({ spent: { main: { totalTokens: 100 } } })
  })
})

describe('A6: a refusal that says when to come again', () => {
  it('is waited for, and bounded by the attempts of the node', async () => {
    const scenes: readonly ChatScene[] = [
      { status: 429, headers: { 'retry-after': '7' } },
      { status: 503, headers: { 'retry-after': '3' } },
      { text: 'done' }
    ]
    await using server = await startChatServer({
      script: ({ index }) => scenes[index] ?? { text: 'too often' }
    })
    const clock = new ManualClock()
    const waits: number[] = []
    let isOver = false
    const config = { retry: { maxAttempts: 3, intervalMs: 1_000 } }
    const run = await runFlow(oneTurn(config), {
      clock,
      script: () => ({ text: '' }),
      adapters: new AdapterRegistry().registerAdapter('fake', () => ({
        ...deepSeekAdapter(),
        kind: 'fake'
      })),
      host: {
        environment: {
          TALLY_LLM_BASE_URL: server.url,
          TALLY_LLM_API_KEY: key,
          TALLY_LLM_MODEL: 'm'
        }
      },
      follow: async (handle) => {
        void handle.result.then(() => {
          isOver = true
        })
        while (!isOver) {
          await nextTurn()
          const due = clock.nextDue
          if (due === undefined) continue
          waits.push(due - clock.now())
          clock.advance(due - clock.now())
        }
      }
    })
    expect(dataOf(run)['result']).toBe('done')
    expect(waits).toEqual([7_000, 1_000, 3_000, 1_000])
  })
})

describe('A6: settings that a run would lack', () => {
  const model = { baseUrl: 'https://models.example', apiKey: 'env:KEY', model: 'm' }
  const lacking: readonly (readonly [string, JsonObject, string])[] = [
    ['deepseek', { ...model, apiKey: 'env:OTHER' }, 'apiKey is env:OTHER, which is not set'],
    ['deepseek', { baseUrl: model.baseUrl, model: 'm' }, 'apiKey is missing'],
    ['deepseek', { baseUrl: model.baseUrl, apiKey: 'env:KEY' }, 'model is missing'],
    ['deepseek', { apiKey: 'env:KEY', model: 'm' }, 'baseUrl is missing'],
    ['deepseek', { ...model, transport: 'pigeon' }, 'transport is neither'],
    ['pi-mono', { transport: 'deepseek', apiKey: 'env:KEY', model: 'm' }, 'baseUrl is missing'],
    ['pi-mono', { ...model, model: '', transport: 'openai-compatible' }, 'model is missing'],
    ['pi-mono', {}, 'baseUrl is missing'],
    ['pi-mono', { transport: 'rpc' }, 'needs the adapter to be given its program'],
    ['unknown', {}, 'no adapter is registered as unknown']
  ]
  it.each(lacking)('are found before the first turn of any agent: %s %j', async (...given) => {
    const [adapterKind, adapterConfig, problem] = given
    const flow = flowOf({
      agents: [agentOf('main'), { agentId: 'other', adapterKind, adapterConfig }],
      nodes: [
        nodeOf('one', 'agent.main', { agentId: 'main' }),
        nodeOf('two', 'agent.main', { agentId: 'other' })
      ],
      edges: ['one -> two']
    })
    let asked = 0
    const script = () => {
      asked += 1
      return { text: 'x' }
    }
    const fake: AgentAdapter = fakeAdapter({ script })
    const known = builtInAdapters()
    const adapters = new AdapterRegistry().registerAdapter('fake', () => fake)
    for (const kind of ['deepseek', 'pi-mono']) {
      adapters.registerAdapter(kind, () => known.adapter(kind))
    }
    const { result } = await runFlow(flow, {
      script,
      adapters,
      host: { environment: { KEY: key }, documentSecrets: ['env:KEY', 'env:OTHER'] }
    })
    expect(result.response.reason).toBe('invalid_graph')
    expect(JSON.stringify(result.response.details)).toContain(problem)
    expect(asked).toBe(0)
  })
})
