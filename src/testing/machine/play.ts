import {
  type Clock,
  isTallyError,
  type Json,
  ManualClock,
  present,
  type RunId
} from '../../core/index.js'
import type { Store } from '../../ledger/index.js'
import {
  type Compilations,
  type Registrations,
  type RunHandle,
  type RunResult,
  type RuntimeOnOptions,
  runtimeOn,
  type WiredRuntime
} from '../../runtime/index.js'
import type { FaultyDiskOptions } from '../faulty-store.js'
import type { Death, Script } from './case.js'
import { awaited, type Driven, drive } from './drive.js'
import { Guests, type HostedPackages, holdPackages, installPackages } from './guests.js'
import { type Left, leftIn, overrunOf, tooLarge } from './left.js'
import type { Life } from './life.js'
import { fixedKeys, fixedRandom, inlineSigner, Machine } from './machine.js'
import type { MachineBounds, PeopleOptions } from './options.js'
import { People, type WronglyTaken } from './people.js'
import { beginRun, type RunSource } from './run-source.js'
import { World } from './world.js'
import type { RoomWorlds, WorldEffect } from './world-parts.js'

/** What is played, with everything that does not differ between the plays of a case. */
export interface Stage {
  readonly source: RunSource
  /** What its lives have compiled. */
  readonly compilations: Compilations
  /** What they have compiled whose blocks get the keys of their inputs the other way round. */
  readonly reversedCompilations: Compilations
  /** Of each life. */
  registrations(): Registrations
  readonly hosted: HostedPackages | undefined
  readonly rooms: RoomWorlds | undefined
  /** After a redeploy; undefined: as before. */
  readonly next: Registrations | undefined
  readonly effects: ReadonlyMap<string, WorldEffect>
  readonly people: PeopleOptions
  readonly context: Readonly<Record<string, Json>>
  readonly bounds: Required<MachineBounds>
  /** For tests of the promises. */
  readonly disk?: FaultyDiskOptions
  readonly wrapOutside?: (outside: World['outside']) => World['outside']
}

export interface PlayOptions {
  readonly script: Script
  readonly inputs: readonly Json[]
  readonly deaths: readonly Death[]
  /** Whether everything is executed again in the end. */
  readonly verifies: boolean
}

/** An error that has ended a run, or kept it from being opened or resumed. */
export interface PlayError {
  readonly code: string
  readonly message: string
  readonly run: RunId | undefined
  readonly life: number
}

export function playError(
  error: unknown,
  { run, life }: Pick<PlayError, 'run' | 'life'>
): PlayError {
  const code = isTallyError(error) ? error.code : 'error'
  return { code, message: error instanceof Error ? error.message : String(error), run, life }
}

/** What one play has left. */
export interface Play extends Left {
  readonly results: readonly RunResult[]
  /** Runs that neither end nor wait for anything. */
  readonly stuck: readonly RunId[]
  readonly error: PlayError | undefined
  /** What was exceeded, and by how much. */
  readonly overrun: string | undefined
  readonly world: World
  readonly asked: ReadonlySet<string>
  readonly wronglyTaken: readonly WronglyTaken[]
  /** The boundaries of its first life. */
  readonly boundaries: number
  readonly lives: number
  /** Where its lives have ended. */
  readonly crashes: readonly string[]
  /** It was cancelled, or time passed while nothing lived: another moment gives another end. */
  readonly isTimely: boolean
  /** Its last life had the registrations of the next version. */
  readonly isRedeployed: boolean
  /** A run began only after a redeploy. */
  readonly beganLate: boolean
}

/** The ids of the runs of a play. */
export function runIdOf(index: number): RunId {
  return `run-${index + 1}` as RunId
}

/** Plays a case once: lives and deaths of a process on one disk, in virtual time. */
export async function play(stage: Stage, options: PlayOptions): Promise<Play> {
  const clock = new ManualClock()
  const { script, deaths } = options
  const effectsMax = stage.bounds.effects
  const { effects, hosted, rooms } = stage
  const packages = hosted?.packages ?? []
  const world = new World({ script, clock, effects, effectsMax, packages, rooms })
  const disk = stage.disk === undefined ? {} : { disk: stage.disk }
  const machine = new Machine(world, { clock, ...disk })
  if (hosted !== undefined)
    await installPackages(hosted, openingOf(stage, machine.disk.open(), clock))
  const people = new People({ script, world, clock, options: stage.people })
  const playing = new Playing({ stage, options, machine, people })
  for (let index = 0; ; index += 1) {
    const death = deaths[index]
    const ended = await playing.live(death)
    if (ended !== undefined) return ended
    clock.advance(death?.downMs ?? 0)
  }
}

/** What each process of a play opens its ledger with. */
function openingOf(
  { compilations }: Stage,
  store: Store,
  clock: Clock
): Omit<RuntimeOnOptions, keyof Registrations> {
  const signer = inlineSigner()
  const fixed = { keys: fixedKeys, signer, random: fixedRandom, durability: 'output' } as const
  return { ...fixed, compilations, store, clock }
}

class Playing {
  readonly #stage: Stage
  readonly #options: PlayOptions
  readonly #machine: Machine<World>
  readonly #people: People
  readonly #crashes: string[] = []
  #store: Store | undefined
  #guests: Guests | undefined
  #lives = 0
  #boundaries = 0
  #isRedeployed = false
  #isTimely = true
  #beganLate = false

  constructor(parts: {
    readonly stage: Stage
    readonly options: PlayOptions
    readonly machine: Machine<World>
    readonly people: People
  }) {
    this.#stage = parts.stage
    this.#options = parts.options
    this.#machine = parts.machine
    this.#people = parts.people
  }

  /** One life; undefined: it died where the case says so, and another one follows. */
  async live(death: Death | undefined): Promise<Play | undefined> {
    const { world } = this.#machine
    const { life, store } = this.#machine.begin(death?.at)
    this.#store = store
    const { hosted } = this.#stage
    const { story } = world
    this.#guests = hosted && new Guests({ sandbox: hosted.sandbox, life, story })
    this.#lives += 1
    let runtime: WiredRuntime | undefined
    let outcome: Outcome
    try {
      runtime = await this.#open(life, store)
      outcome = await this.#drive(runtime, life)
    } catch (error) {
      outcome = { kind: 'error', error: this.#errorOf(error, undefined) }
    }
    if (this.#lives === 1) this.#boundaries = life.boundaries
    if (world.missing !== undefined || world.broken !== undefined) return this.#left({ runtime })
    if (life.isDead && life.diedAt !== 'the end of the play') {
      this.#died(life, death)
      return undefined
    }
    return this.#end(runtime, life, outcome)
  }

  async #open(life: Life, store: Store): Promise<WiredRuntime> {
    const { next, hosted, wrapOutside = (outside) => outside } = this.#stage
    const { clock, world } = this.#machine
    const runtime = await runtimeOn({
      ...this.#stage.registrations(),
      ...(this.#isRedeployed ? next : undefined),
      ...openingOf(this.#stage, store, life.clock(clock)),
      ...(this.#guests === undefined ? {} : { sandbox: this.#guests }),
      outside: wrapOutside(world.outside)
    })
    if (hosted !== undefined) await holdPackages(hosted, runtime)
    return runtime
  }

  async #drive(runtime: WiredRuntime, life: Life): Promise<Outcome> {
    const { mode, cause } = runtime.ledger.state()
    if (mode !== 'ready' && cause !== undefined) return { kind: 'error', error: this.#error(cause) }
    const quietTurns = this.#lives === 1 ? QUIET_TURNS : QUIET_TURNS_AGAIN
    const awaiting = { life, guests: this.#guests, quietTurns }
    const runs: RunHandle[] = []
    for (const [index, inputs] of this.#options.inputs.entries()) {
      const begun = this.#begin(runtime, { id: runIdOf(index), inputs })
      const run = this.#guests === undefined ? await begun : await awaited(begun, awaiting)
      if (run === undefined) return { kind: 'died' }
      runs.push(run)
    }
    const { clock } = this.#machine
    const driven = await drive(runs, {
      ...awaiting,
      clock,
      isKnown: (run) => runtime.ledger.hasRun(run),
      children: () => this.#children(runtime),
      answer: async (run, wait) => {
        if (this.#isOver(runtime)) life.end(END_OF_PLAY)
        await this.#people.comeLate()
        return this.#people.answer(run, wait)
      }
    })
    if (driven.kind !== 'died') await this.#people.comeLate()
    return driven
  }

  /** Runs that workflows in code wait for, as far as they are in this life. */
  #children(runtime: WiredRuntime): Promise<readonly RunHandle[]> {
    const known = [...this.#machine.world.children].filter((id) => {
      const status = runtime.ledger.run(id)?.status
      return status === 'running' || status === 'waiting'
    })
    return Promise.all(known.map((id) => runtime.attach(id)))
  }

  async #begin(
    runtime: WiredRuntime,
    { id, inputs }: { readonly id: RunId; readonly inputs: Json }
  ): Promise<RunHandle> {
    if (runtime.ledger.hasRun(id)) return runtime.resume(id)
    if (this.#isRedeployed) this.#beganLate = true
    const { source, context } = this.#stage
    return beginRun(runtime, source, { id, input: inputs, context })
  }

  #isOver(runtime: WiredRuntime): boolean {
    return runtime.ledger.state().receipts > this.#stage.bounds.steps
  }

  #died(life: Life, death: Death | undefined): void {
    const { world } = this.#machine
    this.#crashes.push(life.diedAt ?? '')
    const { downMs = 0, redeploys } = death ?? {}
    if (downMs > 0) this.#isTimely = false
    if (redeploys === true && this.#stage.next !== undefined) this.#isRedeployed = true
    const down = downMs === 0 ? '' : `, and is down for ${downMs} ms`
    const deploy = this.#isRedeployed ? ', and begins again with the next version' : ''
    world.story.push(`the process dies ${life.diedAt ?? ''}${down}${deploy}`)
  }

  async #end(runtime: WiredRuntime | undefined, life: Life, outcome: Outcome): Promise<Play> {
    const results: RunResult[] = []
    const stuck: RunId[] = []
    let error = outcome.kind === 'error' ? outcome.error : undefined
    if (outcome.kind !== 'error' && outcome.kind !== 'died') {
      for (const [run, end] of outcome.ends) {
        if ('result' in end) results.push(end.result)
        else error ??= this.#errorOf(end.error, run)
      }
      if (outcome.kind === 'stuck') {
        const all = this.#options.inputs.map((_, index) => runIdOf(index))
        stuck.push(...all.filter((run) => !outcome.ends.has(run)))
      }
    }
    const isCut = outcome.kind === 'died' || life.isDead
    return this.#left({ runtime: isCut ? undefined : runtime, results, stuck, error, isCut })
  }

  async #left({
    runtime,
    results = [],
    stuck = [],
    error,
    isCut = false
  }: {
    readonly runtime: WiredRuntime | undefined
    readonly results?: readonly RunResult[]
    readonly stuck?: readonly RunId[]
    readonly error?: PlayError | undefined
    readonly isCut?: boolean
  }): Promise<Play> {
    const { world } = this.#machine
    this.#guests?.free()
    const read = runtime === undefined || world.missing ? undefined : await this.#read(runtime)
    this.#machine.world.life.end(END_OF_PLAY)
    const { receipts = [], state = new Map(), journals = new Map() } = read ?? {}
    const { journalBytes = 0 } = read ?? {}
    const isTimely = this.#isTimely && !this.#people.hasCancelled
    const { bounds } = this.#stage
    const overrun = isCut
      ? overrunOf(world, bounds)
      : tooLarge({ receipts, state, journalBytes }, bounds)
    return {
      ...{ results, stuck, error, overrun, receipts, state, world, isTimely },
      ...{ journals, journalBytes },
      waits: read?.waits ?? [],
      report: read?.report,
      asked: this.#people.asked,
      wronglyTaken: this.#people.wronglyTaken,
      boundaries: this.#boundaries,
      lives: this.#lives,
      crashes: this.#crashes,
      isRedeployed: this.#isRedeployed,
      beganLate: this.#beganLate
    }
  }

  #read(runtime: WiredRuntime): Promise<Left> {
    const runs = this.#options.inputs.map((_, index) => runIdOf(index))
    const store = this.#options.verifies ? present(this.#store, 'the store of a life') : undefined
    return leftIn(runtime, { runs, verifies: store })
  }

  #errorOf(error: unknown, run: RunId | undefined): PlayError {
    return playError(error, { run, life: this.#lives })
  }

  #error({ code, message }: { readonly code: string; readonly message: string }): PlayError {
    return { code, message, run: undefined, life: this.#lives }
  }
}

type Outcome = Driven | { readonly kind: 'error'; readonly error: PlayError }

const END_OF_PLAY = 'the end of the play'
const QUIET_TURNS = 8
const QUIET_TURNS_AGAIN = 32
