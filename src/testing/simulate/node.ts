import type { Clock, Json, ManualClock } from '../../core/index.js'
import { type Store, type StoreItem, storeAround } from '../../ledger/index.js'
import {
  type RunResult,
  type RuntimeOnOptions,
  runtimeOn,
  type WiredRuntime
} from '../../runtime/index.js'
import { FaultyDisk } from '../faulty-store.js'
import type { Carrier } from '../machine/carrier.js'
import { Guests, holdPackages, installPackages } from '../machine/guests.js'
import { leftIn, overrunOf, tooLarge } from '../machine/left.js'
import { Life } from '../machine/life.js'
import { fixedRandom, inlineSigner } from '../machine/machine.js'
import { People } from '../machine/people.js'
import { type Play, type PlayError, playError, runIdOf, type Stage } from '../machine/play.js'
import type { Broken } from '../machine/promises/promise.js'
import { World } from '../machine/world.js'
import type { Fate, LifeFate } from './fate.js'
import { keysOf } from './node-keys.js'
import { type PlannedRun, Process } from './process.js'
import { SeenChain } from './seen-chain.js'
import type { Trace } from './trace.js'

/** What a caller of a node has seen of one run. */
export interface SeenRun extends PlannedRun {
  /** Places in the order of all events; absent: it has not begun, its end was not reported. */
  calledAt?: number
  returnedAt?: number
  result?: RunResult
}

export interface NodeParts {
  readonly name: string
  readonly place: number
  readonly seed: number
  readonly stage: Stage
  readonly inputs: readonly Json[]
  readonly fate: Fate
  readonly carrier: Carrier | undefined
  readonly clock: ManualClock
  /** What its lives go by. */
  readonly lifeClock: Clock
  readonly trace: Trace
  /** The place of the next event in the order of all. */
  moment(): number
}

/**
 * One process with a ledger of its own, over all its lives.
 *
 * Owns: its disk, its world, and what its callers have seen of it.
 */
export class SimulatedNode {
  readonly world: World
  readonly runs: readonly SeenRun[]
  readonly seen = new SeenChain()
  lives = 0
  /** What broke, so that the simulation has to end. */
  broken: (Broken & { readonly promise: string }) | undefined
  readonly #parts: NodeParts
  readonly #disk: FaultyDisk
  readonly #people: People
  readonly #crashes: string[] = []
  #fate: LifeFate | undefined
  #process: Process | undefined
  #guests: Guests | undefined
  #store: Store | undefined
  #writeFaults = 0
  #pending = 0
  #told = 0
  #isCaughtUp = false
  #isClosing = false
  #error: PlayError | undefined
  #changes = 0

  constructor(parts: NodeParts) {
    const { clock, fate, carrier, stage, seed, place, inputs } = parts
    this.#parts = parts
    const { effects, hosted, rooms } = stage
    const effectsMax = stage.bounds.effects
    const { packages = [] } = hosted ?? {}
    this.world = new World({ script: fate, clock, effects, effectsMax, packages, carrier, rooms })
    // An answer that comes a day later is sent a day later: nothing here moves the clock.
    const still = { advance: () => undefined }
    const options = stage.people
    this.#people = new People({ script: fate, world: this.world, clock: still, options })
    this.#disk = new FaultyDisk(1_000 * seed + place, stage.disk)
    this.runs = inputs.map((input, index) => ({ id: runIdOf(index), input }))
  }

  get name(): string {
    return this.#parts.name
  }

  /** What went wrong with its disk and its processes, by kind. */
  get faults(): ReadonlyMap<string, number> {
    return this.#disk.injected
  }

  get results(): readonly RunResult[] {
    return this.runs.flatMap(({ result }) => (result === undefined ? [] : [result]))
  }

  get isBusy(): boolean {
    return this.#process?.isBusy === true
  }

  /** Whether all its runs have ended, nothing is on its way to the disk, and a process has it. */
  get isOver(): boolean {
    const process = this.#process
    const isUp = process?.runtime !== undefined && !process.life.isDead
    return isUp && this.#pending === 0 && this.runs.every(({ result }) => result !== undefined)
  }

  /** Grows with everything that happens in it. */
  get progress(): number {
    const { life, changes } = this.#process ?? { life: { boundaries: 0 }, changes: 0 }
    return this.#changes + changes + life.boundaries + this.world.story.length
  }

  /** Installs the packages of its target, before time begins. */
  async install(): Promise<void> {
    const { hosted } = this.#parts.stage
    if (hosted === undefined) return
    const { clock } = this.#parts
    await installPackages(hosted, { ...this.#opening(), store: this.#disk.open(), clock })
  }

  /** Lets the package compute that has waited longest. */
  async compute(): Promise<boolean> {
    return (await this.#guests?.computeNext()) === true
  }

  /** Plans when its runs begin, and begins its first life. */
  begin(): void {
    const { clock, fate } = this.#parts
    let at = clock.now()
    for (const run of this.runs) {
      at += fate.beginMs()
      clock.schedule(at, () => this.#call(run))
    }
    this.#live()
  }

  /** Takes up what has happened since the last step; true: what is durable has changed. */
  async step(): Promise<boolean> {
    this.#tell()
    const process = this.#process
    if (process === undefined || this.#isTooMuch()) return false
    if (process.life.isDead) {
      this.#end(process)
      return false
    }
    this.#hear(process)
    if (this.broken !== undefined || this.#process !== process) return false
    const { runtime } = process
    if (runtime === undefined) return false
    const before = this.seen.receipts.length
    if (!(await this.#read(runtime))) return false
    process.ask(runtime)
    return this.seen.receipts.length > before
  }

  /** What all of it has left, once nothing happens any more. */
  async play(): Promise<Play> {
    this.#isClosing = true
    this.#guests?.free()
    const process = this.#process
    const runtime = process?.runtime
    const { world, runs } = this
    const ids = runs.map(({ id }) => id)
    const left =
      runtime === undefined || process?.life.isDead === true
        ? undefined
        : await leftIn(runtime, { runs: ids, verifies: this.#store })
    const stuck = runs.flatMap(({ id, result }) => {
      if (result !== undefined || runtime === undefined) return []
      return process?.waits(runtime, id) === true ? [] : [id]
    })
    const { bounds } = this.#parts.stage
    const nothing = { waits: [], receipts: [], state: new Map(), journals: new Map() }
    return {
      ...(left ?? { ...nothing, journalBytes: 0, report: undefined }),
      results: this.results,
      stuck,
      error: this.#error,
      overrun: left === undefined ? overrunOf(world, bounds) : tooLarge(left, bounds),
      world,
      asked: this.#people.asked,
      wronglyTaken: this.#people.wronglyTaken,
      boundaries: process?.life.boundaries ?? 0,
      lives: this.lives,
      crashes: this.#crashes,
      isTimely: false,
      isRedeployed: false,
      beganLate: false
    }
  }

  /** Ends it for good. */
  stop(): void {
    this.world.life.end('the end of the simulation')
  }

  #call(run: SeenRun): void {
    run.calledAt = this.#parts.moment()
    this.#parts.trace.add(this.name, `${run.id} is called`)
    const runtime = this.#process?.runtime
    if (runtime !== undefined && this.#isCaughtUp) this.#beginIn(runtime, run)
    this.#changes += 1
  }

  #beginIn(runtime: WiredRuntime, run: SeenRun): void {
    const process = this.#process
    if (process === undefined || process.life.isDead || process.has(run.id)) return
    process.begin(runtime, run)
  }

  #live(): void {
    const { clock, fate, stage, trace } = this.#parts
    const next = fate.nextLife()
    const life = new Life({ dieAt: next.dieAt, died: () => this.#disk.crash(next.end) })
    this.lives += 1
    this.world.life = life
    const { hosted } = stage
    const { story } = this.world
    this.#guests = hosted && new Guests({ sandbox: hosted.sandbox, life, story })
    this.#fate = next
    this.#isCaughtUp = false
    this.#pending = 0
    const store = life.store(this.#delayed(this.#disk.open(), life))
    if (next.write !== undefined) this.#disk.failCommits(next.write)
    this.#writeFaults = this.#countWriteFaults()
    this.#store = store
    const { source, context } = stage
    const open = () => this.#open(life, store)
    this.#process = new Process({
      life,
      clock,
      fate,
      people: this.#people,
      source,
      context,
      open
    })
    trace.add(this.name, `life ${this.lives} begins`)
  }

  async #open(life: Life, store: Store): Promise<WiredRuntime> {
    const { lifeClock, stage } = this.#parts
    const { hosted, wrapOutside = (outside) => outside } = stage
    const runtime = await runtimeOn({
      ...stage.registrations(),
      ...this.#opening(),
      ...{ store, clock: life.clock(lifeClock) },
      ...(this.#guests === undefined ? {} : { sandbox: this.#guests }),
      outside: wrapOutside(this.world.outside)
    })
    if (hosted !== undefined) await holdPackages(hosted, runtime)
    return runtime
  }

  #opening(): Pick<RuntimeOnOptions, 'compilations' | 'keys' | 'signer' | 'random' | 'durability'> {
    const { place, stage } = this.#parts
    const { keys, signer } = keysOf(place)
    const fixed = { random: fixedRandom, durability: 'output' } as const
    return { ...fixed, compilations: stage.compilations, keys, signer: inlineSigner(signer) }
  }

  /** A disk whose commits take time, but those of opening: that is over before time passes. */
  #delayed(inner: Store, life: Life): Store {
    const { clock, fate } = this.#parts
    const commit = async (items: readonly StoreItem[]) => {
      const delayMs = this.#isCaughtUp && !this.#isClosing ? fate.commitMs() : 0
      if (delayMs > 0) {
        this.#pending += 1
        await new Promise<void>((resolve) => {
          clock.schedule(clock.now() + delayMs, () => (life.isDead ? undefined : resolve()))
        })
        this.#pending -= 1
      }
      return inner.commit(items)
    }
    return storeAround(inner, { commit })
  }

  #isTooMuch(): boolean {
    const { bounds } = this.#parts.stage
    const { effects, steps } = bounds
    const isOver = this.world.asked > effects || this.seen.receipts.length > steps
    if (isOver) this.broken = { promise: 'bounded', problem: overrunOf(this.world, bounds) }
    return isOver
  }

  /** The story of the world, as far as the trace does not have it. */
  #tell(): void {
    const { story } = this.world
    for (; this.#told < story.length; this.#told += 1) {
      this.#parts.trace.add(this.name, story[this.#told] ?? '')
    }
  }

  /** What runs have ended with; an error that a fault of the disk explains ends the life. */
  #hear(process: Process): void {
    const { trace, moment } = this.#parts
    let failure = process.error
    for (const run of this.runs) {
      const end = process.ends.get(run.id)
      if (end === undefined || run.result !== undefined) continue
      if ('error' in end) {
        failure ??= { error: end.error, run: run.id }
        continue
      }
      run.result = end.result
      run.returnedAt = moment()
      trace.add(this.name, `${run.id} has ended: ${end.result.status}`)
    }
    const { mode = 'ready', cause } = process.runtime?.ledger.state() ?? {}
    if (mode === 'poisoned' || mode === 'safe') failure ??= { error: cause, run: undefined }
    if (failure === undefined) return
    if (mode !== 'safe' && this.#countWriteFaults() > this.#writeFaults) {
      process.life.end('because its disk has failed')
      this.#end(process)
      return
    }
    const { error, run } = failure
    this.#error = playError(error ?? cause, { run, life: this.lives })
    const promise = this.#error.code === 'run.diverged' ? 'deterministic' : 'continues'
    this.broken = { promise, problem: problemOf(this.#error) }
  }

  #end({ life, changes }: Process): void {
    const { clock, trace } = this.#parts
    const at = life.diedAt ?? ''
    const { downMs = 0, end = 'process' } = this.#fate ?? {}
    this.#crashes.push(at)
    this.#changes += changes + life.boundaries
    this.#process = undefined
    this.#pending = 0
    const how = end === 'power' ? 'loses its power' : 'dies'
    trace.add(this.name, `${how} ${at}${downMs === 0 ? '' : `, and is down for ${downMs} ms`}`)
    clock.schedule(clock.now() + downMs, () => this.#live())
  }

  /** Reads the receipts that have become durable; false: something that was durable is gone. */
  async #read(runtime: WiredRuntime): Promise<boolean> {
    const { seen } = this
    if (this.#isCaughtUp && runtime.ledger.state().receipts === seen.receipts.length) return true
    const lost = await seen.read(runtime, {
      from: this.#isCaughtUp ? seen.receipts.length : 0,
      take: ({ index, receipt: { intent, receiptHash } }) => {
        this.#parts.trace.add(this.name, `receipt ${index} ${intent} ${receiptHash}`)
      }
    })
    if (lost !== undefined) return this.#gone(`receipt ${lost.index} (${lost.receipt.intent})`)
    if (this.#isCaughtUp) return true
    this.#isCaughtUp = true
    const missing = this.results.find(({ receiptHash }) => {
      return receiptHash !== undefined && !seen.has(receiptHash)
    })
    if (missing !== undefined) return this.#gone(`the receipt of ${missing.id}, which has ended`)
    for (const run of this.runs) if (run.calledAt !== undefined) this.#continueIn(runtime, run)
    return true
  }

  #continueIn(runtime: WiredRuntime, run: SeenRun): void {
    if (run.result === undefined) this.#beginIn(runtime, run)
  }

  #gone(what: string): false {
    const problem = `${what} was durable, and is gone or another one after life ${this.lives - 1}`
    this.broken = { promise: 'kept', problem }
    return false
  }

  #countWriteFaults(): number {
    const { injected } = this.#disk
    return (injected.get('disk_full') ?? 0) + (injected.get('sync_failed') ?? 0)
  }
}

function problemOf({ code, message, life, run }: PlayError): string {
  return `life ${life} ${run === undefined ? 'was' : `of ${run} was`} ended by ${code}: ${message}`
}
