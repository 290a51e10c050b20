import '../support/seed.js'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OpenWait, Provider } from '../../src/block/index.js'
import { isJsonObject, type Json, type JsonObject, systemClock } from '../../src/core/index.js'
import type { RunHandle, RunResult } from '../../src/runtime/index.js'
import type { Fault } from '../support/anvil-proxy.js'
import {
  type BridgeOnChains,
  bridgeWorkflow,
  changeOf,
  oneOfEach,
  openBridgeOnChains
} from '../support/bridge-on-chains.js'
import { cases, isLong, isSoak } from '../support/effort.js'
import { Machine, openOn, type World } from '../support/lives.js'

/**
 * The workflow of `examples/06-bridge` on two real chains: one lock, one mint and one deposit,
 * wherever the process of the workflow dies, and whatever else goes wrong meanwhile.
 */

let scene: BridgeOnChains
beforeAll(async () => {
  scene = await openBridgeOnChains()
})
afterAll(() => scene.close())

const never = new Promise<never>(() => undefined)

/** Both sides of each call of a chain, by names that are the same in every run. */
class Boundaries {
  readonly seen = new Set<string>()
  /** The process dies at the first boundary of this name. */
  dieAt: string | undefined
  /** What a prepared transaction is for, by its hash. */
  readonly #purposes = new Map<string, string>()

  around(provider: Provider, world: World): Provider {
    const within = async (call: { readonly request: Json }, work: () => unknown) => {
      const name = this.#nameOf(provider.name, call.request)
      if (!this.#passes(`before ${name}`, world)) return never
      const result = (await work()) as Json
      this.#note(call.request, result)
      return this.#passes(`after ${name}`, world) ? result : never
    }
    const { locate } = provider
    return {
      ...provider,
      perform: (call) => within(call, () => provider.perform(call)) as never,
      ...(locate === undefined
        ? {}
        : { locate: (call) => within(call, () => locate.call(provider, call)) as never })
    }
  }

  #passes(name: string, { life }: World): boolean {
    this.seen.add(name)
    if (name === this.dieAt) {
      this.dieAt = undefined
      life.end(name)
    }
    return life.passes(name)
  }

  #nameOf(effect: string, request: Json): string {
    const { transaction = null, hash = '', execution = null, chain = '' } = objectOf(request)
    const sent = isJsonObject(transaction) ? transaction : { hash, chain }
    const purpose = this.#purposes.get(String(sent['hash'])) ?? purposeOf(execution)
    return `${effect} ${String(sent['chain'] ?? chain).slice(0, 6)} ${purpose}`
  }

  #note(request: Json, result: Json): void {
    const { transaction = null } = objectOf(result)
    if (!isJsonObject(transaction)) return
    const { execution = null } = objectOf(request)
    this.#purposes.set(String(transaction['hash']), purposeOf(execution))
  }
}

function objectOf(value: Json): JsonObject {
  return isJsonObject(value) ? value : {}
}

function purposeOf(execution: Json): string {
  const { type = '', abi = null, instruction = '' } = objectOf(execution)
  return [type, objectOf(abi)['name'] ?? instruction].join(' ').trim()
}

/** What goes wrong beside deaths. */
interface Weather {
  /** Boundaries, commits among them, at which one process after the other dies. */
  readonly deaths: readonly number[]
  /** Of so many calls to a chain one fails, and so many do. */
  readonly faults: { readonly every: number; readonly kinds: readonly Fault[] }
  /** Looks of the test after which the newest EVM block is taken away. */
  readonly reorgs: readonly number[]
  /** Looks after which what was signed for Solana has expired. */
  readonly expiries: readonly number[]
  /** Looks for which a person lets each question wait; each is answered twice then. */
  readonly lateBy: number
}

const fair: Weather = {
  deaths: [],
  faults: { every: 0, kinds: [] },
  reorgs: [],
  expiries: [],
  lateBy: 0
}

/** More blocks than a blockhash is good for. */
const EXPIRY = 220

/** One run of the workflow, in as many processes as it takes. */
class Story {
  readonly boundaries: Boundaries
  readonly #weather: Weather
  readonly #machine = new Machine(1)
  readonly #waited = new Map<string, number>()
  #looks = 0
  lives = 0
  /** Calls that failed, and blocks that were taken away. */
  broken = 0
  reorgs = 0
  /** All that it passed, commits among them. */
  passed = 0

  constructor(weather: Weather, boundaries = new Boundaries()) {
    this.#weather = weather
    this.boundaries = boundaries
  }

  async expectOnce(): Promise<void> {
    const before = await scene.books()
    this.#breakCalls()
    try {
      let isDone = false
      while (!isDone) isDone = await this.#live()
    } finally {
      for (const proxy of scene.proxies) proxy.fault = () => 'pass'
    }
    expect(changeOf(before, await scene.books())).toEqual(oneOfEach)
  }

  #breakCalls(): void {
    const { every, kinds } = this.#weather.faults
    for (const proxy of scene.proxies) {
      let [calls, next] = [0, 0]
      proxy.fault = () => {
        calls += 1
        if (every === 0 || calls % every !== 0) return 'pass'
        next += 1
        const fault = kinds[next - 1] ?? 'pass'
        if (fault !== 'pass') this.broken += 1
        return fault
      }
    }
  }

  /** True: the run has ended, and everything is verified. */
  async #live(): Promise<boolean> {
    const { life, store } = this.#machine.begin(this.#weather.deaths[this.lives])
    this.lives += 1
    expect(this.lives).toBeLessThan(50)
    try {
      const runtime = await openOn(store, {
        clock: systemClock,
        providers: scene.providers().map((one) => this.boundaries.around(one, this.#machine.world)),
        workflow: { protocols: scene.protocols, writes: 'broadcast' }
      })
      const isKnown = runtime.ledger.run('one' as never) !== undefined
      const run = isKnown
        ? await runtime.resume('one' as never)
        : runtime.begin(bridgeWorkflow, { id: 'one', inputs: scene.inputs })
      const result = await this.#drive(run)
      if (result === undefined) return false
      expect(result).toMatchObject({ status: 'done', response: { success: true } })
      expect(await runtime.verify()).toMatchObject({ ok: true })
      await runtime.close()
      return true
    } catch (error) {
      if (!life.isDead) throw error
      return false
    } finally {
      this.passed += life.boundaries
    }
  }

  /** Drives a run until it ends; undefined: its process has died. */
  async #drive(run: RunHandle): Promise<RunResult | undefined> {
    let result: RunResult | undefined
    run.result.then(
      (ended) => {
        result = ended
      },
      () => undefined
    )
    while (result === undefined && !this.#machine.world.life.isDead) {
      await this.#passTime()
      for (const wait of await run.waits().catch(() => [])) await this.#answer(run, wait)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    return result
  }

  async #passTime(): Promise<void> {
    const { reorgs, expiries } = this.#weather
    this.#looks += 1
    expect(this.#looks).toBeLessThan(20_000)
    if (expiries.includes(this.#looks)) scene.node.advance(EXPIRY)
    if (reorgs.includes(this.#looks)) {
      this.reorgs += 1
      await scene.chain.rpc('anvil_reorg', [1, []])
    }
    await scene.chain.rpc('evm_mine', [])
    if (this.#looks % 4 === 0) await scene.relay()
  }

  /** The person who is asked answers late, and then twice. */
  async #answer(run: RunHandle, { token, digest, reason }: OpenWait): Promise<void> {
    const waited = this.#waited.get(token) ?? 0
    this.#waited.set(token, waited + 1)
    if (waited < this.#weather.lateBy) return
    const answered = { digest, by: 'tester', commandId: `answer ${token.slice(-40)}` }
    for (let times = 0; times < 2; times += 1) {
      const answer =
        reason === 'decision'
          ? run.resume(token, { ...answered, action: 'retry' })
          : run.approve(token, answered)
      await answer.catch(() => undefined)
    }
  }
}

/** Names of the boundaries of a run in which nothing goes wrong. */
async function named(): Promise<readonly string[]> {
  const whole = new Story(fair)
  await whole.expectOnce()
  return [...whole.boundaries.seen].sort()
}

const MS = 600_000

describe('L7: a workflow over anvil and a Solana node', () => {
  it('locks, mints and deposits once, whichever call of a chain its process dies around', {
    timeout: MS
  }, async () => {
    const all = await named()
    for (const needed of ['prepare', 'broadcast', 'look']) {
      for (const chain of ['eip155', 'solana']) {
        const sides = all.filter((name) => name.includes(`chain.${needed} ${chain}`))
        expect([needed, chain, sides.length >= 2]).toEqual([needed, chain, true])
      }
    }
    // Every second one, but for soaks.
    const step = isSoak ? 1 : isLong ? 2 : Math.ceil(all.length / 3)
    for (let at = 0; at < all.length; at += step) {
      const boundaries = new Boundaries()
      boundaries.dieAt = all[at]
      const story = new Story(fair, boundaries)
      await story.expectOnce()
      expect([all[at], story.lives]).toEqual([all[at], 2])
    }
  })

  it('does so whichever commit or call its process dies around', { timeout: MS }, async () => {
    const whole = new Story(fair)
    await whole.expectOnce()
    const deaths = cases({ usual: 2, long: 8, soak: 1_000 })
    const step = Math.ceil(whole.passed / deaths)
    for (let death = 1; death <= whole.passed; death += step) {
      await new Story({ ...fair, deaths: [death] }).expectOnce()
    }
  })

  it('does so with deaths, faults, reorgs, expired transactions and late answers together', {
    timeout: MS
  }, async () => {
    const kind = fc.constantFrom<Fault>(
      'drop_before',
      'drop_after',
      'malformed',
      'rate_limit',
      'server_error'
    )
    const look = fc.integer({ min: 2, max: 20 })
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          deaths: fc.array(fc.integer({ min: 1, max: 120 }), { minLength: 1, maxLength: 4 }),
          faults: fc.record({
            every: fc.integer({ min: 3, max: 9 }),
            kinds: fc.array(kind, { minLength: 2, maxLength: 12 })
          }),
          reorgs: fc.uniqueArray(look, { minLength: 1, maxLength: 3 }),
          expiries: fc.uniqueArray(look, { minLength: 1, maxLength: 2 }),
          lateBy: fc.integer({ min: 0, max: 6 })
        }),
        async (weather) => {
          const story = new Story(weather)
          await story.expectOnce()
          expect(story.lives).toBeGreaterThan(1)
          expect(story.broken).toBeGreaterThan(0)
          expect(story.reorgs).toBeGreaterThan(0)
        }
      ),
      { numRuns: cases({ usual: 2, long: 4, soak: 500 }) }
    )
  })
})
