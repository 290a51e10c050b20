import { describe, expect, it } from 'vitest'
import { defineTool, type FakeScript } from '../../../src/agent/index.js'
import { type Json, type JsonObject, ManualClock, nextTurn } from '../../../src/core/index.js'
import type { RunHandle } from '../../../src/runtime/index.js'
import { agentOf, flowOf, nodeOf, runFlow, scripted } from '../../support/flows.js'
import { Machine, openOn } from '../../support/lives.js'

/** A7: time budgets of agents count what turns and tools take, and nothing else. */

const minute = 60_000

/** Calls `pay` in its first turn; each turn takes so long. */
function paysIn(clock: ManualClock, turnMs: number): FakeScript {
  return ({ messages }) => {
    clock.advance(turnMs)
    if (messages.length > 0) return { text: 'done' }
    return { toolCalls: [{ id: 'c', name: 'pay', arguments: {} }] }
  }
}

function payTool(clock: ManualClock, toolMs: number, done: Json[] = []) {
  return defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: { type: 'object' },
    sideEffects: 'idempotent',
    perform: ({ request }) => {
      clock.advance(toolMs)
      done.push(request)
      return { paid: true }
    }
  })
}

function flow(
  agent: JsonObject,
  config: JsonObject = {},
  runtime: JsonObject = {},
  asks: readonly string[] = ['ask']
) {
  const nodes = [...asks, 'finish']
  const toolPolicy = { allowedCapabilities: ['pay'] }
  return flowOf({
    agents: [agentOf('main', { toolPolicy, ...agent })],
    nodes: [
      ...asks.map((id) => nodeOf(id, 'agent.main', { agentId: 'main', config })),
      nodeOf('finish', 'control.finish')
    ],
    edges: asks.map((id, index) => `${id} -> ${nodes[index + 1]}`),
    runtime
  })
}

/** Approves each wait after a person has taken their time. */
function approvesAfter(clock: ManualClock, ms: number) {
  return async (run: RunHandle) => {
    for await (const event of run) {
      if (event.type !== 'waiting') continue
      clock.advance(ms)
      await run.approve(event.token, { digest: event.digest })
    }
  }
}

const fiveMinutes: readonly (readonly [string, JsonObject, JsonObject])[] = [
  ['no bound at all', {}, {}],
  ['sessionMs', { timeouts: { sessionMs: 5 * minute } }, {}],
  ['maxWallClockMs', { budgets: { maxWallClockMs: 5 * minute } }, {}],
  ['maxWallClockMs of the flow', {}, { globalBudget: { maxWallClockMs: 5 * minute } }]
]

describe('A7: time budgets', () => {
  it.each(fiveMinutes)('do not end a run whose approval takes an hour: %s', async (...given) => {
    const [, agent, runtime] = given
    const clock = new ManualClock()
    const done: Json[] = []
    // What the first node has waited is over when the second begins.
    const { result } = await runFlow(flow(agent, {}, runtime, ['ask', 'ask_again']), {
      clock,
      script: paysIn(clock, 1_000),
      host: { tools: [payTool(clock, 1_000, done)] },
      follow: approvesAfter(clock, 60 * minute)
    })
    expect(result.response).toMatchObject({ success: true, data: { result: 'done' } })
    expect(done).toHaveLength(2)
  })

  it.each(fiveMinutes)(
    'do not end a run whose process was down for an hour: %s',
    async (...given) => {
      const [, agent, runtime] = given
      const document = flow(agent, {}, runtime)
      const clock = new ManualClock()
      const machine = new Machine(1)
      const done: Json[] = []
      const open = () =>
        openOn(machine.begin(undefined).store, {
          clock,
          agents: {
            environment: {},
            adapters: scripted(paysIn(clock, 1_000)),
            tools: [payTool(clock, 1_000, done)]
          }
        })
      const first = await open()
      const begun = first.begin(document, { id: 'flow' })
      for await (const event of begun) if (event.type === 'waiting') break
      await first.close()
      clock.advance(60 * minute)
      const later = await open()
      const run = later.begin(document, { id: 'flow' })
      const following = approvesAfter(clock, 0)(run)
      expect((await run.result).response).toMatchObject({ success: true })
      await following
      expect(done).toHaveLength(1)
      expect(await later.verify()).toMatchObject({ ok: true, complete: true })
      await later.close()
    }
  )

  it('do not count the time before a failed turn is tried again', async () => {
    const clock = new ManualClock()
    let turns = 0
    const { result } = await runFlow(
      flow(
        { timeouts: { sessionMs: 5 * minute }, toolPolicy: {} },
        { retry: { maxAttempts: 2, intervalMs: 10 * minute } }
      ),
      {
        clock,
        script: () => {
          turns += 1
          if (turns > 1) return { text: 'done' }
          return { fails: 'server_failed' }
        },
        follow: async () => {
          while (turns < 2) {
            await nextTurn()
            if (clock.nextDue !== undefined) clock.advance(10 * minute)
          }
        }
      }
    )
    expect([turns, result.response.success]).toEqual([2, true])
  })

  const bounded = flow({
    timeouts: { sessionMs: 150_000 },
    toolPolicy: { allowedCapabilities: ['pay'], approvalRequirement: 'never' }
  })

  it('count the turns of one node, and begin none that is beyond them', async () => {
    const clock = new ManualClock()
    const run = await runFlow(bounded, {
      clock,
      script: paysIn(clock, 200_000),
      host: { tools: [payTool(clock, 0)] }
    })
    expect(run.requests).toHaveLength(1)
    expect(run.result.response).toMatchObject({
      reason: 'budget_exceeded',
      details: { budget: 'sessionMs', limit: 150_000, used: 200_000 }
    })
  })

  it('count a tool with the turn that reads its result', async () => {
    const clock = new ManualClock()
    const { result } = await runFlow(bounded, {
      clock,
      script: paysIn(clock, 1_000),
      host: { tools: [payTool(clock, 400_000)] }
    })
    expect(result.response).toMatchObject({ data: { spent: { main: { workMs: 402_000 } } } })
  })

  it('leave no time in receipts where nothing bounds it', async () => {
    const receipts = await Promise.all(
      [0, 1_000].map(async (turnMs) => {
        const clock = new ManualClock()
        const run = await runFlow(flow({ toolPolicy: {} }), {
          clock,
          script: () => {
            clock.advance(turnMs)
            return { text: 'done' }
          }
        })
        return JSON.stringify(run.result.response.data)
      })
    )
    expect(receipts[0]).toBe(receipts[1])
  })
})
