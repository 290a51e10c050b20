import { describe, expect, it } from 'vitest'
import {
  AdapterRegistry,
  defineTool,
  type TurnRequest,
  type TurnResult
} from '../../../src/agent/index.js'
import { EffectFailure } from '../../../src/code/index.js'
import { type JsonObject, ManualClock, systemClock } from '../../../src/core/index.js'
import type { RunHandle } from '../../../src/runtime/index.js'
import { agentOf, dataOf, flowOf, nodeOf, oneTurn, runFlow } from '../../support/flows.js'

const usage = { inputTokens: 60, outputTokens: 40 }
const says = (text: string) => () => ({ text, usage })

/** Calls a tool in its first turn, and says what came of it in its second. */
function callsTool(name: string, given: JsonObject) {
  return ({ messages }: TurnRequest) => {
    const [last] = messages.slice(-1)
    if (last?.role === 'tool') return { text: `got ${JSON.stringify(last.result)}`, usage }
    return { text: '', toolCalls: [{ id: 'call-1', name, arguments: given }], usage }
  }
}

function payTool(done: string[] = []) {
  return defineTool({
    name: 'pay',
    description: 'Pays somebody.',
    parameters: {
      type: 'object',
      properties: { to: { type: 'string' } },
      required: ['to'],
      additionalProperties: false
    },
    sideEffects: 'idempotent',
    perform: ({ key, request }) => {
      done.push(key)
      return { paid: (request as { to: string }).to }
    }
  })
}

async function answerWaits(run: RunHandle, action: 'approve' | 'deny'): Promise<number> {
  let waits = 0
  for await (const event of run) {
    if (event.type !== 'waiting') continue
    waits += 1
    await run[action](event.token, { digest: event.digest, by: 'tester' })
  }
  return waits
}

describe('a turn', () => {
  it('asks with the assembled prompt, and gives text, spending and provenance', async () => {
    const document = oneTurn(
      { systemPrompt: 'Mind the units.', userPrompt: 'Sum up.' },
      { modelProfile: { model: 'm-1', temperature: 0.2, systemPrompt: 'You are brief.' } }
    )
    const run = await runFlow(document, { script: says('done'), inputs: { userPrompt: 'now' } })
    expect(run.requests).toHaveLength(1)
    expect(run.requests[0]).toMatchObject({
      prompt: 'Mind the units.\n\nSum up.\n\nnow',
      model: 'm-1',
      temperature: 0.2,
      turnMode: 'normal',
      messages: []
    })
    expect(dataOf(run)).toMatchObject({
      result: 'done',
      spent: { main: { turns: 1, totalTokens: 100 } }
    })
  })

  it('tries a failed turn again as the node says, and fails with its error', async () => {
    const document = oneTurn({ retry: { maxAttempts: 3, intervalMs: 1 } })
    let tries = 0
    const failing = () => {
      tries += 1
      return tries < 3 ? { fails: 'rate_limited' as const } : { text: 'late' }
    }
    const run = await runFlow(document, { script: failing, clock: systemClock })
    expect([tries, dataOf(run)['result']]).toEqual([3, 'late'])
    const refused = await runFlow(oneTurn(), { script: () => ({ fails: 'refused' }) })
    expect(refused.result.response.success).toBe(false)
  })

  it('tries an answer that says it failed again only if it says that this may help', async () => {
    const answering = (retryable: boolean) => {
      const answers: TurnResult[] = []
      const answer = (): TurnResult => ({
        status: answers.length < 1 ? 'failed' : 'completed',
        finalText: 'late',
        toolCalls: [],
        usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
        model: 'm',
        warnings: [],
        error: { code: 'BUSY', message: 'busy', category: 'model', retryable }
      })
      const turn = async () => {
        const given = answer()
        answers.push(given)
        return given
      }
      const open = async () => ({ turn, dispose: async () => undefined })
      return new AdapterRegistry().registerAdapter('fake', () => ({ kind: 'fake', open }))
    }
    const document = oneTurn({ retry: { maxAttempts: 2, intervalMs: 1 } })
    const run = (retryable: boolean) =>
      runFlow(document, {
        script: says(''),
        adapters: answering(retryable),
        clock: systemClock
      })
    expect(dataOf(await run(true))).toMatchObject({ result: 'late', spent: { main: { turns: 2 } } })
    expect((await run(false)).result.response).toMatchObject({
      reason: 'turn_failed',
      details: { error: { code: 'BUSY' } }
    })
  })

  it('A4: carries the session that the other side keeps, for the process that resumes the run', async () => {
    const asked: (string | undefined)[] = []
    const turn = async (): Promise<TurnResult> => ({
      status: 'completed',
      finalText: 'x',
      toolCalls: [],
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
      model: 'm',
      warnings: [],
      session: 's-1'
    })
    const adapters = new AdapterRegistry().registerAdapter('fake', () => ({
      kind: 'fake',
      open: async ({ earlier, agentId }) => {
        asked.push(`${agentId}: ${earlier ?? 'none'}`)
        return { turn: async () => turn(), dispose: async () => undefined }
      }
    }))
    const flow = flowOf({
      agents: [agentOf('main'), agentOf('helper')],
      nodes: [
        nodeOf('one', 'agent.main', { agentId: 'main' }),
        nodeOf('two', 'agent.main', { agentId: 'main', config: { systemPrompt: 'Again.' } }),
        nodeOf('three', 'agent.main', { agentId: 'helper' })
      ],
      edges: ['one -> two', 'two -> three']
    })
    const run = await runFlow(flow, { script: says(''), adapters })
    expect(dataOf(run)['walk']).toMatchObject({ sessions: { main: 's-1', helper: 's-1' } })
    expect(asked).toEqual(['main: none', 'helper: none'])
  })

  it('A6: checks structured output, asks once for a correction, then fails', async () => {
    const document = oneTurn({ turnMode: 'evaluate' })
    const good = { score: 0.9, canComplete: true, reason: 'all there' }
    const second = await runFlow(document, {
      script: ({ messages }) =>
        messages.length === 0 ? { text: 'no idea' } : { text: '', structured: good }
    })
    expect(dataOf(second)['result']).toBe('all there')
    expect(second.requests[1]?.messages.map(({ role }) => role)).toEqual(['assistant', 'user'])
    const never = await runFlow(document, {
      script: () => ({ text: '', structured: { score: 7 } })
    })
    expect(never.result.response).toMatchObject({ reason: 'structured_output_invalid' })
    expect(never.requests).toHaveLength(2)
  })

  it('A6: checks the schema that a node gives', async () => {
    const outputSchema = {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city']
    }
    const document = oneTurn({ outputSchema, outputRetries: 0 })
    const structured = (given: JsonObject) =>
      runFlow(document, { script: () => ({ structured: given }) })
    expect((await structured({ city: 'Bern' })).result.response.success).toBe(true)
    expect((await structured({ town: 'Bern' })).result.response).toMatchObject({
      reason: 'structured_output_invalid'
    })
  })
})

describe('A6: numbers in structured output', () => {
  it('fit a schema that asks for numbers, and come out as numbers', async () => {
    const outputSchema = {
      type: 'object',
      properties: { share: { type: 'number', maximum: 1 }, parts: { type: 'integer' } },
      required: ['share', 'parts']
    }
    const text = '{"share": 0.625, "parts": 8}'
    const run = await runFlow(oneTurn({ outputSchema, outputRetries: 0 }), {
      script: () => ({ text })
    })
    expect(run.result.response.success).toBe(true)
    const { receipts } = run
    expect(receipts.join()).toContain('"structured":{"parts":8,"share":0.625}')
  })
})

describe('A6: budgets', () => {
  const budgets: readonly (readonly [string, JsonObject, JsonObject])[] = [
    ['maxTokens', { budgets: { maxTokens: 99 } }, {}],
    ['maxSteps', { budgets: { maxSteps: 0 } }, {}],
    [
      'maxCostUsd',
      {
        budgets: { maxCostUsd: '0.000129' },
        modelProfile: { pricing: { inputUsdPerMillion: '0.5', outputUsdPerMillion: '2.5' } }
      },
      {}
    ],
    ['maxCostUsd (unknown cost)', { budgets: { maxCostUsd: 1 } }, {}],
    ['maxTokens', {}, { globalBudget: { maxTokens: 99 } }],
    ['maxWallClockMs', { budgets: { maxWallClockMs: 0 } }, {}]
  ]
  for (const [budget, agent, runtime] of budgets) {
    it(`ends a turn beyond ${budget} ${JSON.stringify(runtime)}`, async () => {
      const document = { ...oneTurn({}, agent), runtime }
      const { result } = await runFlow(document, { script: says('x') })
      expect(result.response).toMatchObject({ reason: 'budget_exceeded', details: { budget } })
    })
  }

  it('counts over the nodes of an agent, and tells the model what is left', async () => {
    const document = flowOf({
      agents: [agentOf('main', { budgets: { maxTokens: 150 } })],
      nodes: [
        nodeOf('one', 'agent.main', { agentId: 'main' }),
        nodeOf('two', 'agent.main', { agentId: 'main' })
      ],
      edges: ['one -> two']
    })
    const run = await runFlow(document, { script: says('x') })
    expect(run.requests.map(({ maxTokens }) => maxTokens)).toEqual([150, 50])
    expect(run.result.response).toMatchObject({
      reason: 'budget_exceeded',
      details: { budget: 'maxTokens', limit: 150, used: 200 }
    })
  })

  it('keeps a turn within a price that just suffices', async () => {
    const document = oneTurn(
      {},
      {
        budgets: { maxCostUsd: '0.00013' },
        modelProfile: { pricing: { inputUsdPerMillion: '0.5', outputUsdPerMillion: '2.5' } }
      }
    )
    const run = await runFlow(document, { script: says('x') })
    expect(dataOf(run)).toMatchObject({ spent: { main: { costUsd: '0.00013' } } })
  })
})

describe('A6: timeouts', () => {
  it('ends a turn that takes longer than its agent allows', async () => {
    const { result } = await runFlow(oneTurn({}, { timeouts: { turnMs: 20 } }), {
      script: () => ({ hangs: true })
    })
    expect(result.response).toMatchObject({ reason: 'timed_out', details: { timeoutMs: 20 } })
  })

  const bounds: readonly (readonly [string, JsonObject, JsonObject])[] = [
    ['sessionMs', { timeouts: { sessionMs: 400 } }, {}],
    ['maxWallClockMs', { budgets: { maxWallClockMs: 400 } }, {}],
    ['maxWallClockMs of the flow', {}, { globalBudget: { maxWallClockMs: 400 } }]
  ]
  for (const [bound, agent, runtime] of bounds) {
    it(`ends a turn when what was left of ${bound} is over`, async () => {
      const flow = flowOf({
        agents: [agentOf('main', agent)],
        nodes: [
          nodeOf('one', 'agent.main', { agentId: 'main' }),
          nodeOf('two', 'agent.main', { agentId: 'main' })
        ],
        edges: ['one -> two']
      })
      const clock = new ManualClock()
      const { result } = await runFlow(
        { ...flow, runtime },
        {
          clock,
          script: ({ nodeId }) => {
            if (nodeId === 'two') return { hangs: true }
            clock.advance(385)
            return { text: 'x' }
          }
        }
      )
      expect(result.response).toMatchObject({ reason: 'timed_out', details: { timeoutMs: 15 } })
    })
  }

  it('begins no turn once the session is over', async () => {
    const document = flowOf({
      agents: [agentOf('main', { timeouts: { sessionMs: 1 } })],
      nodes: [
        nodeOf('one', 'agent.main', { agentId: 'main' }),
        nodeOf('two', 'agent.main', { agentId: 'main' })
      ],
      edges: ['one -> two']
    })
    const clock = new ManualClock()
    const run = await runFlow(document, {
      clock,
      script: () => {
        clock.advance(5)
        return { text: 'x' }
      }
    })
    expect(run.requests).toHaveLength(1)
    expect(run.result.response).toMatchObject({
      reason: 'budget_exceeded',
      details: { budget: 'sessionMs', limit: 1 }
    })
  })
})

describe('A6: tools', () => {
  const allowed = (rest: JsonObject = {}) =>
    oneTurn({}, { toolPolicy: { allowedCapabilities: ['pay'], ...rest } })

  it('waits for a person before a destructive tool, and does it once', async () => {
    const done: string[] = []
    let waits = 0
    const run = await runFlow(allowed(), {
      script: callsTool('pay', { to: 'alice' }),
      host: { tools: [payTool(done)] },
      follow: async (handle) => {
        waits = await answerWaits(handle, 'approve')
      }
    })
    expect(dataOf(run)['result']).toBe('got {"paid":"alice"}')
    expect([waits, done.length]).toEqual([1, 1])
  })

  it('tells the model when it was denied, and does nothing', async () => {
    const done: string[] = []
    const run = await runFlow(allowed(), {
      script: callsTool('pay', { to: 'alice' }),
      host: { tools: [payTool(done)] },
      follow: async (handle) => {
        await answerWaits(handle, 'deny')
      }
    })
    expect(dataOf(run)['result']).toBe('got {"error":"denied"}')
    expect(done).toEqual([])
  })

  it('asks no person where the policy says never', async () => {
    const run = await runFlow(allowed({ approvalRequirement: 'never' }), {
      script: callsTool('pay', { to: 'bob' }),
      host: { tools: [payTool()] }
    })
    expect(dataOf(run)['result']).toBe('got {"paid":"bob"}')
  })

  it('refuses tools that are blocked, unknown, or called with something else', async () => {
    const host = { tools: [payTool()] }
    const blocked = await runFlow(allowed({ blockedTools: ['pay'] }), {
      script: callsTool('pay', { to: 'bob' }),
      host
    })
    expect(dataOf(blocked)['result']).toBe('got {"error":"tool_not_allowed"}')
    expect(blocked.requests[0]?.tools).toBeUndefined()
    const wrong = await runFlow(allowed({ approvalRequirement: 'never' }), {
      script: callsTool('pay', { whom: 'bob' }),
      host
    })
    expect(String(dataOf(wrong)['result'])).toContain('invalid_arguments')
  })

  it('tells the model of a definite failure, and ends on one that is not', async () => {
    const failing = (definite: boolean) =>
      runFlow(allowed({ approvalRequirement: 'never' }), {
        script: callsTool('pay', { to: 'bob' }),
        host: {
          tools: [
            defineTool({
              ...payTool(),
              perform: () => {
                throw new EffectFailure('no_money', { definite })
              }
            })
          ]
        }
      })
    expect(dataOf(await failing(true))['result']).toBe('got {"error":"no_money"}')
    expect((await failing(false)).result.response).toMatchObject({ reason: 'no_money' })
  })

  it('does not begin without the tools that an agent may use', async () => {
    const { result, requests } = await runFlow(allowed(), { script: says('x') })
    expect(JSON.stringify(result.response.details)).toContain('tool_not_found')
    expect(requests).toEqual([])
  })

  it('bounds the turns of a node', async () => {
    const { result } = await runFlow(allowed({ approvalRequirement: 'never' }), {
      script: () => ({ toolCalls: [{ id: 'c', name: 'pay', arguments: { to: 'x' } }] }),
      host: { tools: [payTool()] }
    })
    expect(result.response).toMatchObject({ reason: 'too_many_turns' })
  })

  it('refuses definitions that a request could not carry', () => {
    const refused = (change: object) => () => defineTool({ ...payTool(), ...change })
    expect(refused({ name: 'a.b' })).toThrow('cannot be registered')
    expect(refused({ name: 'delegate' })).toThrow('kept for delegations')
    expect(refused({ parameters: { $schema: 'x' } })).toThrow('beginning with $')
  })
})

describe('A6: delegation', () => {
  const policy = (rest: JsonObject) => ({
    subagentPolicy: { switchModes: ['agent-suggested'], maxDelegations: 1, ...rest }
  })
  const suggests = (agentId: string) => (request: TurnRequest) =>
    request.agentId === 'helper'
      ? { text: `helped with ${request.prompt}` }
      : callsTool('delegate', { agentId, task: 'the sum' })(request)

  it('hands a task to an allowed agent, with the trace of the rules in the result', async () => {
    const document = flowOf({
      agents: [agentOf('main', policy({ allowedAgents: ['helper'] })), agentOf('helper')],
      nodes: [nodeOf('ask', 'agent.main', { agentId: 'main' })]
    })
    const run = await runFlow(document, { script: suggests('helper') })
    const data = dataOf(run)
    expect(data['ports']).toEqual({ result: 'got {"text":"helped with the sum"}' })
    expect(data['turn']).toMatchObject({
      turns: 3,
      delegations: [
        {
          mode: 'agent-suggested',
          from: 'main',
          target: 'helper',
          decision: 'approved',
          trace: ['mode_allowed', 'target_allowed', 'target_exists', 'delegations_left'].map(
            (rule) => ({ rule, passed: true })
          )
        }
      ]
    })
  })

  const rejected: readonly (readonly [string, JsonObject, string])[] = [
    ['target_allowed', policy({ allowedAgents: ['helper'] }), 'other'],
    ['target_exists', policy({}), 'nobody'],
    ['target_exists', policy({}), 'main']
  ]
  for (const [rule, agent, target] of rejected) {
    it(`rejects by ${rule} (${target})`, async () => {
      const document = flowOf({
        agents: [agentOf('main', agent), agentOf('helper'), agentOf('other')],
        nodes: [nodeOf('ask', 'agent.main', { agentId: 'main' })]
      })
      const run = await runFlow(document, { script: suggests(target) })
      expect(JSON.stringify(dataOf(run)['turn'])).toContain(`{"passed":false,"rule":"${rule}"}`)
      expect(run.requests.every(({ agentId }) => agentId === 'main')).toBe(true)
    })
  }

  it('offers no delegation to an agent that has none', async () => {
    const run = await runFlow(oneTurn(), { script: suggests('helper') })
    expect(dataOf(run)['result']).toBe('got {"error":"delegation_rejected"}')
    expect(run.requests[0]?.tools).toBeUndefined()
  })

  it('goes to another agent where the flow says so', async () => {
    const forced = (maxDelegations: number) =>
      runFlow(oneTurn({ delegateTo: 'helper' }, { subagentPolicy: { maxDelegations } }), {
        script: ({ agentId }) => ({ text: agentId })
      })
    expect(dataOf(await forced(1))['result']).toBe('helper')
    expect((await forced(0)).result.response).toMatchObject({ reason: 'delegation_rejected' })
  })
})
