import type { OutsideCall, Performer } from '../../block/index.js'
import type { CapabilityPackage } from '../../capability/index.js'
import {
  CHILD_EFFECT,
  type EffectCall,
  EffectFailure,
  type Located,
  runEffects
} from '../../code/index.js'
import {
  canonicalize,
  isJsonObject,
  type Json,
  type RunId,
  testingError
} from '../../core/index.js'
import type { Served } from './carrier.js'
import { type ScriptLine, type Trouble, troubleText } from './case.js'
import type { ChainWorld } from './chain-world.js'
import { Life } from './life.js'
import { isHostRefused, NETWORK_EFFECT, networkReason, networkResult } from './network-world.js'
import type { Asking, Deed, Doing, KeyClash, WorldEffect, WorldParts } from './world-parts.js'

/** One of its own for each who waits: what waits for a shared one is never collected. */
function never(): Promise<never> {
  return new Promise(() => undefined)
}

/** Effects of the runtime, in which no world takes part. */
const ofRuntime: ReadonlySet<string> = new Set(runEffects)

/** In front of the name of a signal, where options say what is sent. */
export const SIGNAL = 'signal '

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
  /** Runs that workflows in code have begun. */
  readonly children = new Set<RunId>()
  /** Effects under way at the same time, at most. */
  besideEachOther = 0
  #underWay = 0
  readonly #results = new Map<string, Json>()
  /** Requests that a service is doing, by the place of their result. */
  readonly #doing = new Map<string, Promise<Json>>()
  readonly #askings = new Map<string, Asking>()
  readonly #firstAsked = new Map<string, number>()
  readonly #orders = new Map<string, number>()
  readonly #people = new Map<string, number>()
  readonly #chains: ChainWorld | undefined
  readonly #parts: WorldParts

  constructor(parts: WorldParts) {
    this.#parts = parts
    this.#chains = this.#chainWorld()
  }

  /** What performs an effect: the hook of the runtime. */
  readonly outside = (asked: OutsideCall): Performer => {
    const { call, provider } = asked
    const chains = this.#chainsFor(call.effect)
    if (chains !== undefined) {
      const perform = (given: EffectCall) => this.#perform(given, asked)
      const canLocate = chains.canLocate(call.effect)
      return canLocate ? { perform, locate: (given) => chains.locate(given) } : { perform }
    }
    if (this.#isInside(call.effect))
      return { perform: (given) => this.#performInside(given, asked) }
    const real = call.locate ?? provider?.locate
    const locate = (given: EffectCall) => this.#locate(given, this.#nameOf(asked))
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

  /** What the case sends as a signal; `otherwise` where the options say nothing of it. */
  async signalled(
    name: string,
    { asking, otherwise }: { readonly asking: string; readonly otherwise: Json }
  ): Promise<Json> {
    const effect = `${SIGNAL}${name}`
    const spec = this.#parts.effects.get(effect)
    if (spec === undefined || spec.answer === 'own') return otherwise
    const { nth, answer } = this.#parts.script.lineOf(effect, asking)
    return this.#given(spec.answer, { request: { signal: name }, nth, effect, answer })
  }

  /** What became of a request, if it was done. */
  resultOf(run: RunId, request: Json): Json | undefined {
    const text = canonicalize(request)
    const deed = this.deeds.findLast((one) => one.request === text && one.run === run)
    return deed === undefined ? undefined : this.#results.get(deed.key)
  }

  async #perform(given: EffectCall, asked: OutsideCall): Promise<Json> {
    const { effect } = asked.call
    const { life } = this
    if (!life.passes(`before ${effect}`)) return never()
    this.asked += 1
    if (this.asked > this.#parts.effectsMax) return this.#stop()
    this.#underWay += 1
    this.besideEachOther = Math.max(this.besideEachOther, this.#underWay)
    try {
      const chains = this.#chainsFor(asked.call.effect)
      if (chains === undefined) return await this.#act(given, asked, life)
      const result = await chains.perform(given, asked)
      return life.passes(`after ${asked.call.effect}`) ? result : never()
    } finally {
      this.#underWay -= 1
    }
  }

  /** Answered by the process itself; nothing outside takes part, so nothing goes wrong. */
  #isInside(effect: string): boolean {
    const { rooms, effects } = this.#parts
    if (effects.has(effect)) return false
    return ofRuntime.has(effect) || rooms?.chains.insideEffects.has(effect) === true
  }

  async #performInside(given: EffectCall, { call, provider }: OutsideCall): Promise<Json> {
    const { life } = this
    if (!life.passes(`before ${call.effect}`)) return never()
    if (call.effect === CHILD_EFFECT) this.children.add(childOf(given.request))
    const perform = call.perform ?? provider?.perform.bind(provider)
    const result = (await perform?.(given)) as Json
    return life.passes(`after ${call.effect}`) ? result : never()
  }

  /** The side of the process: what it hears of its request. */
  async #act(given: EffectCall, asked: OutsideCall, life: Life): Promise<Json> {
    const { attempt, isOrdered, call } = asked
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
    const openBefore = this.#openLike({ key, ...asking })
    const { carrier } = this.#parts
    const doing = { given, asked, effect, spec, name, ordered, openBefore }
    const served =
      carrier === undefined || this.#isRefused(doing)
        ? await this.#serve(doing, life)
        : await carrier.carry({
            ...{ effect, key, asking: name, sideEffects: call.sideEffects },
            isAwaited: () => !life.isDead,
            serve: () => this.#serve(doing)
          })
    if (!life.passes(`after ${effect}`)) return never()
    if (served !== undefined && 'result' in served) {
      asking.isOpen = false
      return served.result
    }
    const { reason, definite } = served?.failure ?? { reason: 'timed_out', definite: false }
    asking.isOpen = !definite
    const known = this.#isNetwork(effect) ? networkReason(reason) : reason
    throw new EffectFailure(known, { definite })
  }

  /** The side of the service. With a life, the request is gone when the process is. */
  async #serve(doing: Doing, life?: Life): Promise<Served> {
    const { effect, name } = doing
    const line = this.#parts.script.lineOf(effect, name)
    const { trouble } = line
    if (typeof trouble === 'number') await this.#until(name, trouble, life)
    this.#tell(effect, line)
    if (this.#isRefused(doing)) return { failure: { reason: 'host_not_allowed', definite: true } }
    if (trouble === 'refuses') return { failure: { reason: 'refused', definite: true } }
    const lost = { failure: { reason: 'lost', definite: false } }
    if (trouble === 'loses') return lost
    const result = await this.#do(doing, line)
    return trouble === 'loses_done' ? lost : { result }
  }

  async #do(doing: Doing, line: ScriptLine): Promise<Json> {
    const { given, asked, spec, name } = doing
    const { sideEffects } = asked.call
    const repeats = spec.repeats ?? (sideEffects === 'non_idempotent' ? 'again' : 'safely')
    // A read that a dead process has asked for is answered as before.
    const place = sideEffects === 'none' ? name : given.key
    if (repeats === 'again') return this.#done(doing, line, place)
    const known = this.#results.get(place) ?? this.#doing.get(place)
    if (known !== undefined) return known
    const done = this.#done(doing, line, place)
    this.#doing.set(place, done)
    try {
      return await done
    } finally {
      this.#doing.delete(place)
    }
  }

  async #done(doing: Doing, { nth, answer }: ScriptLine, place: string): Promise<Json> {
    const { given, asked, effect, spec, ordered, openBefore } = doing
    const { sideEffects } = asked.call
    const result = await this.#answer(spec.answer, given, asked, { effect, nth, answer })
    // What is said to be done again each time is done, whatever the code calls it.
    if (sideEffects !== 'none' || spec.repeats === 'again') {
      const { key, runId: run } = given
      const request = canonicalize(given.request)
      // Ordered again while it was on its way: what arrives now, a person has been asked about.
      const isOrdered = asked.isOrdered || (this.#orders.get(key) ?? 0) > ordered
      this.deeds.push({ effect, key, request, run, sideEffects, isOrdered, openBefore })
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
    const agents = this.#parts.rooms?.agents
    if (agents?.turnNameOf(call.effect, request) === undefined) return answer
    return agents.turnResult(given, answer)
  }

  /** Under which the options and the case have it: turns of agents by their node, if at all. */
  #nameOf({ call: { effect, request } }: OutsideCall): string {
    const { rooms, effects } = this.#parts
    return (effects.has(effect) ? undefined : rooms?.agents.turnNameOf(effect, request)) ?? effect
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

  #locate({ key }: EffectCall, effect: string): Located<Json> {
    const { carrier } = this.#parts
    if (carrier?.reaches(effect) === false) {
      this.story.push('cannot be looked up')
      throw new EffectFailure('unreachable')
    }
    const result = this.#results.get(key)
    const isDone = this.deeds.some((deed) => deed.key === key)
    const mayArrive = !isDone && carrier?.isUnderWay(key) === true
    this.story.push(`looked up: ${isDone ? 'done' : mayArrive ? 'not done yet' : 'not done'}`)
    const asking = this.#askings.get(key)
    if (asking !== undefined && !mayArrive) asking.isOpen = false
    return isDone && result !== undefined
      ? { found: true, result }
      : { found: false, definite: !mayArrive }
  }

  #tell(name: string, { nth, trouble }: { readonly nth: number; readonly trouble: Trouble }): void {
    this.story.push(`${name}${nth === 0 ? '' : ` (${nth + 1})`}: ${troubleText(trouble)}`)
  }

  get #packages(): readonly CapabilityPackage[] {
    return this.#parts.packages ?? []
  }

  /** A request that the process itself does not send. */
  #isRefused({ effect, given }: Doing): boolean {
    return this.#isNetwork(effect) && isHostRefused(given.request, this.#packages)
  }

  #isNetwork(effect: string): boolean {
    return effect === NETWORK_EFFECT && this.#packages.length > 0
  }

  /** Options that answer an effect of chains by its own name stand in for the chain. */
  #chainsFor(effect: string): ChainWorld | undefined {
    if (this.#parts.effects.has(effect)) return undefined
    return this.#chains?.has(effect) === true ? this.#chains : undefined
  }

  #chainWorld(): ChainWorld | undefined {
    const { clock, script, effects, rooms } = this.#parts
    if (rooms === undefined) return undefined
    return new rooms.chains.ChainWorld({
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
      until: (name, ms) => this.#until(name, ms, this.life),
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
  async #until(name: string, ms: number, life: Life | undefined): Promise<void> {
    const { clock } = this.#parts
    const begun = this.#firstAsked.get(name) ?? clock.now()
    this.#firstAsked.set(name, begun)
    if (begun + ms <= clock.now()) return
    await new Promise<void>((resolve) => {
      clock.schedule(begun + ms, () => (life?.isDead ? undefined : resolve()))
    })
  }

  #stop(): Promise<never> {
    this.life.end('the end of the play')
    return never()
  }
}

/** Throws `testing.answer_missing` and `testing.answer_broken`: no findings about the target. */
export function checkAnswers({ missing, broken }: World): void {
  if (missing !== undefined) throw testingError('testing.answer_missing', { effect: missing })
  if (broken === undefined) return
  const problem = broken instanceof Error ? broken.message : String(broken)
  throw testingError('testing.answer_broken', { problem }, { cause: broken })
}

function childOf(request: Json): RunId {
  // The context of workflows has put it there.
  return String(isJsonObject(request) ? request['id'] : '') as RunId
}
