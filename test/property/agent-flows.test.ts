import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  AdapterRegistry,
  type FakeTurn,
  fakeAdapter,
  type TurnRequest
} from '../../src/agent/index.js'
import { canonicalize, type Json, systemClock } from '../../src/core/index.js'
import type { Registrations } from '../../src/runtime/index.js'
import { essence } from '../support/crash-everywhere.js'
import { cases } from '../support/effort.js'
import { agentOf, flowOf, nodeOf, runFlow } from '../support/flows.js'
import { runScenario } from '../support/run-to-end.js'

/**
 * A plan loop whose executor calls a tool that a person approves: every kind of step a flow has.
 */
const document = flowOf({
  agents: [
    agentOf('main'),
    agentOf('sub', { toolPolicy: { allowedCapabilities: ['look'], approvalRequirement: 'always' } })
  ],
  nodes: [
    nodeOf('loop', 'control.plan-loop', { config: { maxIterations: 3 } }),
    nodeOf('plan', 'agent.main', { agentId: 'main', config: { turnMode: 'plan' } }),
    nodeOf('work', 'agent.sub', { agentId: 'sub' }),
    nodeOf('judge', 'agent.main', { agentId: 'main', config: { turnMode: 'evaluate' } }),
    nodeOf('finish', 'control.finish')
  ],
  edges: [
    'loop:plan -> plan',
    'plan -> loop',
    'loop:execute -> work',
    'work:result -> judge:data',
    'judge -> loop',
    'loop:done -> finish',
    'work:result -> finish:result'
  ]
})

const look = {
  name: 'look',
  description: 'Looks something up.',
  parameters: { type: 'object' },
  sideEffects: 'none' as const,
  perform: () => ({ seen: 'much' })
}

/** Depends on the request alone, as a model with temperature 0 would. */
function answer({ turnMode, messages }: TurnRequest): FakeTurn & object {
  if (turnMode === 'plan') return { text: 'a plan', structured: { steps: ['look', 'write'] } }
  if (turnMode === 'evaluate') {
    return { text: '', structured: { score: 0.9, canComplete: true, reason: 'good' } }
  }
  if (messages.length > 0) return { text: 'what I saw, at some length' }
  return { text: 'looking', toolCalls: [{ id: 'c', name: 'look', arguments: {} }] }
}

function registrationsOf(told: (key: string, request: TurnRequest) => void): Registrations {
  const adapters = new AdapterRegistry().registerAdapter('fake', () => {
    const fake = fakeAdapter({ script: answer })
    return {
      ...fake,
      open: async (session) => {
        const inner = await fake.open(session)
        return {
          ...inner,
          turn: async (request, options) => {
            const result = await inner.turn(request, options)
            told(options.invocationId, request)
            return result
          }
        }
      }
    }
  })
  return { agents: { adapters, tools: [look], environment: {} } }
}

const inputs: Json = { userPrompt: 'do it' }

describe('flows of agents', () => {
  it('D5: the same answers give the same receipts, however they are cut and timed', async () => {
    const run = async (chunkLength: number, chunkMs: number) => {
      const { receipts } = await runFlow(document, {
        script: (request) => ({ ...answer(request), chunkLength, chunkMs }),
        inputs,
        host: { tools: [look] },
        registrations: {},
        follow: async (handle) => {
          for await (const event of handle) {
            if (event.type !== 'waiting') continue
            await handle.approve(event.token, { digest: event.digest, by: 'tester' })
          }
        },
        adapters: new AdapterRegistry().registerAdapter('fake', () =>
          fakeAdapter({
            script: (request) => ({ ...answer(request), chunkLength, chunkMs }),
            clock: systemClock
          })
        )
      })
      return receipts
    }
    const whole = await run(1_000, 0)
    expect(whole.length).toBeGreaterThan(4)
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 0, max: 2 }),
        async (a, b) => {
          expect(await run(a, b)).toEqual(whole)
        }
      ),
      { numRuns: cases({ usual: 2, long: 4 }) }
    )
  })

  it('L7: a crash at any point repeats no turn that was completed, and ends with the same receipts', async () => {
    const scenario = (told: (key: string, request: TurnRequest) => void) => ({
      document,
      inputs,
      registrations: () => registrationsOf(told)
    })
    const alone: string[] = []
    const whole = await runScenario(scenario((key) => alone.push(key)))
    expect(whole.result.status).toBe('done')
    expect(new Set(alone).size).toBe(alone.length)
    for (let boundary = 1; boundary <= whole.boundaries; boundary += 1) {
      const asked = new Map<string, number>()
      const requests = new Map<string, string>()
      const crashed = await runScenario(
        scenario((key, request) => {
          asked.set(key, (asked.get(key) ?? 0) + 1)
          const text = canonicalize(request)
          expect(requests.get(key) ?? text).toBe(text)
          requests.set(key, text)
        }),
        [boundary]
      )
      expect(essence(crashed)).toEqual(essence(whole))
      expect([...asked.keys()].sort()).toEqual([...alone].sort())
      // Only the turn whose answer the crash has swallowed is asked for again, under its key.
      expect([...asked.values()].filter((count) => count > 1).length).toBeLessThanOrEqual(1)
    }
  })
})
