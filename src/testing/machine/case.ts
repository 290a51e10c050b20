import type { Json } from '../../core/index.js'

/**
 * One life story of a machine and of the world around it, as plain JSON: everything that varies
 * between two plays of the same code is in it, so that a case plays the same again anywhere.
 */
export interface Case {
  /** Of each run; several run beside each other on the same state. */
  readonly inputs: readonly Json[]
  /** What the world does when an effect is asked for, by its name. */
  readonly effects?: Readonly<Record<string, ScriptedEffect>>
  /** What people do with the waits, in the order in which they are asked first. */
  readonly people?: readonly PersonAct[]
  /** Where the process dies: one for each life but the last. */
  readonly deaths?: readonly Death[]
  /** What differs when the case is played once more; absent: nothing. */
  readonly again?: string
}

/** In the order in which an effect is first asked for; a retry by the block's node asks anew. */
export interface ScriptedEffect {
  /** Given round after round; absent where a function of the options answers. */
  readonly answers?: readonly Json[]
  /** Absent, and after the last: none. */
  readonly troubles?: readonly Trouble[]
}

/**
 * `refuses`: certainly not done. `loses`: not done, and the caller cannot tell. `loses_done`: done,
 * and the caller cannot tell. `reverts`: a chain includes it, and it has no effect. A number: done,
 * so many milliseconds later.
 */
export type Trouble = 'refuses' | 'loses' | 'loses_done' | 'reverts' | number | null

/** What a person does about one wait. */
export interface PersonAct {
  /** Index into the actions that the wait offers, the most agreeable first; round after round. */
  readonly chooses?: number
  /** Absent: as asked, at once. */
  readonly manner?: Manner
  /** What is answered; absent: null, or what is true where the question is what became of it. */
  readonly value?: Json
}

/**
 * `late`: when its due time has passed, or a day later. `twice`: the same answer again.
 * `wrong_digest`: first with the digest of another question. `never`: no answer. `cancels`: the
 * whole run.
 */
export type Manner = 'late' | 'twice' | 'wrong_digest' | 'never' | 'cancels'

export const manners: readonly Manner[] = ['late', 'twice', 'wrong_digest', 'never', 'cancels']

/** Where a life of a case ends, as a process that is killed does. */
export interface Death {
  /** Boundary at which the life ends, from 1, counted round after round of an undisturbed life. */
  readonly at: number
  /** How long until the next life begins; absent: no time. */
  readonly downMs?: number
  /** The next life begins with the registrations of the next version. */
  readonly redeploys?: true
}

/**
 * What a case says of each question, whenever in whatever life it is asked: the first play of a
 * case assigns its lines in order, and the other plays give the same question the same line.
 */
export class Script {
  readonly #case: Case
  readonly #acts = new Map<string, number>()
  readonly #calls = new Map<string, Map<string, number>>()

  constructor(given: Case) {
    this.#case = given
  }

  /** What people do with a wait. */
  actOf(token: string): PersonAct {
    const index = this.#acts.get(token) ?? this.#acts.size
    this.#acts.set(token, index)
    return this.#case.people?.[index] ?? {}
  }

  /** What the world does with one asking of an effect. */
  lineOf(effect: string, asking: string): ScriptLine {
    const known = this.#calls.get(effect) ?? new Map<string, number>()
    const nth = known.get(asking) ?? known.size
    known.set(asking, nth)
    this.#calls.set(effect, known)
    const { answers = [], troubles = [] } = this.#case.effects?.[effect] ?? {}
    const answer = answers[nth % Math.max(1, answers.length)]
    const trouble = troubles[nth] ?? null
    return answer === undefined ? { nth, trouble } : { nth, trouble, answer }
  }
}

export interface ScriptLine {
  /** How many askings of this effect came before. */
  readonly nth: number
  readonly trouble: Trouble
  readonly answer?: Json
}

/** What the story of a case says of a trouble. */
export function troubleText(trouble: Trouble): string {
  if (trouble === null) return 'answers'
  if (trouble === 'refuses') return 'refuses, nothing is done'
  if (trouble === 'loses') return 'fails, nothing is done, and the caller cannot tell'
  if (trouble === 'loses_done') return 'is done, and the caller cannot tell'
  if (trouble === 'reverts') return 'is included, without any effect'
  return `answers after ${trouble} ms`
}
