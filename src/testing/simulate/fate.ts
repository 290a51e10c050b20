import { Chance } from '../chance.js'
import type { WriteFault } from '../faulty-store.js'
import type { Manner, PersonAct, ScriptLine, Trouble } from '../machine/case.js'
import type { NetworkFault, SimulatedFaults } from './options.js'

/** How one life of a process goes. */
export interface LifeFate {
  /** Boundary at which it ends; undefined: it lives on. */
  readonly dieAt: number | undefined
  /** How it ends, there or because its disk has failed. */
  readonly end: 'process' | 'power'
  /** Until the next one begins. */
  readonly downMs: number
  readonly write:
    | { readonly after: number; readonly times: number; readonly fault: WriteFault }
    | undefined
}

/** What becomes of one request on its way to a service, and of the answer to it. */
export interface Passage {
  /** Until it arrives. */
  readonly requestMs: number
  /** Until it arrives a second time. */
  readonly againMs?: number
  /** From answering to being heard. */
  readonly answerMs: number
  readonly fault: Exclude<NetworkFault, 'partition'> | undefined
}

const BOUNDARIES_MAX = 40
const DOWN_MS_MAX = 5_000
const COMMITS_BEFORE_FAULT_MAX = 8
const FAULTY_COMMITS_MAX = 2
const COMMIT_MS_MAX = 4
const BEGIN_MS_MAX = 40
const ANSWER_MS_MAX = 30
const PERSON_MS_MAX = 20_000
const SLOW_MS_MAX = 60_000
const MESSAGE_MS_MAX = 40
/** Past the time that a process waits for an answer, more often than not. */
const LATE_MS_MAX = 30_000
const DEATHS_DEFAULT = 3

const allTroubles = ['refuses', 'loses', 'loses_done', 'slow'] as const
const allManners: readonly Manner[] = ['late', 'twice', 'wrong_digest', 'never', 'cancels']
export const allNetwork: readonly NetworkFault[] = [
  'request_lost',
  'request_late',
  'request_repeated',
  'answer_lost',
  'partition'
]
const allDisk = ['disk_full', 'sync_failed', 'power'] as const

/**
 * What a seed says of one node. Moments and lives are drawn in the order in which they come; what
 * becomes of a question is drawn for the question, so that it is the same after a crash.
 */
export class Fate {
  readonly #seed: string
  readonly #chance: Chance
  readonly #faults: Required<SimulatedFaults>
  readonly #lines = new Map<string, Map<string, ScriptLine>>()
  readonly #acts = new Map<string, PersonAct>()
  readonly #messageFaults: readonly Exclude<NetworkFault, 'partition'>[]
  #deaths = 0

  constructor(seed: string, faults: SimulatedFaults = {}) {
    this.#seed = seed
    this.#chance = new Chance(seed)
    const { deaths = DEATHS_DEFAULT, disk = allDisk } = faults
    const { effects = allTroubles, people = allManners, network = allNetwork } = faults
    this.#faults = { deaths, disk, effects, people, network }
    this.#messageFaults = network.filter((one) => one !== 'partition')
  }

  /** The next life. After as many as may end by a fault, one without faults. */
  nextLife(): LifeFate {
    const chance = this.#chance
    const { deaths, disk } = this.#faults
    const end = disk.includes('power') && chance.below(2) === 0 ? 'power' : 'process'
    const downMs = chance.below(3) === 0 ? chance.below(DOWN_MS_MAX) : 0
    const isLast = this.#deaths >= deaths
    this.#deaths += 1
    if (isLast) return { dieAt: undefined, end, downMs, write: undefined }
    const dieAt = chance.below(4) === 0 ? undefined : 1 + chance.below(BOUNDARIES_MAX)
    const faults = disk.filter((one) => one !== 'power')
    const fault = faults[chance.below(2 * faults.length)]
    const after = chance.below(COMMITS_BEFORE_FAULT_MAX)
    const times = 1 + chance.below(FAULTY_COMMITS_MAX)
    return { dieAt, end, downMs, write: fault === undefined ? undefined : { after, times, fault } }
  }

  commitMs(): number {
    return this.#chance.below(COMMIT_MS_MAX)
  }

  /** How long after the simulation, or after the run before, a run begins. */
  beginMs(): number {
    return this.#chance.below(BEGIN_MS_MAX)
  }

  personMs(): number {
    return this.#chance.below(PERSON_MS_MAX)
  }

  /** What the world does with one asking of an effect. */
  lineOf(effect: string, asking: string): ScriptLine {
    const known = this.#lines.get(effect) ?? new Map<string, ScriptLine>()
    this.#lines.set(effect, known)
    const line = known.get(asking) ?? { nth: known.size, trouble: this.#trouble(effect, asking) }
    known.set(asking, line)
    return line
  }

  /** What becomes of one asking between the node and the service. */
  passageOf(
    effect: string,
    asking: string,
    { isRepeatable }: { readonly isRepeatable: boolean }
  ): Passage {
    const chance = new Chance(`${this.#seed}/network/${effect}/${asking}`)
    const faults = this.#messageFaults
    const drawn = faults[chance.below(8 * faults.length)]
    const fault = drawn === 'request_repeated' && !isRepeatable ? undefined : drawn
    const messageMs = () => (chance.below(4) === 0 ? 1 + chance.below(MESSAGE_MS_MAX) : 0)
    const passage = { requestMs: messageMs(), answerMs: messageMs(), fault }
    const lateMs = 1_000 + chance.below(LATE_MS_MAX)
    if (fault === 'request_late') return { ...passage, requestMs: lateMs }
    if (fault !== 'request_repeated') return passage
    return {
      ...passage,
      againMs: chance.below(2) === 0 ? 1 + chance.below(MESSAGE_MS_MAX) : lateMs
    }
  }

  /** What people do with a wait. */
  actOf(token: string): PersonAct {
    const act = this.#acts.get(token) ?? this.#act(token)
    this.#acts.set(token, act)
    return act
  }

  #trouble(effect: string, asking: string): Trouble {
    const chance = new Chance(`${this.#seed}/${effect}/${asking}`)
    const trouble = this.#faults.effects[chance.below(5 * this.#faults.effects.length)]
    if (trouble === undefined) return 1 + chance.below(ANSWER_MS_MAX)
    return trouble === 'slow' ? 1_000 + chance.below(SLOW_MS_MAX) : trouble
  }

  #act(token: string): PersonAct {
    const chance = new Chance(`${this.#seed}/people/${token}`)
    const { people } = this.#faults
    const manner = people[chance.below(4 * people.length)]
    const chooses = chance.below(4) === 0 ? chance.below(7) : 0
    return manner === undefined ? { chooses } : { chooses, manner }
  }
}
