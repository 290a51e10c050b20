import { describe, expect, it } from 'vitest'
import { type JsonObject, ManualClock } from '../../src/core/index.js'
import { chainProviders } from '../../src/executor/index.js'
import { FakeChain, fakeExecutor } from '../../src/testing/index.js'
import { cases } from '../support/effort.js'
import { mortalProvider } from '../support/mortal-provider.js'
import {
  account,
  type ChainId,
  chains,
  hashes,
  paying,
  policy,
  sentBy,
  till
} from '../support/outside-wallets.js'
import { type Decide, type Outcome, runScenario, type Scenario } from '../support/run-to-end.js'

/**
 * A wallet outside sends what it is asked to, and names another hash. A person corrects that, and
 * the run finds what was sent: once, on chains with and without nonces, wherever its process dies.
 */

/** What the wallet names, what a person answers to the first and to the second failure. */
interface Story {
  readonly named: '1' | '2' | '3'
  readonly answers: readonly ('1' | '2' | '3')[]
  /** What was sent waits until the last answer. */
  readonly isLate?: true
  readonly timeoutMs?: number
}

/** `1` is the hash of what was sent, `2` of another payment, and `3` of nothing. */
const stories: Readonly<Record<string, Story>> = {
  'of nothing that the chain knows': { named: '3', answers: ['1'] },
  'of something else': { named: '2', answers: ['1'] },
  'of nothing, and then of something else': { named: '3', answers: ['2', '1'] },
  'of what was sent, which a person takes for wrong and then does not': {
    named: '1',
    answers: ['3', '1'],
    isLate: true
  },
  'of nothing, in a node whose time is over first': { named: '3', answers: ['1'], timeoutMs: 15 }
}

function scenario(id: ChainId, { named, answers, isLate, timeoutMs }: Story) {
  const chain = new FakeChain({ id })
  const hashOf = hashes[id]
  const execution = { type: 'evm_call', to: 'elsewhere' }
  chain.receive({ hash: hashOf('2'), from: account, nonce: 0, validUntil: null, execution })
  if (isLate) chain.holds = () => true
  const looked = [named, ...answers].map(hashOf)
  // By what it asks: asked again after a death, a person answers the same.
  const decide: Decide = (wait) => {
    if (wait.reason === 'external') {
      sentBy(wait, chain, hashOf('1'))
      return { action: 'resume', value: { hash: hashOf(named) } }
    }
    const { diagnostic = null } = (wait.request as { readonly details: JsonObject }).details
    const { hash = hashOf(named) } =
      ((diagnostic as JsonObject | null)?.['transaction'] as JsonObject | undefined) ?? {}
    const turn = looked.indexOf(String(hash))
    if (turn === answers.length - 1) {
      chain.holds = () => false
      chain.mine()
    }
    const next = looked[turn + 1] ?? ''
    return { action: 'patch', value: { transaction_hash: { [hashOf(named)]: next } } }
  }
  const given: Scenario = {
    document: paying(id, timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }),
    inputs: { inputs: {}, ctx: { account } },
    decide,
    registrations: (world) => {
      const terms = { pollMs: 10, timeoutMs: 30 }
      const own = fakeExecutor({ chains: [chain], terms, clock: new ManualClock() })
      return {
        blocks: [],
        providers: chainProviders([own]).map((one) => mortalProvider(one, world)),
        workflow: { protocols: [till], writes: 'broadcast', policy }
      }
    }
  }
  return { chain, given, hashOf }
}

function expectFound({ chain, hashOf }: ReturnType<typeof scenario>, { result }: Outcome): void {
  expect(result).toMatchObject({ status: 'done', response: { data: { hash: hashOf('1') } } })
  expect(chain.effective().map(({ hash }) => hash)).toEqual([hashOf('2'), hashOf('1')])
}

describe.each(chains)('W13: a wallet on %s that names the hash', (id) => {
  for (const [name, story] of Object.entries(stories)) {
    it(`${name}, is corrected, whichever boundary its process dies at`, async () => {
      const whole = scenario(id, story)
      const reference = await runScenario(whole.given)
      expectFound(whole, reference)
      expect(reference.boundaries).toBeGreaterThan(20)
      const step = Math.ceil(reference.boundaries / cases({ usual: 4, long: 5, soak: 1_000 }))
      for (let death = 1; death <= reference.boundaries; death += step) {
        const one = scenario(id, story)
        expectFound(one, await runScenario(one.given, [death]))
      }
    })
  }
})
