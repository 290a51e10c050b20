import type { Json, RunId } from '../../core/index.js'
import type { Receipt } from '../../ledger/index.js'
import type { RunResult } from '../../runtime/index.js'
import type { WriteFault } from '../faulty-store.js'
import type { EffectAnswer, Invariant, MachineBounds, PeopleOptions } from '../machine/options.js'
import type { MachineTarget } from '../machine/target.js'
import type { StateOperation } from './linearizable.js'

/** One process with a ledger of its own, and what it has to do. */
export interface SimulatedMachine {
  /** A function makes it anew for each life, so that what code keeps in memory dies with it. */
  readonly target: MachineTarget
  /** Input of each run; they begin at moments that the seed chooses, also beside each other. */
  readonly runs: readonly Json[]
  readonly context?: Readonly<Record<string, Json>>
}

/** How the world answers one effect of any node. */
export interface SimulatedEffect {
  /** `own`: as the block or the provider does it, which the trace then depends on. */
  readonly answer: EffectAnswer | 'own'
  /** What the real one does when it is asked again with the same key. Default: by the class. */
  readonly repeats?: 'safely' | 'again'
}

/**
 * What may go wrong between a node and the service of an effect. `request_lost`: it never arrives.
 * `request_late`: it arrives after up to half a minute; a node waits ten seconds. `answer_lost`:
 * the service has done it. `request_repeated`: it arrives twice, the second time up to half a
 * minute later; not for effects of class `non_idempotent`, which say that this cannot go well.
 * `partition`: some nodes reach some services not at all, for up to half a minute.
 */
export type NetworkFault =
  | 'request_lost'
  | 'request_late'
  | 'request_repeated'
  | 'answer_lost'
  | 'partition'

/** What may go wrong. Everything that is absent may. */
export interface SimulatedFaults {
  /** Deaths of each process, at most: beside every commit and effect. Default 3. */
  readonly deaths?: number
  /** `power`: a death takes what was not synced with it. */
  readonly disk?: readonly (WriteFault | 'power')[]
  readonly effects?: readonly ('refuses' | 'loses' | 'loses_done' | 'slow')[]
  /**
   * One asking of eight has one of the first four, each of them as often, and a story has up to two
   * partitions. An empty list: there is no network, and requests arrive at once.
   */
  readonly network?: readonly NetworkFault[]
  /** What people do besides answering. */
  readonly people?: readonly ('late' | 'twice' | 'wrong_digest' | 'never' | 'cancels')[]
}

/** A node as an invariant sees it. */
export interface SeenNode {
  /** State entries by key, as its durable receipts have left them. */
  readonly state: Readonly<Record<string, Json>>
  readonly receipts: readonly Receipt[]
  /** What it has reported of runs that ended. */
  readonly results: readonly RunResult[]
}

/** What invariants of a simulation look at. */
export interface SeenBySimulation {
  /** Since the simulation began. */
  readonly elapsedMs: number
  readonly nodes: Readonly<Record<string, SeenNode>>
  /** What was done outside, in the order of each node. */
  readonly deeds: readonly {
    readonly node: string
    readonly effect: string
    readonly request: Json
  }[]
}

/** A run as its caller saw it, for the check of histories. */
export interface EndedRun {
  readonly node: string
  readonly id: RunId
  readonly input: Json
  /** Absent: its end was never reported. */
  readonly result?: RunResult
}

/** A story to simulate: its seed, its nodes, its faults, and what has to hold. */
export interface SimulationOptions {
  /** A whole number. Another one is another story. */
  readonly seed: number
  readonly nodes: Readonly<Record<string, SimulatedMachine>>
  /** A function makes them anew for each simulation: what answers remember begins empty then. */
  readonly effects?: Effects | (() => Effects)
  readonly faults?: SimulatedFaults
  readonly people?: Pick<PeopleOptions, 'sign'>
  /** Hold after every change of what is durable at any node. */
  readonly always?: Readonly<Record<string, Invariant<SeenBySimulation>>>
  /** Hold in the end, when every run has ended. */
  readonly eventually?: Readonly<Record<string, Invariant<SeenBySimulation>>>
  /**
   * What a run did with state, as its caller can tell: the runs of each node have to be
   * linearizable then. Undefined: the run is left out.
   */
  operation?(run: EndedRun): StateOperation | undefined
  /** Hears each line of the trace, also of a simulation that fails. */
  onEvent?(line: string): void
  /** Of each node. */
  readonly bounds?: MachineBounds
}

type Effects = Readonly<Record<string, SimulatedEffect>>

/** What came of a simulation. */
export interface SimulationReport {
  readonly seed: number
  /** Virtual time. */
  readonly elapsedMs: number
  /** Lives of processes, over all nodes. */
  readonly lives: number
  readonly receipts: number
  /** Runs that ended, and those that wait for a person who never answers. */
  readonly ended: number
  readonly waiting: number
  /** What went wrong, by kind. */
  readonly faults: Readonly<Record<string, number>>
  /** Every event, a line each: the same for the same seed. */
  readonly trace: string
  readonly notChecked: readonly string[]
}
