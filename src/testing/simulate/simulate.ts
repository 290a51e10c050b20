import {
  type Clock,
  type Json,
  limits,
  ManualClock,
  nextTurn,
  testingError
} from '../../core/index.js'
import { within } from '../ambient.js'
import type { Stage } from '../machine/play.js'
import type { PreparedTarget } from '../machine/prepared-target.js'
import { judge, type Violation } from '../machine/promises/all.js'
import { judged } from '../machine/promises/invariants.js'
import { stageOf } from '../machine/stage.js'
import { type MachineTarget, prepareTarget } from '../machine/target.js'
import { checkAnswers } from '../machine/world.js'
import { allNetwork, Fate } from './fate.js'
import { checkLinearizable } from './linearizable.js'
import { Network } from './network.js'
import { SimulatedNode } from './node.js'
import type { SeenBySimulation, SimulationOptions, SimulationReport } from './options.js'
import { Trace } from './trace.js'

/**
 * Lives whole lives of machines as one seed says: when runs begin, how long everything takes, what
 * the world and people do, where processes die and disks fail. All of it in virtual time, on the
 * real runtime. Rejects with `testing.simulation_failed`, which names the seed, when a promise of
 * this library or of the caller is broken; the same seed plays the same again.
 *
 * It replaces the clock and chance of the whole process while it plays.
 *
 * @example
 * for (let seed = 1; seed <= 200; seed += 1) {
 *   await simulate({ seed, nodes: { shop: { target: order, runs: [{ item: 'desk' }] } }, effects })
 * }
 */
export function simulate(options: SimulationOptions): Promise<SimulationReport> {
  return simulateBroken(options, {})
}

/** Parts of a simulation that tests of it replace. */
export interface BrokenParts extends Pick<Stage, 'disk' | 'wrapOutside'> {
  /** The clock of the lives of a node, for that of the world. */
  readonly wrapClock?: (clock: ManualClock) => Clock
  readonly eventsMax?: number
  readonly configurationsMax?: number
}

/** {@link simulate} with parts of the machine itself broken: for tests of what it finds. */
export async function simulateBroken(
  options: SimulationOptions,
  broken: BrokenParts
): Promise<SimulationReport> {
  const problem = problemOf(options)
  if (problem !== undefined) throw testingError('testing.simulation_invalid', { problem })
  const targets: PreparedTarget[] = []
  for (const { target } of Object.values(options.nodes)) targets.push(await prepared(target))
  return within({}, () => new Simulation(options, targets, broken).run())
}

function problemOf({ seed, nodes }: SimulationOptions): string | undefined {
  if (!Number.isSafeInteger(seed)) return `the seed ${seed} is no whole number`
  const all = Object.entries(nodes)
  if (all.length === 0) return 'there are no nodes'
  const idle = all.find(([, { runs }]) => runs.length === 0)
  return idle === undefined ? undefined : `the node ${idle[0]} has no runs`
}

function statesOf({ nodes }: SeenBySimulation) {
  return Object.fromEntries(Object.entries(nodes).map(([name, { state }]) => [name, state]))
}

const known = new WeakMap<MachineTarget, Promise<PreparedTarget>>()

/** A target is read and compiled once, however many seeds it is simulated with. */
function prepared(target: MachineTarget): Promise<PreparedTarget> {
  const before = known.get(target) ?? prepareTarget(target)
  known.set(target, before)
  return before
}

/** Turns of the loop without progress after which nothing more happens by itself. */
const QUIET_TURNS = 8
/** How often nothing may be found to wait for before the runs that are left are stuck. */
const IDLE_MAX = 16
const BUSY_TURNS_MAX = 100_000
const SHOWN_LINES = 30

class Simulation {
  readonly #options: SimulationOptions
  readonly #targets: readonly PreparedTarget[]
  readonly #clock = new ManualClock()
  readonly #trace: Trace
  readonly #nodes: readonly SimulatedNode[]
  /** Undefined: requests arrive at once. */
  readonly #network: Network | undefined
  readonly #eventsMax: number
  readonly #configurationsMax: number
  #moments = 0

  constructor(
    options: SimulationOptions,
    targets: readonly PreparedTarget[],
    {
      eventsMax = limits.SIMULATION_EVENTS_MAX,
      configurationsMax = limits.LINEAR_CONFIGURATIONS_MAX,
      wrapClock = (clock) => clock,
      ...broken
    }: BrokenParts
  ) {
    this.#eventsMax = eventsMax
    this.#configurationsMax = configurationsMax
    this.#options = options
    this.#targets = targets
    this.#trace = new Trace(this.#clock, options.onEvent)
    const { seed, people = {}, bounds = {}, faults, effects = {} } = options
    const given = typeof effects === 'function' ? effects() : effects
    const played = { effects: given, people, bounds }
    this.#network = this.#networkTo(Object.keys(given))
    this.#nodes = Object.entries(options.nodes).flatMap(([name, { runs, context = {} }], place) => {
      const target = targets[place]
      if (target === undefined) return []
      const fate = new Fate(`simulation/${seed}/${name}`, faults)
      const node = new SimulatedNode({
        ...{ name, place, seed, inputs: runs, clock: this.#clock, trace: this.#trace, fate },
        carrier: this.#network?.of(name, fate),
        lifeClock: wrapClock(this.#clock),
        stage: { ...stageOf({ ...target, effects: {} }, { ...played, context }), ...broken },
        moment: () => {
          this.#moments += 1
          return this.#moments
        }
      })
      return [node]
    })
  }

  #networkTo(services: readonly string[]): Network | undefined {
    const { seed, nodes, faults: { network = allNetwork } = {} } = this.#options
    if (network.length === 0) return undefined
    const names = Object.keys(nodes)
    const [clock, trace] = [this.#clock, this.#trace]
    return new Network({ seed, nodes: names, services, faults: network, clock, trace })
  }

  async run(): Promise<SimulationReport> {
    try {
      for (const node of this.#nodes) await node.install()
      this.#network?.begin()
      for (const node of this.#nodes) node.begin()
      await this.#live()
      return await this.#judge()
    } finally {
      for (const node of this.#nodes) node.stop()
    }
  }

  /** Moves from one event to the next until nothing is left to happen. */
  async #live(): Promise<void> {
    let idle = 0
    for (let event = 0; event < this.#eventsMax; event += 1) {
      const settled = await this.#settle()
      let hasChanged = false
      for (const node of this.#nodes) {
        if (await node.step()) hasChanged = true
        checkAnswers(node.world)
        if (node.broken !== undefined) this.#fail(node.name, node.broken)
      }
      if (hasChanged) this.#holds('always')
      // What is still on its way arrives: it must do nothing twice.
      if (this.#network?.isQuiet !== false && this.#nodes.every(({ isOver }) => isOver)) return
      // What a step has begun happens before time passes.
      if (this.#progress() !== settled) continue
      if (await this.#compute()) continue
      const due = this.#clock.nextDue
      // Code that is given long recorded results again is busy without a sign of it.
      idle = due === undefined ? idle + 1 : 0
      if (idle > IDLE_MAX) return
      this.#clock.advance(Math.max(0, (due ?? 0) - this.#clock.now()))
    }
    const problem = `more than ${this.#eventsMax} events, and no end`
    this.#fail('the simulation', { promise: 'ends', problem })
  }

  /** Lets one package compute that was asked for: no time passes before. */
  async #compute(): Promise<boolean> {
    for (const node of this.#nodes) if (await node.compute()) return true
    return false
  }

  /** Lets everything happen that happens by itself; how far everything has come then. */
  async #settle(): Promise<number> {
    let last = -1
    let quiet = 0
    for (let turn = 0; turn < BUSY_TURNS_MAX && quiet < QUIET_TURNS; turn += 1) {
      await nextTurn()
      const now = this.#progress()
      const isBusy = this.#nodes.some((node) => node.isBusy)
      quiet = now === last && !isBusy ? quiet + 1 : 0
      last = now
    }
    return last
  }

  #progress(): number {
    return this.#nodes.reduce((sum, { progress }) => sum + progress, 0)
  }

  async #judge(): Promise<SimulationReport> {
    const nodes = this.#nodes
    const faults = new Map(this.#network?.faults)
    let waiting = 0
    for (const [place, node] of nodes.entries()) {
      for (const [kind, times] of node.faults) faults.set(kind, (faults.get(kind) ?? 0) + times)
      const target = this.#targets[place]
      if (target === undefined) continue
      const { compiled, hosted } = target
      const { packages = [] } = hosted ?? {}
      const play = await node.play()
      waiting += node.runs.length - node.results.length
      const given = { inputs: node.runs.map(({ input }) => input) }
      const none = { disturbed: undefined, again: undefined }
      const violation = judge({
        ...{ given, options: {}, compiled, packages },
        ...{ undisturbed: play, ...none }
      })
      if (violation !== undefined) this.#fail(node.name, violation)
      this.#checkHistory(node)
    }
    if (waiting === 0) this.#holds('eventually')
    const sum = (of: (node: SimulatedNode) => number) =>
      nodes.reduce((all, node) => all + of(node), 0)
    return {
      seed: this.#options.seed,
      elapsedMs: this.#trace.elapsedMs,
      lives: sum(({ lives }) => lives),
      receipts: sum(({ seen }) => seen.receipts.length),
      ended: sum(({ results }) => results.length),
      waiting,
      faults: Object.fromEntries(faults),
      trace: this.#trace.text(),
      notChecked: [
        'peers: nodes ask services, and do not talk to each other',
        'code that never gives up the thread: an endless loop without ctx is not ended'
      ]
    }
  }

  #checkHistory({ name, runs }: SimulatedNode): void {
    const { operation } = this.#options
    if (operation === undefined) return
    const called: string[] = []
    const history = runs.flatMap(({ id, input, calledAt, returnedAt, result }) => {
      if (calledAt === undefined) return []
      const ended = result === undefined ? {} : { result }
      const done = operation({ node: name, id, input, ...ended })
      if (done === undefined) return []
      called.push(id)
      return [{ ...done, calledAt, ...(returnedAt === undefined ? {} : { returnedAt }) }]
    })
    const found = checkLinearizable(history, { configurationsMax: this.#configurationsMax })
    if (found.verdict === 'linearizable') return
    const problem =
      found.verdict === 'undecided'
        ? `no order was found in ${found.configurations} configurations`
        : `no order explains ${found.stuck.map((place) => called[place]).join(', ')}`
    this.#fail(name, { promise: 'linearizable', problem })
  }

  #holds(promise: 'always' | 'eventually'): void {
    const named = Object.entries(this.#options[promise] ?? {})
    if (named.length === 0) return
    const seen = this.#seen()
    for (const [name, invariant] of named) {
      const broken = judged(name, invariant, { seen, shown: statesOf(seen) })
      if (broken !== undefined) this.#fail('the simulation', { promise, ...broken })
    }
  }

  #seen(): SeenBySimulation {
    const nodes = this.#nodes.map(({ name, results, seen }) => {
      const receipts = seen.receipts.map(({ receipt }) => receipt)
      return [name, { state: { ...seen.state }, receipts, results }] as const
    })
    const deeds = this.#nodes.flatMap(({ name, world }) =>
      world.deeds.map(({ effect, request }) => ({
        node: name,
        effect,
        request: JSON.parse(request) as Json
      }))
    )
    return { elapsedMs: this.#trace.elapsedMs, nodes: Object.fromEntries(nodes), deeds }
  }

  #fail(node: string, { promise, problem, expected, actual }: Violation): never {
    const lines = [
      ...(expected === undefined ? [] : [`expected: ${expected}`]),
      ...(actual === undefined ? [] : [`found: ${actual}`]),
      this.#trace.tail(SHOWN_LINES)
    ]
    const { seed } = this.#options
    const what = { seed, node, promise, problem, trace: lines.join('\n') }
    throw testingError('testing.simulation_failed', what)
  }
}
