import type { EffectRequest, Outcome } from '../../code/index.js'
import { type Clock, type Json, limits, microtasksDone, type TallyError } from '../../core/index.js'
import type { QueuePlace } from '../../queue/index.js'
import type { RunFact } from '../run/decide.js'
import type { SentSignal, SignalOutcome } from '../run/signals.js'
import type { MessageOutcome, WaitMessage } from '../run/waits.js'
import type { Attempt } from './attempt.js'

type FactOf<Kind extends RunFact['kind']> = Extract<RunFact, { readonly kind: Kind }>

/** The code of an attempt has ended. */
export interface OutcomeEvent {
  readonly kind: 'outcome'
  readonly attempt: Attempt
  readonly outcome: Outcome
}

/** An effect that waited for its turn has it. */
export interface Turn {
  readonly isOrdered: boolean
  /** Undefined: no queue knows of the effect. */
  readonly place: QueuePlace | undefined
}

export interface AdmittedEvent {
  readonly kind: 'admitted'
  readonly attempt: Attempt
  readonly call: EffectRequest
  readonly turn: Turn
}

/** Where the sender of a message is given its outcome. */
export interface Reply<Outcome> {
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}

export type PerformedFact = FactOf<'performed'> & { readonly attempt: Attempt }

/** Something that has happened outside the charts, and waits in the inbox for its turn. */
export type PumpEvent =
  | OutcomeEvent
  | PerformedFact
  | AdmittedEvent
  /** What it has read changed before it sent anything: it has to run again (L10). */
  | { readonly kind: 'stale'; readonly attempt: Attempt; readonly reruns: number }
  | FactOf<'deadline' | 'timer' | 'due'>
  | (FactOf<'cancel'> & Reply<boolean>)
  | (FactOf<'message'> & Reply<MessageOutcome>)
  | (FactOf<'signal'> & Reply<SignalOutcome>)
  /** Whether the run would take a message now; it is not given. */
  | ({ readonly kind: 'question'; readonly message: WaitMessage } & Reply<MessageOutcome>)

/** A fact that is to be posted when it is due. */
interface Armed {
  readonly due: number
  readonly fact: PumpEvent
  readonly callOff: () => void
}

/**
 * The facts of one run that are not journal entries yet, in the order in which they came, those to
 * come when they are due, and what people outside have asked of it. At most one fact for each
 * outstanding call (D9).
 *
 * Owns: facts and timers. Does not own: what is waited for; the state of the run has that, and the
 * pump arms its waits once it is live, so that in recovery pending effects come before what fell
 * due meanwhile (K7).
 *
 * - D3: no answer is taken before code has done all that it does without one.
 * - B3: a message comes after everything that fell due before it was taken, though the timer of
 *   that was late, or the process was down.
 */
export class Inbox {
  readonly #clock: Clock
  readonly #now: () => number
  #armed: Map<string, Armed> | undefined
  #isStopping = false
  #isHeld = false
  #isExpecting = false
  #isStirred = false
  #hasAnswers = false
  #isGraceOver = false
  #halted: TallyError | undefined
  #callOffGrace: (() => void) | undefined
  #facts: PumpEvent[] = []
  #wake: (() => void) | undefined
  #isOver = false
  #rest: (() => void) | undefined
  #failure: { readonly error: unknown } | undefined

  /** `now` is the time of the run, which no clock that was set back makes earlier. */
  constructor(clock: Clock, now: () => number) {
    this.#clock = clock
    this.#now = now
  }

  /** Whether nothing new may be begun. */
  get isStopping(): boolean {
    return this.#isStopping
  }

  /**
   * Whether effects that were sent have had their time to answer: the journal has their requests.
   */
  get isGraceOver(): boolean {
    return this.#isGraceOver
  }

  /** Why the run was halted, if it was. */
  get halted(): TallyError | undefined {
    return this.#halted
  }

  /** Whether no code may begin: the run waits for its turn, and takes messages meanwhile. */
  get isHeld(): boolean {
    return this.#isHeld
  }

  /** Whether there is nothing to do for a run that is held. */
  get isIdle(): boolean {
    return this.#isHeld && this.isEmpty && !this.#isExpecting
  }

  /** `isExpecting`: it is held in memory until it is given what it was resumed for. */
  hold({ isExpecting = false } = {}): void {
    this.#isHeld = true
    this.#isExpecting = isExpecting
  }

  /** The run has its turn. */
  letGo(): void {
    this.#isHeld = false
    this.wake()
  }

  get isEmpty(): boolean {
    return this.#facts.length === 0
  }

  /** Whether nothing continues before a fact comes. */
  get isAwaited(): boolean {
    return this.#wake !== undefined && this.isEmpty
  }

  get failure(): { readonly error: unknown } | undefined {
    return this.#failure
  }

  post(fact: PumpEvent): void {
    this.#isExpecting = false
    if (answers.has(fact.kind)) this.#hasAnswers = true
    this.#facts.push(fact)
    this.wake()
  }

  take(): PumpEvent | undefined {
    return (this.#isNextFromPeople ? this.#takeOverdue() : undefined) ?? this.#facts.shift()
  }

  get #isNextFromPeople(): boolean {
    const next = this.#facts[0]
    return next !== undefined && isFromPeople.has(next.kind)
  }

  /**
   * Resolves when code has done all that it does without an answer; undefined where the next fact
   * gives none. What code does by itself comes before what it is given (D3).
   */
  beforeAnswers(): Promise<void> | undefined {
    if (!this.#hasAnswers && !this.#isNextFromPeople) return undefined
    this.#hasAnswers = false
    return microtasksDone()
  }

  /** What fell due before now: posted behind others, or not posted yet. */
  #takeOverdue(): PumpEvent | undefined {
    const posted = this.#facts.findIndex(({ kind }) => isTimed.has(kind))
    if (posted >= 0) return this.#facts.splice(posted, 1)[0]
    const now = this.#now()
    let found: readonly [key: string, armed: Armed] | undefined
    for (const one of this.#armed ?? noneArmed) {
      if (one[1].due <= now && (found === undefined || one[1].due < found[1].due)) found = one
    }
    if (found === undefined) return undefined
    this.disarm(found[0])
    return found[1].fact
  }

  /** Posts the fact when it is due, under a key. */
  arm(key: string, due: number, fact: PumpEvent): void {
    this.disarm(key)
    this.#armed ??= new Map()
    const callOff = this.#clock.schedule(due, () => {
      this.#armed?.delete(key)
      this.post(fact)
    })
    this.#armed.set(key, { due, fact, callOff })
  }

  /** Posts what is due by now, without a turn of the clock, in the order in which it fell due. */
  postDue(): void {
    const now = this.#clock.now()
    const due = [...(this.#armed ?? noneArmed)].filter(([, armed]) => armed.due <= now)
    for (const [key, { fact }] of due.sort(([, one], [, other]) => one.due - other.due)) {
      this.disarm(key)
      this.post(fact)
    }
  }

  disarm(key: string): void {
    this.#armed?.get(key)?.callOff()
    this.#armed?.delete(key)
  }

  /** Lets what was sent finish and starts nothing new: the run ends with `stopped`. */
  stop(): void {
    if (this.#isStopping) return
    this.#isStopping = true
    const until = this.#clock.now() + limits.CLOSE_GRACE_MS
    this.#callOffGrace = this.#clock.schedule(until, () => {
      this.#isGraceOver = true
      this.wake()
    })
    this.wake()
  }

  /** As {@link stop}, for something around the run's code that has failed. */
  halt(cause: TallyError): void {
    this.#halted ??= cause
    this.stop()
  }

  /**
   * Takes a message from outside the run; resolves when it has been decided and is durable. Those
   * that `shares` it come next, before the run can park, where it was accepted.
   */
  message(message: WaitMessage, shares: readonly WaitMessage[] = []): Promise<MessageOutcome> {
    return this.#asked('message', message, shares)
  }

  /** What {@link message} would come to now, once everything that is overdue has been taken. */
  question(message: WaitMessage): Promise<MessageOutcome> {
    return this.#asked('question', message, [])
  }

  /** Takes a signal; resolves when it is durable that the run has it, or why it has not. */
  signal(signal: SentSignal): Promise<SignalOutcome> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error)
    if (this.#isOver) return Promise.resolve({ accepted: false, reason: 'run_moved' })
    return new Promise((resolve, reject) => this.post({ kind: 'signal', signal, resolve, reject }))
  }

  #asked(
    kind: 'message' | 'question',
    message: WaitMessage,
    shares: readonly WaitMessage[]
  ): Promise<MessageOutcome> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error)
    if (this.#isOver) return Promise.resolve({ accepted: false, reason: 'run_moved' })
    return new Promise((resolve, reject) => {
      const decided = (outcome: MessageOutcome): void => {
        const shared = outcome.accepted ? shares.map((share) => this.message(share)) : []
        Promise.all(shared).then(() => resolve(outcome), reject)
      }
      this.post({ kind, message, resolve: decided, reject })
    })
  }

  /** Asks for the end of the run; false when it has ended or moved before it heard. */
  cancel(reason: string, by: Json): Promise<boolean> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error)
    if (this.#isOver) return Promise.resolve(false)
    return new Promise((resolve, reject) =>
      this.post({ kind: 'cancel', reason, by, resolve, reject })
    )
  }

  /** Resolves when the run has nothing to do, or is over; asked for once. */
  rested(): Promise<void> {
    if (this.#isOver || this.isAwaited) return Promise.resolve()
    return new Promise((resolve) => {
      this.#rest = resolve
    })
  }

  /** Whether anything has woken the run since the pump began to look at how it stands. */
  get isStirred(): boolean {
    return this.#isStirred
  }

  /** The pump looks at how the run stands: what has woken it up to now is seen by that. */
  beginLook(): void {
    this.#isStirred = false
  }

  /** Resolves at the next fact, failure or `wake`, and at once where one came since the look. */
  async stirred(): Promise<void> {
    if (this.#isStirred) return
    this.#rest?.()
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    this.#wake = undefined
  }

  wake(): void {
    this.#isStirred = true
    this.#wake?.()
  }

  fail(error: unknown): void {
    this.#failure ??= { error }
    this.wake()
  }

  /** The run has ended or moved: callers that still wait for an answer get that. */
  close(): void {
    this.#isOver = true
    this.#rest?.()
    this.#callOffGrace?.()
    for (const { callOff } of this.#armed?.values() ?? []) callOff()
    this.#armed?.clear()
    for (const fact of this.#facts) {
      if (!('reject' in fact)) continue
      if (this.#failure !== undefined) fact.reject(this.#failure.error)
      else if (fact.kind === 'cancel') fact.resolve(false)
      else fact.resolve({ accepted: false, reason: 'run_moved' })
    }
    this.#facts = []
  }
}

const noneArmed: ReadonlyMap<string, Armed> = new Map()

/** Facts that give code an answer. */
const answers: ReadonlySet<PumpEvent['kind']> = new Set(['due', 'performed'])

/** Facts before which what is overdue is given (B3). */
const isFromPeople: ReadonlySet<PumpEvent['kind']> = new Set(['message', 'question', 'signal'])

/** Facts that are posted when they are due. */
const isTimed: ReadonlySet<PumpEvent['kind']> = new Set(['deadline', 'due', 'timer'])

/** Gives the sender of a message its outcome, an error too: nothing may wait for ever (L3). */
export async function told<Outcome>(
  sender: Reply<Outcome>,
  act: () => Promise<Outcome>
): Promise<void> {
  try {
    sender.resolve(await act())
  } catch (error) {
    sender.reject(error)
    throw error
  }
}
