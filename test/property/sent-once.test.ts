import { describe, expect, it } from 'vitest'
import type { OpenWait, Provider } from '../../src/block/index.js'
import { EffectFailure } from '../../src/code/index.js'
import { isJsonObject, type Json, type JsonObject, ManualClock } from '../../src/core/index.js'
import { chainEffects, chainFailed, chainProviders } from '../../src/executor/index.js'
import { FakeChain, fakeExecutor } from '../../src/testing/index.js'
import { troublesOf } from '../../src/workflow/engine/diagnose.js'
import { aisText } from '../support/ais.js'
import { asset, balance, flow, owner, transfer } from '../support/ais-flows.js'
import { cases, isTaken } from '../support/effort.js'
import { mortalProvider } from '../support/mortal-provider.js'
import { type Decide, runScenario, type Scenario } from '../support/run-to-end.js'

/**
 * What a node reads may be something else in each of its attempts. Once one of them has sent its
 * transfer, or may have, no other is sent beside it: whatever varies, however it fails after it was
 * sent, whether it is tried again by itself, by a person or by another process.
 */

const id = 'eip155:1'

/** What varies: each question gets the next number. */
interface Kind {
  readonly node: JsonObject
  readonly more?: JsonObject
  readonly before?: readonly JsonObject[]
  /** Answers instead of the chain, by effect. */
  readonly answers?: (
    next: () => number,
    hasSent: () => boolean
  ) => Readonly<Record<string, () => Json>>
  readonly read?: (next: () => number) => JsonObject
  /** What a person gives who is asked. */
  readonly gives?: (next: () => number) => Json
  readonly policy?: JsonObject
  /** Another attempt that computes it anew does not get as far. */
  readonly isLost?: true
}

/** The clock of a machine begins then, in seconds. */
const begin = new ManualClock().now() / 1_000

const address = (number: number) => `0x${number.toString(16).padStart(40, '0')}`
const pays = (amount: Json, more: JsonObject = {}) => ({
  args: { token: asset, to: owner, amount },
  ...more
})
const detect = { kind: 'best_quote', provider: 'quotes', candidates: [{ lit: '3' }, { lit: '5' }] }
const wallet = { token: asset, to: { ref: 'ctx.wallet_address' }, amount: { lit: '5' } }
const failing = (reason: string) => {
  throw new EffectFailure(reason, { definite: true })
}

const kinds: Readonly<Record<string, Kind>> = {
  'the time': { node: pays({ cel: 'ctx.now' }) },
  'an account that is another each time': {
    node: { args: wallet },
    answers: (next) => ({
      [chainEffects.account]: () => ({ address: address(next()), canSign: true })
    })
  },
  'an account that a person is asked for first': {
    node: { args: wallet },
    answers: (next) => ({
      [chainEffects.account]: () => {
        const number = next()
        return number === 1 ? failing('unreachable') : { address: address(number), canSign: true }
      }
    }),
    gives: () => ({ 'ctx.wallet_address': address(99) })
  },
  'a choice that is another each time': {
    node: pays({ detect }),
    answers: (next) => ({ 'ais.detect': () => String(next()) })
  },
  'a choice that a person is asked for first': {
    node: pays({ detect }),
    answers: (next) => ({
      'ais.detect': () => {
        const number = next()
        return number === 1 ? failing('unreachable') : String(number)
      }
    }),
    gives: () => ({ choices: { 'args/amount/0': '3' } })
  },
  'an answer of a person': {
    node: pays({ ref: 'inputs.amount' }),
    more: { inputs: { amount: { type: 'uint256', required: true } } },
    gives: (next) => ({ 'inputs.amount': String(next()) })
  },
  'an address that a person is asked for': {
    node: pays({ ref: 'ctx.limit' }),
    gives: (next) => ({ 'ctx.limit': String(next()) })
  },
  'what a node before it has read': {
    before: [balance('look')],
    node: pays({ ref: 'nodes.look.outputs.balance' }, { deps: ['look'] }),
    read: (next) => ({ balance: String(next()) })
  },
  'a condition that does not hold any more': {
    node: pays({ lit: '5' }, { condition: { cel: `ctx.now <= ${begin}` } }),
    isLost: true
  },
  'an amount that cannot be computed any more': {
    node: pays({ cel: `${begin + 1} - ctx.now` }),
    isLost: true
  },
  'a bound of the policy': {
    node: pays({ cel: `ctx.now - ${begin} + 1` }),
    policy: { constraints: { max_spend: '1' } },
    isLost: true
  },
  'the time, below a ceiling of fees': {
    node: pays({ cel: 'ctx.now' }),
    policy: { constraints: { max_fee: '200' } }
  },
  'the time, of an action that polls': {
    node: pays(
      { cel: 'ctx.now' },
      {
        until: { cel: 'inputs.more >= 0' },
        retry: { interval_ms: 1_000, max_attempts: 3 }
      }
    )
  },
  'a simulation that fails by now': {
    node: pays({ lit: '5' }),
    more: { preflight: { simulate: { pay: true } } },
    // Not from the second time on: a read is made again where a death came before its answer was
    // durable, and then nothing would ever be sent.
    answers: (_next, hasSent) => ({
      [chainEffects.simulate]: () => {
        const revert = { name: 'Error', args: null, reason: 'it is paused', data: null }
        return hasSent() ? { ok: false, revert } : { ok: true, outputs: {} }
      }
    }),
    isLost: true
  }
}

interface Trouble {
  /** Makes it; gives what ends it. */
  readonly begin: (chain: FakeChain) => () => void
  readonly wraps?: (
    provider: Provider,
    isOver: () => boolean,
    pause: (isPaused: boolean) => void
  ) => Provider
  readonly node?: JsonObject
  /** Whether the transfer has certainly come to nothing. */
  readonly isCertain?: true
}

const lost = () => chainFailed('rpc_timeout', { phase: 'send', chain: id, message: '', sent: true })

const troubles: Readonly<Record<string, Trouble>> = {
  'is not included in time': {
    begin: (chain) => {
      chain.holds = () => true
      return () => {
        chain.holds = () => false
        chain.mine()
      }
    }
  },
  'arrives, and no answer does': {
    begin: () => () => undefined,
    wraps: (provider, isOver) => ({
      ...provider,
      perform: async (call) => {
        const answer = await provider.perform(call)
        if (provider.name === chainEffects.broadcast && !isOver()) throw lost()
        if (provider.name === chainEffects.look && !isOver()) throw lost()
        return answer
      }
    })
  },
  'does not arrive, and no answer does': {
    begin: (chain) => {
      chain.fault = (request) => {
        if (request === 'broadcast') throw lost()
      }
      return () => {
        chain.fault = () => undefined
      }
    }
  },
  'lands, and what must hold then does not': {
    begin: () => () => undefined,
    node: { assert: { cel: 'inputs.fine' } }
  },
  'has no effect': {
    begin: () => () => undefined,
    wraps: (provider, isOver, pause) => ({
      ...provider,
      perform: async (call) => {
        pause(provider.name === chainEffects.broadcast && !isOver())
        const answer = await provider.perform(call)
        pause(false)
        return answer
      }
    }),
    isCertain: true
  }
}

/** What a person does at each failure; a patch that is refused is followed by the next. */
const moves = { 'is tried again': ['retry', 'retry'], 'is patched': ['patch', 'retry'] } as const

function scenario(kind: Kind, trouble: Trouble, [...left]: readonly ('retry' | 'patch')[]) {
  let counted = 0
  const next = () => {
    counted += 1
    return counted
  }
  let isPaused = false
  const chain = new FakeChain({
    id,
    read: () => kind.read?.(next) ?? {},
    write: () => (isPaused ? { ok: false, name: 'Paused' } : { ok: true, outputs: {} })
  })
  const pause = (paused: boolean) => {
    isPaused = paused
  }
  const end = trouble.begin(chain)
  let isOver = false
  const isOwn = Object.hasOwn(trouble, 'node')
  let decided = 0
  const decide: Decide = (wait) => {
    decided += 1
    if (decided > 12) throw new Error(`asked without end: ${JSON.stringify(wait.request)}`)
    const asked = missing(wait)
    if (asked) return { action: 'resume', value: kind.gives?.(next) ?? null }
    const move = left.shift()
    if (move === 'patch') {
      const change = isOwn ? ['inputs.fine', true] : ['inputs.more', '77']
      const [path = '', value = null] = change as [string, Json]
      return { action: 'patch', value: { patches: [{ path, value }] } }
    }
    if (move === undefined) {
      isOver = true
      end()
      // Of what has come to nothing, the values of now may allow no other.
      if (decided > 6) return { action: 'skip' }
    }
    if (move === undefined && isOwn && offersPatch(wait)) {
      return {
        action: 'patch',
        value: { patches: [{ path: 'inputs.fine', value: true }] }
      }
    }
    return { action: 'retry' }
  }
  const inputs = {
    fine: { type: 'bool', default: false },
    more: { type: 'uint256', default: '0' },
    ...((kind.more?.['inputs'] ?? {}) as JsonObject)
  }
  const node = transfer('pay', { ...kind.node, ...trouble.node })
  const document = flow([...(kind.before ?? []), node], { ...kind.more, inputs })
  let hasSent = false
  const answers = kind.answers?.(next, () => hasSent) ?? {}
  const noticing = (provider: Provider): Provider =>
    provider.name !== chainEffects.broadcast
      ? provider
      : {
          ...provider,
          perform: (call) => {
            hasSent = true
            return provider.perform(call)
          }
        }
  const given: Scenario = {
    document: document as Json,
    inputs: {},
    decide,
    registrations: (world) => {
      const own = fakeExecutor({
        chains: [chain],
        accounts: { default: `0x${'1'.repeat(40)}` },
        terms: { pollMs: 1_000, timeoutMs: 3_000 },
        clock: new ManualClock()
      })
      const all = chainProviders([own]).map((provider): Provider => {
        const answer = answers[provider.name]
        const told = answer === undefined ? provider : { ...provider, perform: answer }
        return noticing(trouble.wraps?.(told, () => isOver, pause) ?? told)
      })
      const choose = answers['ais.detect']
      const chooser = choose === undefined ? [] : [{ name: 'ais.detect', perform: choose }]
      return {
        blocks: [],
        providers: [...all, ...chooser].map((one) => mortalProvider(one, world)),
        workflow: {
          protocols: [aisText('erc20')],
          writes: 'broadcast',
          policy: { autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6, ...kind.policy }
        }
      }
    }
  }
  return { chain, given }
}

function missing({ request }: OpenWait): boolean {
  const shown = isJsonObject(request) ? (request['request'] ?? null) : null
  return isJsonObject(shown) && shown['kind'] === 'missing'
}

function offersPatch(wait: OpenWait): boolean {
  return troublesOf({ waits: [wait], response: null })[0]?.actions.includes('patch') === true
}

const rows = Object.entries(kinds).flatMap(([what, kind]) =>
  Object.entries(troubles).flatMap(([how, trouble]) =>
    Object.entries(moves).map(([then, list]) => ({ what, kind, how, trouble, then, list }))
  )
)

function expectOne(chain: FakeChain, { kind, trouble }: (typeof rows)[number]): void {
  const sent = chain.effective().length
  expect(chain.pool).toHaveLength(0)
  expect(sent).toBeLessThan(2)
  if (trouble.isCertain !== true || kind.isLost !== true) expect(sent).toBe(1)
}

describe('W11: a transfer is sent once, though it would be another by now', () => {
  for (const [place, row] of rows.entries()) {
    if (!isTaken(place, 11)) continue
    const { what, kind, how, trouble, then, list } = row
    it(`${what}: it ${how}, and ${then}`, async () => {
      const whole = scenario(kind, trouble, list)
      const { result, boundaries } = await runScenario(whole.given)
      expect(result.status).toBe('done')
      expectOne(whole.chain, row)
      const deaths = cases({ usual: 1, long: 1, soak: 40 })
      const step = Math.ceil(boundaries / deaths)
      for (let death = 1 + (place % step); death <= boundaries; death += step) {
        const one = scenario(kind, trouble, list)
        const again = await runScenario(one.given, [death])
        expect([death, again.result.status]).toEqual([death, 'done'])
        expect([death, one.chain.effective().length > 1]).toEqual([death, false])
        expectOne(one.chain, row)
      }
    })
  }
})
