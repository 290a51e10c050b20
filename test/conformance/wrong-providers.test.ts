import { describe, expect, it } from 'vitest'
import type { Provider } from '../../src/block/index.js'
import { type EffectCall, EffectFailure } from '../../src/code/index.js'
import { canonicalize, type Json, nextTurn } from '../../src/core/index.js'
import {
  type FakeService,
  type ProviderUnderTest,
  providerConformance
} from '../../src/testing/index.js'
import { failingChecks, neverFailed, type WrongDriver } from '../support/failing-checks.js'
import { openFakeService } from '../support/providers-under-test.js'

type Open = () => Promise<ProviderUnderTest>

/** The fake service, behind providers of which some things are otherwise in each process. */
function altered(
  changes: (right: Required<Pick<Provider, 'perform' | 'locate'>>, service: FakeService) => object,
  { honoursKeys = true, ...test }: Partial<ProviderUnderTest> & { honoursKeys?: boolean } = {}
): () => Open {
  return () => async () => {
    const open = openFakeService(honoursKeys)
    const process = (): Provider => {
      const {
        name,
        perform,
        locate = () => ({ found: false, definite: false })
      } = open.service.provider()
      return { name, perform, locate, ...changes({ perform, locate }, open.service) }
    }
    return { ...open, provider: process(), restart: async () => process(), ...test }
  }
}

/** Performs, with another failure where it fails. */
function failing(
  change: (failure: EffectFailure, call: EffectCall) => EffectFailure | Promise<never>
) {
  return altered(({ perform }) => ({
    perform: async (call: EffectCall) => {
      try {
        return await perform(call)
      } catch (error) {
        throw await change(error as EffectFailure, call)
      }
    }
  }))
}

const forgetful = { honoursKeys: false }

const wrong: readonly WrongDriver<Open>[] = [
  {
    fault: 'does again what comes again under its key',
    driver: altered(() => ({}), forgetful),
    fails: ['L7: a key of', 'L7: a key that is sent twice', 'L7: a key that the next', 'an answer']
  },
  {
    fault: 'remembers keys in its own process',
    driver: altered(({ perform }) => {
      const answers = new Map<string, Promise<Json>>()
      return {
        perform: (call: EffectCall) => {
          const answer = answers.get(call.key) ?? Promise.resolve(perform(call))
          answers.set(call.key, answer)
          answer.catch(() => answers.delete(call.key))
          return answer
        }
      }
    }, forgetful),
    fails: ['L7: a key that the next', 'an answer']
  },
  {
    fault: 'looks for a key before it remembers it',
    driver: altered(
      ({ perform, locate }) => ({
        perform: async (call: EffectCall) => {
          const before = await locate(call)
          await nextTurn()
          return before.found ? before.result : perform(call)
        }
      }),
      forgetful
    ),
    fails: ['L7: a key that is sent twice']
  },
  {
    fault: 'takes two equal requests for one',
    driver: altered(({ perform }) => {
      const answers = new Map<string, Json>()
      return {
        perform: async (call: EffectCall) => {
          const text = canonicalize(call.request)
          const answer = answers.get(text) ?? (await perform(call))
          answers.set(text, answer)
          return answer
        }
      }
    }),
    fails: ['does a request again']
  },
  {
    fault: 'does the first two requests only',
    driver: altered(({ perform }, { deeds }) => ({
      perform: (call: EffectCall) => (deeds.length < 2 ? perform(call) : {})
    })),
    fails: ['does each']
  },
  {
    fault: 'answers with an object of its library',
    driver: altered(({ perform }) => ({
      perform: async (call: EffectCall) => {
        const answer = await perform(call)
        return call.request !== null ? Object.assign({ at: new Date(0) }, answer) : answer
      }
    })),
    fails: [
      'answers',
      'does each',
      'does a request again',
      'L7: a key of',
      'L7: a key that is sent twice',
      'L7: a key that the next',
      'locate finds what was',
      'locate finds what an',
      'locate finds nothing',
      'an answer',
      'a request',
      'a call'
    ]
  },
  {
    fault: 'acts where it only reads',
    driver: altered(() => ({}), { sideEffects: 'none' }),
    fails: [
      'answers',
      'does each',
      'does a request again',
      'locate finds what was',
      'locate finds what an',
      'locate finds nothing',
      'an answer',
      'a request'
    ]
  },
  {
    fault: 'does what it is asked to find',
    driver: altered(({ perform }) => ({
      locate: async (call: EffectCall) => ({ found: true, result: await perform(call) })
    })),
    fails: ['locate finds nothing', 'a request']
  },
  {
    fault: 'finds what its own process has done',
    driver: altered(({ perform, locate }) => {
      const own = new Set<string>()
      return {
        perform: (call: EffectCall) => {
          own.add(call.key)
          return perform(call)
        },
        locate: (call: EffectCall) =>
          own.has(call.key) ? locate(call) : { found: false, definite: false }
      }
    }),
    fails: ['locate finds what an', 'an answer']
  },
  {
    fault: 'finds the last answer under any key',
    driver: altered((_, { deeds }) => ({
      locate: () => ({ found: true, result: deeds.at(-1)?.answer ?? null })
    })),
    fails: ['locate finds nothing', 'a request']
  },
  {
    fault: 'finds nothing where the answer was lost',
    driver: altered(({ perform, locate }) => {
      const lost = new Set<string>()
      return {
        perform: async (call: EffectCall) => {
          try {
            return await perform(call)
          } catch (error) {
            lost.add(call.key)
            throw error
          }
        },
        locate: (call: EffectCall) =>
          lost.has(call.key) ? { found: false, definite: false } : locate(call)
      }
    }),
    fails: ['an answer', 'what may']
  },
  {
    fault: 'says that a lost answer means nothing was done',
    driver: failing(({ reason }) => new EffectFailure(reason, { definite: true })),
    fails: ['an answer', 'what may']
  },
  {
    fault: 'answers a lost request as if it were done',
    driver: altered(({ perform }) => ({
      perform: async (call: EffectCall) => {
        try {
          return await perform(call)
        } catch (error) {
          if ((error as EffectFailure).definite) throw error
          return {}
        }
      }
    })),
    fails: ['a request']
  },
  {
    fault: 'says that what is under way is certainly absent',
    driver: altered(({ locate }) => ({
      locate: async (call: EffectCall) => {
        const located = await locate(call)
        return located.found ? located : { found: false, definite: true }
      }
    })),
    fails: ['what may']
  },
  {
    fault: 'answers a refusal with a text',
    driver: altered(({ perform }) => ({
      perform: (call: EffectCall) => (call.request === 'refused' ? 'it is refused' : perform(call))
    })),
    fails: ['a refusal']
  },
  {
    fault: 'does not know that a refusal is certain',
    driver: failing(({ reason }) => new EffectFailure(reason)),
    fails: ['a refusal']
  },
  {
    fault: 'says of what it has begun that it was not sent',
    driver: altered(({ perform }) => ({
      perform: async (call: EffectCall) => {
        const answer = await perform({ ...call, signal: new AbortController().signal })
        if (call.signal.aborted) throw new EffectFailure('not_sent', { definite: true })
        return answer
      }
    })),
    fails: ['a call']
  },
  {
    fault: 'does something when it recovers from nothing',
    driver: altered(({ perform }) => ({
      recover: async () => {
        await perform({ key: 'left', request: null, signal: new AbortController().signal })
      }
    })),
    fails: ['recovering']
  },
  {
    fault: 'waits for ever for an answer that is lost',
    driver: failing((failure) =>
      failure.definite ? Promise.reject(failure) : new Promise<never>(() => undefined)
    ),
    fails: ['late: an answer', 'late: a request', 'late: what may']
  }
]

describe('a provider is found wrong that', () => {
  it.each(wrong)('$fault', async ({ driver, fails }) => {
    expect(await failingChecks(providerConformance, driver, fails)).toEqual(fails)
  })
})

it('each check of the suite for providers fails for a wrong provider', () => {
  expect(neverFailed(providerConformance, wrong)).toEqual([])
})
