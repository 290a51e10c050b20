import {
  type EffectCall,
  EffectFailure,
  type Located,
  type OutsideCall,
  type Performer,
  type SideEffectClass
} from '../../block/index.js'
import type { CapabilityPackage } from '../../capability/index.js'
import {
  canonicalize,
  type Json,
  type ManualClock,
  type RunId,
  TallyError
} from '../../core/index.js'
import { chainEffects } from '../../executor/index.js'
import { turnEffectName, turnNodeOf, turnResult } from './agent-world.js'
import type { Script, Trouble } from './case.js'
import { ChainWorld, isChainEffect } from './chain-world.js'
import { Life } from './life.js'
import { isHostRefused, NETWORK_EFFECT, networkReason, networkResult } from './network-world.js'
import type { EffectAnswer } from './options.js'

/** How the world of a case answers one effect. */
export interface WorldEffect {
  /** `own`: the code's `perform`, or the provider, does it. A function: it answers. */
  readonly answer: 'own' | 'scripted' | EffectAnswer
  readonly repeats: 'safely' | 'again' | undefined
}

/** Something that was done outside. */
export interface Deed {
  readonly effect: string
  readonly key: string
  readonly request: string
  readonly run: RunId | undefined
  readonly sideEffects: SideEffectClass
  /** A person has said that it is to be sent again. */
  readonly isOrdered: boolean
  /** Key of the same request of the same run, whose outcome was open when this was done. */
  readonly openBefore: string | undefined
}

/** The same key for another request. */
export interface KeyClash {
  readonly key: string
  readonly first: string
  readonly second: string
}

interface Asking {
  readonly effect: string
  readonly request: string
  readonly run: RunId | undefined
  /** Whether the caller does not know what became of it. */
  isOpen: boolean
}

const never = new Promise<never>(() => undefined)

/**
 * The world around one machine: it performs every effect as the case says, remembers over all lives
 * what was really done, and says truthfully whether something was done where the real one could.
 */
export class World {
  life = new Life({})
  readonly deeds: Deed[] = []
  readonly clashes: KeyClash[] = []
  readonly story: string[] = []
  /** Effect that the options have no answer for. */
  missing: string | undefined
  /** A function of the options has thrown something else than a failure of the effect. */
  broken: unknown
  asked = 0
  /** Effects under way at the same time, at most. */
  besideEachOther = 0
  #underWay = 0
  readonly #results = new Map<string, Json>()
  readonly #askings = new Map<string, Asking>()
  readonly #firstAsked = new Map<string, number>()
  readonly #orders = new Map<string, number>()
  readonly #people = new Map<string, number>()
  readonly #chains: ChainWorld
  readonly #parts: WorldParts

  constructor(parts: WorldParts) {
    this.#parts = parts
    this.#chains = this.#chainWorld()
  }

  /** What performs an effect: the hook of the runtime. */
  readonly outside = (asked: OutsideCall): Performer => {
    const { call, provider } = asked
    if (this.#isOnChain(call.effect)) {
      const perform = (given: EffectCall) => this.#perform(given, asked)
      // Bytes that were sent are all that a chain can be asked for.
      const canLocate = call.effect === chainEffects.broadcast
      return canLocate ? { perform, locate: (given) => this.#chains.locate(given) } : { perform }
    }
    const real = call.locate ?? provider?.locate
    const locate = (given: EffectCall) => this.#locate(given)
    return {
      perform: (given) => this.#perform(given, asked),
      ...(real === undefined ? {} : { locate })
    }
  }

  /** A person has been asked in this run: what was open before is theirs to judge. */
  askedAPerson(run: RunId, path: string): void {
    for (const asking of this.#askings.values()) if (asking.run === run) asking.isOpen = false
    const place = `${run} ${path}`
    this.#people.set(place, (this.#people.get(place) ?? 0) + 1)
  }

  /** What became of a request, if it was done. */
  resultOf(run: RunId, request: Json): Json | undefined {
    const text = canonicalize(request)
    const deed = this.deeds.findLast((one) => one.request === text && one.run === run)
    return deed === undefined ? undefined : this.#results.get(deed.key)
  }

  async #perform(given: EffectCall, asked: OutsideCall): Promise<Json> {
    const { effect } = asked.call
    if (!this.life.passes(`before ${effect}`)) return never
    this.asked += 1
    if (this.asked > this.#parts.effectsMax) return this.#stop()
    this.#underWay += 1
    this.besideEachOther = Math.max(this.besideEachOther, this.#underWay)
    try {
      if (!this.#isOnChain(asked.call.effect)) return await this.#act(given, asked)
      const result = await this.#chains.perform(given, asked)
      return this.life.passes(`after ${asked.call.effect}`) ? result : never
    } finally {
      this.#underWay -= 1
    }
  }

  async #act(given: EffectCall, asked: OutsideCall): Promise<Json> {
    const { attempt, isOrdered } = asked
    const effect = this.#nameOf(asked)
    const spec = this.#parts.effects.get(effect)
    if (spec === undefined) {
      this.missing ??= effect
      return this.#stop()
    }
    const { key } = given
    const asking = this.#askingOf(given, effect)
    const ordered = (this.#orders.get(key) ?? 0) + (isOrdered ? 1 : 0)
    this.#orders.set(key, ordered)
    const name = `${key} ${attempt} ${ordered}`
    const { trouble, nth, answer } = this.#parts.script.lineOf(effect, name)
    if (typeof trouble === 'number') await this.#until(name, trouble)
    this.#tell(effect, { nth, trouble })
    if (this.#isNetwork(effect) && isHostRefused(given.request, this.#packages)) {
      return this.#fail(asking, 'host_not_allowed', true)
    }
    if (trouble === 'refuses') return this.#fail(asking, 'refused', true)
    if (trouble === 'loses') return this.#fail(asking, 'lost', false)
    const result = await this.#do({ given, asked, effect, spec, nth, answer, name })
    if (trouble === 'loses_done') return this.#fail(asking, 'lost', false)
    if (!this.life.passes(`after ${effect}`)) return never
    asking.isOpen = false
    return result
  }

  async #do(doing: {
    readonly given: EffectCall
    readonly asked: OutsideCall
    readonly effect: string
    readonly spec: WorldEffect
    readonly nth: number
    readonly answer: Json | undefined
    readonly name: string
  }): Promise<Json> {
    const { given, asked, effect, spec, nth, answer, name } = doing
    const { isOrdered } = asked
    const { sideEffects } = asked.call
    const repeats = spec.repeats ?? (sideEffects === 'non_idempotent' ? 'again' : 'safely')
    // A read that a dead process has asked for is answered as before.
    const place = sideEffects === 'none' ? name : given.key
    const known = this.#results.get(place)
    if (known !== undefined && repeats === 'safely') return known
    const result = await this.#answer(spec.answer, given, asked, { effect, nth, answer })
    // What is said to be done again each time is done, whatever the code calls it.
    if (sideEffects !== 'none' || spec.repeats === 'again') {
      const run = given.runId
      const request = canonicalize(given.request)
      const openBefore = this.#openLike({ key: given.key, effect, request, run })
      this.deeds.push({ effect, key: given.key, request, run, sideEffects, isOrdered, openBefore })
    }
    this.#results.set(place, result)
    return result
  }

  async #answer(
    how: WorldEffect['answer'],
    given: EffectCall,
    { call, provider }: OutsideCall,
    line: { readonly effect: string; readonly nth: number; readonly answer: Json | undefined }
  ): Promise<Json> {
    const { request } = given
    if (how === 'own') {
      const own = call.perform ?? provider?.perform.bind(provider)
      // What the code gives is checked by the runtime.
      return (await own?.(given)) as Json
    }
    const answer = await this.#given(how, { request, ...line })
    if (this.#isNetwork(call.effect)) return networkResult(request, answer)
    return turnNodeOf(call.effect, request) === undefined ? answer : turnResult(given, answer)
  }

  /** Under which the options and the case have it: turns of agents by their node, if at all. */
  #nameOf({ call: { effect, request } }: OutsideCall): string {
    const node = turnNodeOf(effect, request)
    return node === undefined || this.#parts.effects.has(effect) ? effect : turnEffectName(node)
  }

  async #given(
    how: Exclude<WorldEffect['answer'], 'own'>,
    asked: {
      readonly request: Json
      readonly nth: number
      readonly effect: string
      readonly answer: Json | undefined
    }
  ): Promise<Json> {
    const { request, nth, effect, answer } = asked
    if (how === 'scripted') return answer ?? null
    try {
      return (await how(request, { nth, effect })) ?? null
    } catch (error) {
      if (!(error instanceof EffectFailure)) this.broken ??= error
      throw error
    }
  }

  #locate({ key }: EffectCall): Located<Json> {
    const result = this.#results.get(key)
    const isDone = this.deeds.some((deed) => deed.key === key)
    this.story.push(`looked up: ${isDone ? 'done' : 'not done'}`)
    const asking = this.#askings.get(key)
    if (asking !== undefined) asking.isOpen = false
    return isDone && result !== undefined
      ? { found: true, result }
      : { found: false, definite: true }
  }

  #tell(name: string, { nth, trouble }: { readonly nth: number; readonly trouble: Trouble }): void {
    this.story.push(`${name}${nth === 0 ? '' : ` (${nth + 1})`}: ${troubleText(trouble)}`)
  }

  get #packages(): readonly CapabilityPackage[] {
    return this.#parts.packages ?? []
  }

  #isNetwork(effect: string): boolean {
    return effect === NETWORK_EFFECT && this.#packages.length > 0
  }

  /** Options that answer an effect of chains by its own name stand in for the chain. */
  #isOnChain(effect: string): boolean {
    return isChainEffect(effect) && !this.#parts.effects.has(effect)
  }

  #chainWorld(): ChainWorld {
    const { clock, script, effects } = this.#parts
    return new ChainWorld({
      now: () => clock.now(),
      line: (name, asking) => {
        const line = script.lineOf(name, asking)
        this.#tell(name, line)
        return line
      },
      answer: async (name, { nth, answer }, request) => {
        const spec = effects.get(name)
        if (spec === undefined || spec.answer === 'own') {
          this.missing ??= name
          return this.#stop()
        }
        return this.#given(spec.answer, { request, nth, effect: name, answer })
      },
      until: (name, ms) => this.#until(name, ms),
      done: (effect, { call, asked, request: given }) => {
        const { runId: run } = call
        const { path, step, isOrdered } = asked
        const request = canonicalize(given)
        // Whatever bytes carry it: a step does it once, unless a person was asked in between.
        const people = this.#people.get(`${run} ${path}`) ?? 0
        const key = canonicalize([run ?? null, path, step, people, request])
        const rest = { sideEffects: 'idempotent', isOrdered, openBefore: undefined } as const
        this.deeds.push({ effect, key, request, run, ...rest })
      }
    })
  }

  #askingOf({ key, request, runId }: EffectCall, effect: string): Asking {
    const text = canonicalize(request)
    const known = this.#askings.get(key)
    if (known !== undefined) {
      const first = `${known.effect} ${known.request}`
      const second = `${effect} ${text}`
      if (first !== second) this.clashes.push({ key, first, second })
      return known
    }
    const asking: Asking = { effect, request: text, run: runId, isOpen: false }
    this.#askings.set(key, asking)
    return asking
  }

  #openLike(deed: Pick<Deed, 'key' | 'effect' | 'request' | 'run'>) {
    for (const [key, { effect, request, run, isOpen }] of this.#askings) {
      const isSame = effect === deed.effect && request === deed.request && run === deed.run
      if (isOpen && isSame && key !== deed.key) return key
    }
    return undefined
  }

  /** A slow answer takes its time once, however often the process dies meanwhile. */
  async #until(name: string, ms: number): Promise<void> {
    const { clock } = this.#parts
    const begun = this.#firstAsked.get(name) ?? clock.now()
    this.#firstAsked.set(name, begun)
    const { life } = this
    if (begun + ms <= clock.now()) return
    await new Promise<void>((resolve) => {
      clock.schedule(begun + ms, () => (life.isDead ? undefined : resolve()))
    })
  }

  #fail(asking: Asking, reason: string, definite: boolean): Promise<never> {
    if (!this.life.passes(`after ${asking.effect}`)) return never
    asking.isOpen = !definite
    const known = this.#isNetwork(asking.effect) ? networkReason(reason) : reason
    throw new EffectFailure(known, { definite })
  }

  #stop(): Promise<never> {
    this.life.end('the end of the play')
    return never
  }
}

export interface WorldParts {
  readonly script: Pick<Script, 'lineOf'>
  readonly clock: ManualClock
  readonly effects: ReadonlyMap<string, WorldEffect>
  /** Whose manifests say which hosts may be asked. */
  readonly packages?: readonly CapabilityPackage[]
  /** Askings of one play, at most. */
  readonly effectsMax: number
}

/** Throws `testing.answer_missing` and `testing.answer_broken`: no findings about the target. */
export function checkAnswers({ missing, broken }: World): void {
  if (missing !== undefined) throw new TallyError('testing.answer_missing', { effect: missing })
  if (broken === undefined) return
  const problem = broken instanceof Error ? broken.message : String(broken)
  throw new TallyError('testing.answer_broken', { problem }, { cause: broken })
}

function troubleText(trouble: Trouble): string {
  if (trouble === null) return 'answers'
  if (trouble === 'refuses') return 'refuses, nothing is done'
  if (trouble === 'loses') return 'fails, nothing is done, and the caller cannot tell'
  if (trouble === 'loses_done') return 'is done, and the caller cannot tell'
  if (trouble === 'reverts') return 'is included, without any effect'
  return `answers after ${trouble} ms`
}
