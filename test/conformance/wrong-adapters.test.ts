import { describe, expect, it } from 'vitest'
import {
  type AgentAdapter,
  type AgentSession,
  fakeAdapter,
  type TurnOptions,
  type TurnRequest,
  type TurnResult
} from '../../src/agent/index.js'
import { EffectFailure } from '../../src/code/index.js'
import {
  type AdapterDriver,
  adapterConformance,
  conformanceSecrets
} from '../../src/testing/index.js'
import { failingChecks, neverFailed, type WrongDriver } from '../support/failing-checks.js'
import { fakeAdapterScenes } from '../support/fake-adapter-scenes.js'

type Turn = AgentSession['turn']

/** The fake adapter, of which some things are otherwise. */
function altered(changes: {
  readonly turn?: (right: Turn) => Turn
  readonly session?: (right: AgentSession) => Partial<AgentSession>
  readonly adapter?: (right: AgentAdapter) => Partial<AgentAdapter>
}): () => AdapterDriver {
  return () => ({
    start: async (scene) => {
      const right = fakeAdapter({ script: () => fakeAdapterScenes[scene] })
      const adapter: AgentAdapter = {
        kind: 'wrong',
        open: async (options) => {
          const session = await right.open(options)
          const turn: Turn = (request, given) => session.turn(request, given)
          return {
            turn: changes.turn?.(turn) ?? turn,
            dispose: () => session.dispose(),
            ...changes.session?.(session)
          }
        },
        ...changes.adapter?.(right)
      }
      return { adapter, settings: {}, close: async () => undefined }
    }
  })
}

const answering = (change: (result: TurnResult) => TurnResult) =>
  altered({ turn: (right) => async (request, options) => change(await right(request, options)) })

const failing = (change: (failure: EffectFailure) => EffectFailure) =>
  altered({
    turn: (right) => async (request, options) => {
      try {
        return await right(request, options)
      } catch (error) {
        throw change(error as EffectFailure)
      }
    }
  })

const wrong: readonly WrongDriver<AdapterDriver>[] = [
  {
    fault: 'says not which model has answered',
    driver: answering((result) => ({ ...result, model: '' })),
    fails: ['answers a turn']
  },
  {
    fault: 'reports a piece of the text twice',
    driver: altered({
      turn: (right) => (request, options) =>
        right(request, {
          ...options,
          onDelta: (delta) => {
            options.onDelta?.(delta)
            options.onDelta?.(delta)
          }
        })
    }),
    fails: ['A4: tells the text']
  },
  {
    fault: 'answers the first turn of a session only',
    driver: altered({
      turn: (right) => {
        let count = 0
        return async (request, options) => {
          count += 1
          const result = await right(request, options)
          return count === 1 ? result : { ...result, finalText: '', status: 'failed' }
        }
      }
    }),
    fails: ['A4: does the turns', 'hands tool calls']
  },
  {
    fault: 'counts half a token',
    driver: answering((result) => ({ ...result, usage: { ...result.usage, totalTokens: 0.5 } })),
    fails: ['answers a turn']
  },
  {
    fault: 'gives an object of its library with structured output',
    driver: answering((result) =>
      result.structuredOutput === undefined
        ? result
        : Object.assign({ answeredAt: new Date(0) }, result)
    ),
    fails: ['A5: seals nothing']
  },
  {
    fault: 'puts the reasoning into the text',
    driver: answering(({ reasoningText = '', ...result }) => ({
      ...result,
      finalText: reasoningText + result.finalText
    })),
    fails: ['gives reasoning']
  },
  {
    fault: 'rounds the numbers of structured output',
    driver: answering((result) =>
      result.structuredOutput === undefined
        ? result
        : { ...result, structuredOutput: { score: 1, canComplete: true } }
    ),
    fails: ['gives the JSON']
  },
  {
    fault: 'makes up structured output where there is none',
    driver: altered({
      turn: (right) => async (request, options) => {
        const result = await right(request, options)
        return { ...result, structuredOutput: result.structuredOutput ?? {}, warnings: [] }
      }
    }),
    fails: ['says that JSON is missing']
  },
  {
    fault: 'drops the arguments of a tool call',
    driver: answering((result) => ({
      ...result,
      toolCalls: result.toolCalls.map((call) => ({ ...call, arguments: {} }))
    })),
    fails: ['hands tool calls']
  },
  {
    fault: 'does not say that a refusal is certain',
    driver: failing(({ reason, details }) => new EffectFailure(reason, { details })),
    fails: ['A5: fails definitely', 'A5: sends nothing']
  },
  {
    fault: 'says that a lost answer is certain',
    driver: failing(({ reason, details }) => {
      return new EffectFailure(reason, { details, definite: true })
    }),
    fails: ['A5: fails without', 'is called off']
  },
  {
    fault: 'quotes the prompt in a failure',
    driver: failing(({ reason, definite }) => {
      return new EffectFailure(reason, { details: conformanceSecrets.prompt, definite })
    }),
    fails: ['A5: fails definitely', 'A5: fails without', 'is called off']
  },
  {
    fault: 'throws an error of its own kind',
    driver: failing(({ message }) => new Error(message) as EffectFailure),
    fails: ['A5: fails definitely', 'A5: fails without', 'is called off', 'A5: sends nothing']
  },
  {
    fault: 'sends a turn that was called off before',
    driver: altered({
      turn: (right) => (request: TurnRequest, options: TurnOptions) =>
        right(request, options.signal.aborted ? { ...options, signal: listening() } : options)
    }),
    fails: ['A5: sends nothing']
  },
  {
    fault: 'does not listen when a turn is called off',
    driver: altered({
      turn: (right) => (request, options) => right(request, { ...options, signal: listening() })
    }),
    fails: ['late: is called off', 'A5: sends nothing']
  },
  {
    fault: 'refuses to dispose of a session again',
    driver: altered({
      session: () => {
        let isDisposed = false
        return {
          dispose: async () => {
            if (isDisposed) throw new Error('it is gone')
            isDisposed = true
          }
        }
      }
    }),
    fails: ['disposes of a session']
  },
  {
    fault: 'opens no session',
    driver: altered({ adapter: () => ({ open: () => new Promise(() => undefined) }) }),
    fails: adapterConformance.map(({ name }) => `late: ${name}`)
  }
]

function listening(): AbortSignal {
  return new AbortController().signal
}

describe('an adapter is found wrong that', () => {
  it.each(wrong)('$fault', async ({ driver, fails }) => {
    expect(await failingChecks(adapterConformance, driver, fails)).toEqual(fails)
  })
})

it('each check of the suite for adapters fails for a wrong adapter', () => {
  expect(neverFailed(adapterConformance, wrong)).toEqual([])
})
