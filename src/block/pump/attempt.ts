import {
  type Attribution,
  type Block,
  builtInEffects,
  type Call,
  CallRun,
  type CallRunInput,
  type CallRunPort,
  type EffectRequest,
  type FunctionCall,
  type IntentInput,
  type Outcome,
  type SignalRequest,
  StateView
} from '../../code/index.js'
import {
  type ActorPath,
  assert,
  blockError,
  copyJson,
  type Hash,
  type Json,
  nextTurn,
  type RunId,
  type TallyError,
  type UnitId
} from '../../core/index.js'
import type { AttemptCommand } from '../chart/protocol.js'
import type { Sealed, WaitBegun } from '../run/entries.js'
import type { RecordedResult } from '../run/folded-answers.js'
import type { SealedReference } from '../run/journal.js'
import type { Overlay } from '../run/overlay.js'
import { putOff } from '../run/overlay-tasks.js'
import { Past } from '../run/past.js'
import type { Literals } from '../run/payload-texts.js'
import type { RecordedResults } from '../run/recorded-results.js'
import type { OpenAttempt, RunState } from '../run/run-state.js'
import { seedOf } from '../run/unit.js'
import { type Confirmation, confirmationOf } from '../run/waits.js'
import { checkCallsMade, divergedCall } from './body-calls.js'
import type { EarlyCallRun } from './inline-run.js'

/** The state of a run whose attempts and overlays are live. */
export type LiveState = RunState<Attempt, Overlay>

/** What an attempt hands to its pump. */
export interface AttemptPort {
  /** A call without a recorded result: the pump decides what becomes of it. */
  called(attempt: Attempt, call: Call): void
  settled(attempt: Attempt, outcome: Outcome): void
  log(attempt: Attempt, message: string, data: () => Json): void
  /** Work that is no call has come back. */
  returned(attempt: Attempt): void
  /** The code wants to run again, on the state as it is then. */
  again(attempt: Attempt): void
  /** The run is to stop where its journal ends. */
  halted(cause: TallyError): void
}

export interface AttemptOptions {
  readonly runId: RunId
  readonly ask: AttemptCommand
  readonly block: Block
  /** Frozen time, milliseconds. */
  readonly at: number
  /** Base of its random seed. */
  readonly base: Hash | 'GENESIS'
  readonly unitId: UnitId
  /** State below the attempt: the ledger's, or an atomic composite's overlay. */
  readonly below: (key: string) => string | undefined
  /** Canonical JSON of a payload. */
  readonly textOf: (payload: Json) => string
  /** Of the run's definition. */
  readonly literals?: (() => Literals) | undefined
  /** What earlier attempts of the same step have left behind. */
  readonly earlier: Past | undefined
  /** For leaves of the kernel: who started the run, and the state as it is now. */
  readonly principal: Json
  readonly current: (key: string) => string | undefined
  /** Hash of a body as it was sealed, from its canonical text. */
  readonly seal: (seq: number, bodyText: string) => Hash
  /** Its first execution, when it has begun already. */
  readonly early?: EarlyCallRun | undefined
}

/**
 * One attempt of a leaf: its execution, and the recorded results of what was sealed for it.
 *
 * Owns: the recorded results, the calls, the view of state. Does not own: the journal and the
 * decisions of the pump. While these last it answers the code from them, in order, and reports
 * nothing.
 */
export class Attempt implements OpenAttempt {
  readonly ask: AttemptCommand
  readonly at: number
  readonly block: Block
  readonly unitId: UnitId
  #seed: { readonly base: Hash | 'GENESIS'; readonly value: Hash } | undefined
  past: Past
  #waits: Map<number, WaitBegun> | undefined
  #calls: Map<number, FunctionCall> | undefined
  /** Answers to the code of a workflow function, which gets them one by one. */
  readonly #due: Sealed[] = []
  readonly #options: AttemptOptions
  /** Recorded listings to be asked for again, because keys may have changed. */
  #stale: Set<number> | undefined
  /** Open calls that the pump has been given while recorded results remain. */
  #called: WeakSet<Call> | undefined
  /** Recorded results that this execution has been given. */
  #given = 0
  #execution: CallRun | undefined
  #view: StateView
  /** Made when the code asks for the signal: most code never does. */
  #aborts: AbortController | undefined
  #isAbandoned = false
  #payloadText: string | undefined
  #isReplaying = false
  reruns = 0

  constructor(options: AttemptOptions) {
    this.#options = options
    this.ask = options.ask
    this.at = options.at
    this.block = options.block
    this.unitId = options.unitId
    // Only its children's own entries have what the code of a function was given.
    const keepsAll = options.block.body !== undefined
    this.past = new Past(options.ask, { earlier: options.earlier, keepsAll })
    this.#view = new StateView(options.below)
  }

  get seed(): { readonly base: Hash | 'GENESIS'; readonly value: Hash } {
    const { base } = this.#options
    this.#seed ??= { base, value: seedOf(base, this.unitId) }
    return this.#seed
  }

  /** Its open waits by the number of their call. */
  get waits(): Map<number, WaitBegun> {
    this.#waits ??= new Map()
    return this.#waits
  }

  /** Of a workflow function: what its code has asked for, by the number of the call. */
  get called(): Map<number, FunctionCall> {
    this.#calls ??= new Map()
    return this.#calls
  }

  /** Of a workflow function: it waits for nothing but its children. */
  get awaitsChildren(): boolean {
    if (this.block.body === undefined || this.outstandingCount() === 0) return false
    return [...this.outstanding()].every(({ kind }) => kind === 'child')
  }

  /** What was sealed for this attempt, in delivery order. */
  get recorded(): RecordedResults {
    return this.past.recorded
  }

  /** Whether the code, run again, is given answers that the journal has to give back. */
  get needsJournal(): boolean {
    return this.past.answers > 0 && this.recorded.lost > 0
  }

  get view(): StateView {
    return this.#view
  }

  get signal(): AbortSignal {
    if (this.#aborts === undefined) {
      this.#aborts = new AbortController()
      if (this.#isAbandoned) this.#aborts.abort()
    }
    return this.#aborts.signal
  }

  /** Canonical JSON of what the code was given, whatever the code does to its copy. */
  payloadText(): string {
    this.#payloadText ??= this.#options.textOf(this.ask.request.payload)
    return this.#payloadText
  }

  get runId(): RunId {
    return this.#options.runId
  }

  get isStarted(): boolean {
    return this.#execution !== undefined
  }

  /** Whether the code is still owed recorded results: nothing live is delivered meanwhile. */
  get isReplaying(): boolean {
    return this.#isReplaying
  }

  /** Whether the code has ended, and its end is yet to be taken. */
  get hasEnded(): boolean {
    return !this.#isAbandoned && this.#execution?.isOver === true
  }

  /** What the receipt says of an attempt of the kernel. */
  get attribution(): Attribution | undefined {
    return this.#execution?.attribution
  }

  /** Whether the code waits for work that is no call. */
  get isElsewhere(): boolean {
    return this.#execution?.isElsewhere ?? false
  }

  get capabilitiesUsed(): readonly string[] {
    const used = this.#execution?.used
    return used === undefined || used.size === 0 ? noCapabilities : [...used].sort()
  }

  outstanding(): IterableIterator<Call> {
    return (this.#execution?.outstanding ?? new Map<number, Call>()).values()
  }

  /** The outstanding effect with a number. */
  effectAt(seq: number | null): EffectRequest | undefined {
    const call = this.callAt(seq)
    return call?.kind === 'effect' ? call : undefined
  }

  /** The outstanding call for a signal with a number. */
  signalAt(seq: number | null): SignalRequest | undefined {
    const call = this.callAt(seq)
    return call?.kind === 'signal' ? call : undefined
  }

  outstandingCount(): number {
    return this.#execution?.outstanding.size ?? 0
  }

  /** Runs the code from its first line, on the state as it is now. */
  start(port: AttemptPort): void {
    assert(
      this.#execution === undefined || this.#execution.isOver,
      'an attempt runs once at a time'
    )
    const { early } = this.#options
    if (early?.isHandedOver === false) return this.#adopt(early, port)
    this.#view = new StateView(this.#options.below)
    // A wait of an earlier life may be answered before the code has come to it again.
    this.#isReplaying = (this.#waits?.size ?? 0) > 0 || this.past.hasAnswered
    this.#given = 0
    this.#execution = new CallRun(this.#input(), this.#executionPort(port))
    this.#execution.start()
  }

  #input(): CallRunInput {
    const { ask, block } = this
    return {
      runId: this.#options.runId,
      unitId: this.unitId,
      path: ask.path as ActorPath,
      attempt: ask.attempt,
      at: this.at,
      block: ask.options.deferred === true ? putOff(block) : block,
      payload: this.#copy(),
      request: ask.request,
      view: this.#view,
      lazy: this,
      // Spread last: spread first, V8 gives each object a hidden class of its own.
      ...(block.kernel === undefined ? undefined : { kernel: this.#intentInput() })
    }
  }

  /** Continues an execution that began before the run had a pump. */
  #adopt(early: EarlyCallRun, port: AttemptPort): void {
    this.#view = early.view
    this.#aborts = early.aborts
    this.#execution = early.execution
    early.handOver(this.#executionPort(port), this)
  }

  #executionPort(port: AttemptPort): CallRunPort {
    return {
      marksLines: this.#isReplaying,
      called: (call) => {
        const recorded = this.past.answers > 0 ? this.recorded.find(call.seq) : undefined
        // A call in the place of another is made when the results from there on are dropped.
        const isSame = recorded?.requestHash === call.requestHash
        const isListedAgain = isSame && this.#stale?.has(call.seq) === true
        if (recorded !== undefined && !isListedAgain) return
        if (this.#isReplaying) {
          this.#called ??= new WeakSet()
          this.#called.add(call)
        }
        port.called(this, call)
      },
      settled: (outcome) => port.settled(this, outcome),
      log: (message, data) => port.log(this, message, data),
      returned: () => port.returned(this),
      again: () => port.again(this),
      halted: (cause) => port.halted(cause)
    }
  }

  /** Code that changes what it was given changes neither the receipt nor the next step. */
  #copy(): Json {
    const { literals } = this.#options
    if (this.block.sharesInput !== true || literals === undefined) {
      return JSON.parse(this.payloadText()) as Json
    }
    return literals().copyOf(this.ask.request.payload)
  }

  #intentInput(): IntentInput {
    const { principal, current } = this.#options
    const inputText = this.payloadText()
    return { principal, inputText, provider: this.ask.provider, recorded: undefined, current }
  }

  /**
   * Answers the code from its recorded results, letting it run in between (formats.md §3);
   * `recall` gives the bodies that only the journal has. Stops early at a listing that was asked
   * for again. Returns the seqs of results that the code, which reads another state now, does not
   * ask for (L10); throws `run.diverged` when it read none.
   */
  async replayAll(recall: (answer: RecordedResult) => Promise<Json>): Promise<readonly number[]> {
    do {
      for (; this.#given < this.recorded.length; this.#given += 1) {
        const answer = this.recorded.at(this.#given)
        if (answer === undefined || answer.seq === 0) continue
        await this.#turn()
        // Children may end behind the code of a workflow function, which has called them.
        const isMade = answer.seq <= (this.#execution?.calls ?? 0)
        if (this.block.body !== undefined && this.hasEnded && isMade) continue
        if (this.#execution?.isOver === true || !this.#asksFor(answer)) return this.#left(answer)
        if (this.#stale?.has(answer.seq) === true) return []
        const { body = await recall(answer) } = answer
        this.#answer({ ...answer, body })
      }
      await this.#turn()
      // What was sealed in that turn came too late for the loop.
    } while (this.#given < this.recorded.length)
    this.#isReplaying = false
    if (this.#calls !== undefined) checkCallsMade(this, this.#calls, this.#execution?.calls)
    // The time of such a wait would end a call that the code makes elsewhere.
    return this.hasReadState && !this.hasEnded ? this.#unasked() : []
  }

  /** Lets the code run as far as it gets without an answer. */
  async #turn(): Promise<void> {
    await nextTurn()
    if (this.isElsewhere) await this.#execution?.settledElsewhere()
  }

  #left(entry: RecordedResult): readonly number[] {
    if (!this.hasReadState) this.#diverged(entry)
    return [...this.recorded.seqsFrom(this.#given), ...this.#unasked()]
  }

  /**
   * Numbers of calls with open waits that the code does not make: a call in the place of a wait
   * ends it when it is answered.
   */
  #unasked(): readonly number[] {
    const isUnasked = (seq: number) => seq > 0 && this.callAt(seq) === undefined
    return [...this.waits.keys()].filter(isUnasked)
  }

  /** Whether the code, on the state as it is now, has gone on without the answer to a wait. */
  isPast(wait: WaitBegun): boolean {
    if (wait.seq === null || wait.seq === 0 || wait.reason === 'decision') return false
    return this.isStarted && !this.#isReplaying && !this.#asksFor(wait)
  }

  /** Whether another call stands in the place of a wait, so that no answer to it is taken. */
  isReplaced(wait: WaitBegun): boolean {
    return this.isPast(wait) && this.callAt(wait.seq) !== undefined
  }

  /** Whether the code that has opened a wait still asks. */
  awaits(wait: WaitBegun): boolean {
    return !this.hasEnded && !this.isPast(wait)
  }

  /** What it waits for when it has nothing but waits left. */
  firstWait(): WaitBegun | undefined {
    if (!this.isStarted) return this.waits.get(0)
    let first: WaitBegun | undefined
    for (const call of this.outstanding()) {
      if (call.kind === 'child') continue
      const wait = this.waits.get(call.seq)
      if (wait === undefined) return undefined
      first ??= wait
    }
    return first
  }

  /** Whether another state could have led the code elsewhere. */
  get hasReadState(): boolean {
    return this.#view.reads.size > 0 || this.#view.lists.size > 0
  }

  /** Calls of the code that stand where recorded results were dropped. */
  dropped(seqs: readonly number[]): readonly Call[] {
    for (const seq of seqs) this.#stale?.delete(seq)
    this.#isReplaying = false
    const inPlace = [...this.outstanding()].filter(({ seq }) => seqs.includes(seq))
    return inPlace.filter((call) => this.#called?.has(call) !== true)
  }

  /** Hands a recorded result to the code; before the code runs, it stays recorded. */
  release(entry: Sealed): void {
    this.#stale?.delete(entry.seq)
    if (this.#isReplaying || entry.seq === 0 || !this.isStarted) return
    if (this.block.body !== undefined) {
      this.#due.push(entry)
      return
    }
    this.#given = this.recorded.length
    this.#answer(entry)
  }

  /** Whether the code of a workflow function has answers to come. */
  get isOwed(): boolean {
    return this.#due.length > 0
  }

  /** Gives the code of a workflow function its next answer; false when there is none. */
  giveNext(): boolean {
    const next = this.#due.shift()
    // Code that has ended, or has been cancelled, hears no more.
    if (next === undefined || this.#execution?.isOver !== false) return false
    this.#answer(next)
    return true
  }

  /** The call with a number that the code waits for. */
  callAt(seq: number | null): Call | undefined {
    return this.#execution?.outstanding.get(seq ?? 0)
  }

  #asksFor({ seq, requestHash }: Pick<WaitBegun, 'seq' | 'requestHash'>): boolean {
    return this.callAt(seq)?.requestHash === requestHash
  }

  #answer(answer: RecordedResult & { readonly body: Json }): void {
    if (!this.#asksFor(answer)) this.#diverged(answer)
    // A copy: what the code does to it must not change what is recorded.
    const body = copyJson(answer.body)
    this.callAt(answer.seq)?.answer(answer.ok, body, answer.at)
  }

  #diverged(entry: RecordedResult): never {
    const recorded = this.#calls?.get(entry.seq)
    if (recorded !== undefined) throw divergedCall(this, entry.seq, recorded)
    throw blockError('run.diverged', {
      runId: this.#options.runId,
      path: this.ask.path,
      step: this.ask.step,
      seq: entry.seq,
      effect: entry.effect,
      signed: entry.requestHash,
      computed: this.callAt(entry.seq)?.requestHash ?? 'no call'
    })
  }

  /** Stops listening to the code and aborts its effects. */
  abandon(): void {
    this.#execution?.abandon()
    this.#isAbandoned = true
    this.#aborts?.abort()
  }

  /** Lets go of the code only: its sealed results stay, and `start` runs it again (L10). */
  rewind(): void {
    this.#execution?.abandon()
    this.reruns += 1
    this.listAgain()
  }

  /** Has the code ask again for the keys that it read: others may have changed them. */
  listAgain(): void {
    if (this.past.answers === 0) return
    for (const { effect, seq } of this.recorded.whole()) {
      if (effect !== builtInEffects.list) continue
      this.#stale ??= new Set()
      this.#stale.add(seq)
    }
  }

  sealedReferences(): readonly SealedReference[] {
    return this.past.answers === 0 ? noReferences : this.recorded.references(this.#options.seal)
  }

  /** The wait that the node itself asks for before the attempt: call number 0. */
  confirmation(): Confirmation | undefined {
    return confirmationOf(this.ask, this.block)
  }
}

const noCapabilities: readonly string[] = []
const noReferences: readonly SealedReference[] = []
