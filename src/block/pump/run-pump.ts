import { runEffects } from '../../code/index.js'
import { assert, type KnownTexts, limits, nextTurn, type RunId } from '../../core/index.js'
import type { DecisionCommand, TimerCommand } from '../chart/protocol.js'
import { JournalRecovery } from '../recovery/recovery.js'
import { apply, takeCommand } from '../run/apply.js'
import { checkpointOf, type RunCheckpoint } from '../run/checkpoint.js'
import { decide, type Given, type RunFact } from '../run/decide.js'
import { parkedDraft, resumedDraft, waitingDraft } from '../run/drafts.js'
import { runEnd } from '../run/ends.js'
import type { JournalEntry, OpenWait, RunStarted, WaitBegun } from '../run/entries.js'
import { eventOf } from '../run/events.js'
import type { Overlay } from '../run/overlay.js'
import type { RootBlock } from '../run/root-block.js'
import { type Driver, RunState } from '../run/run-state.js'
import { begun, unitContextOf } from '../run/unit.js'
import { decisionWait } from '../run/wait-drafts.js'
import type { Attempt, LiveState } from './attempt.js'
import { Commits, type CommitsPort } from './commits.js'
import { DeclaredOrder } from './declared-order.js'
import { isFarAhead, type PumpHost, type RunEnd, runsAhead } from './host.js'
import { Inbox, type PumpEvent, told } from './inbox.js'
import type { EarlyCallRun } from './inline-run.js'
import { givenOf, JournalWriter } from './journal-writer.js'
import { Leaves } from './leaves.js'
import { liveDriver } from './live-driver.js'
import { Mail } from './mail.js'
import type { RunMoments } from './observer.js'
import { OpenCalls } from './open-calls.js'
import { RunActors } from './run-actors.js'

export interface RunPumpOptions {
  readonly runId: RunId
  readonly host: PumpHost
  readonly root: RootBlock
  readonly checkpoint?: RunCheckpoint | undefined
  /** Of a single-step run: its first execution, when it has begun already. */
  readonly early?: EarlyCallRun | undefined
  /** Sees where its charts stand; undefined: nothing does. */
  readonly moments?: RunMoments | undefined
}

/**
 * The pump of one run: the only code between its charts and the outside that awaits (D1).
 *
 * Owns: the live actors, the inbox of facts, the order in which they become journal entries. Does
 * not own: the journal (a port), or what facts and entries mean, which `run/` decides (D10).
 *
 * - D2: nothing is emitted, and no write is sent, before what led to it is durable.
 * - D3: facts become entries one at a time, and each entry is applied at once, so the journal's
 *   order is the delivery order.
 * - D6: live and recovering pumps apply the same entries in the same way.
 * - D9: the inbox holds one fact at most for each outstanding call; the pump yields after a slice.
 */
export class RunPump implements CommitsPort {
  readonly host: PumpHost
  readonly state: LiveState
  readonly writer: JournalWriter
  readonly leaves: Leaves
  /** What rebuilds the run before it continues. */
  readonly recovery: JournalRecovery
  /** Facts to come, and what people outside ask. */
  readonly inbox: Inbox
  readonly given: Given
  readonly #calls: OpenCalls
  readonly #mail: Mail
  readonly #actors: RunActors
  readonly #driver: Driver<Attempt, Overlay>
  readonly #commits: Commits
  readonly #order = new DeclaredOrder()
  /** False while recorded entries are applied: nothing is decided, sent or told then. */
  #isLive = false
  /** The end of a run that is one unit of work: its receipt came with it. */
  #ended: RunEnd | undefined

  constructor({ runId, host, root, checkpoint, early, moments }: RunPumpOptions) {
    this.host = host
    this.inbox = new Inbox(host.clock, () => this.writer.now())
    this.state = new RunState({ runId, root, identity: host.identity })
    this.writer = new JournalWriter(this.state, host, (entry) => this.#take(entry), moments)
    this.given = givenOf(this.writer, host)
    this.#calls = new OpenCalls(this)
    this.leaves = new Leaves(this, this.#calls, early)
    this.#commits = new Commits(this)
    this.#mail = new Mail(this, this.#calls, (fact) => this.#act(fact))
    const fail = (error: unknown) => this.inbox.fail(error)
    this.#actors = new RunActors({ root, checkpoint, host, moments, fail })
    this.#driver = liveDriver(this, {
      leaves: this.leaves,
      order: this.#order,
      actors: this.#actors,
      release: () => this.#commits.release(),
      waits: (wait) => {
        if (this.#isLive) this.#watch(wait)
      }
    })
    this.recovery = new JournalRecovery(this, {
      saved: checkpoint,
      apply: (entry) => apply(this.state, entry, this.#driver),
      start: () => this.#actors.start(),
      takeAsks: () => this.takeAsks()
    })
  }

  /** How the run began. */
  get started(): RunStarted {
    return begun(this.state.started)
  }

  /** What a message can end now. */
  openWaits(): readonly OpenWait[] {
    const { attempts } = this.state
    return this.state.shownWaits((wait) => attempts.get(wait.path)?.isReplaced(wait) === true)
  }

  /** Lets what was sent finish, starts nothing new, and ends with `stopped`. */
  stop(): void {
    this.inbox.stop()
  }

  /** Runs from a fresh start. Rejects with `ledger.poisoned` or `run.diverged`. */
  async start(first: Omit<RunStarted, 'run' | 'n'>): Promise<RunEnd> {
    return this.#drive(() => {
      this.#actors.start()
      this.#isLive = true
      const { root } = this.state
      const known: KnownTexts = {
        get: (value) => {
          if (value === first.definition) return root.definitionText()
          return value === first.input ? this.leaves.textOf(first.input) : undefined
        }
      }
      // A run that is one unit of work begins and ends in one commit, when nothing comes between.
      if (root.isUnit) this.writer.hold(first, { known })
      else this.writer.record(first, { known })
    })
  }

  /** Continues after what was recovered. */
  async resume(): Promise<RunEnd> {
    return this.#drive(async () => {
      this.recovery.finish()
      this.#isLive = true
      // One that waits for its turn continues when it has it.
      if (!this.inbox.isHeld) this.writer.record(resumedDraft(this.state, this.writer.now()))
      for (const overlay of this.state.openOverlays.values()) await this.#repeatLists(overlay)
    })
  }

  async #repeatLists(overlay: Overlay): Promise<void> {
    const list = async (prefix: string) => [prefix, await this.host.journal.list(prefix)] as const
    overlay.repeatLists(new Map(await Promise.all(overlay.earlierPrefixes.map(list))))
  }

  async #drive(begin: () => Promise<void> | void): Promise<RunEnd> {
    try {
      const beginning = begin()
      if (beginning !== undefined) await beginning
      return await this.#loop()
    } catch (error) {
      this.inbox.fail(error)
      throw error
    } finally {
      this.#dispose()
    }
  }

  async #loop(): Promise<RunEnd> {
    this.takeAsks()
    await this.#goOn()
    for (;;) {
      this.inbox.beginLook()
      this.takeAsks()
      if (this.inbox.failure !== undefined) throw this.inbox.failure.error
      const given = this.leaves.giveBody()
      if (given !== undefined && (await given)) continue
      const ended = this.#commits.endScopes()
      if (ended === true || (ended !== false && (await ended))) continue
      if (this.state.settled !== undefined) return this.#finish()
      const starting = this.leaves.startAll()
      if (starting !== undefined) await starting
      const delivering = this.#mail.deliver()
      if (delivering !== undefined) {
        await delivering
        continue
      }
      const quiet = this.inbox.beforeAnswers()
      if (quiet !== undefined) await quiet
      const fact = this.#order.take(this.inbox)
      if (fact === undefined) {
        const end = await this.#rest()
        if (end !== undefined) return end
        continue
      }
      const turn = this.host.turns.yield()
      if (turn !== undefined) await turn
      if (isFarAhead(this.host.journal)) await this.writer.durable()
      if (fact.kind === 'outcome' && this.#calls.isCutOff(fact.attempt)) continue
      // Awaited only when there is something to await: a pure step takes no promise.
      const answering =
        fact.kind === 'outcome'
          ? this.#commits.settle(fact.attempt, fact.outcome)
          : this.#answer(fact)
      if (answering !== undefined) await answering
    }
  }

  /** Watches and asks for what the run was waiting for before it continued. */
  async #goOn(): Promise<void> {
    const { timers, waits, decisions } = this.state
    await this.leaves.startAll()
    for (const timer of timers.values()) this.#arm(timer)
    for (const wait of waits.all()) this.#watch(wait)
    // What effects that are under way give comes before what fell due meanwhile.
    if (!this.leaves.isBusyOutside) this.inbox.postDue()
    for (const ask of decisions.values()) this.#askDecision(ask)
  }

  #askDecision(ask: DecisionCommand): void {
    const wait = decisionWait(this.state, ask, this.writer.now())
    if (wait !== undefined) this.writer.record(wait.draft, wait.more)
  }

  /** The root block has ended. Resolves when that is durable (D2). */
  async #finish(): Promise<RunEnd> {
    const { state, host, writer } = this
    const { settled } = state
    assert(settled !== undefined, 'a run ends with its root block')
    if (settled.success) this.#actors.handIn()
    if (this.#ended === undefined) {
      const context = unitContextOf(state, host.profile)
      const { draft, more } = runEnd(state, { settled, at: writer.now(), context })
      writer.record(draft, more)
      const { status, response } = draft
      this.#ended = { kind: 'finished', status, response, receiptHash: state.receiptHash }
    }
    await writer.durable()
    return this.#ended
  }

  /** Nothing to do now: waits for a fact, or finds that the run cannot continue by itself. */
  async #rest(): Promise<RunEnd | undefined> {
    if (this.inbox.isIdle || (this.inbox.isHeld && this.inbox.isStopping)) return this.#held()
    if (this.inbox.isGraceOver) return this.#stopped()
    if (!this.leaves.isBusyOutside) {
      if (await this.#stirs()) return undefined
      const isUnfinished = this.state.awaitsNothing || this.#calls.areCutOff
      const mayWait = !(this.inbox.isStopping && isUnfinished)
      if (mayWait && this.#markWaiting()) return undefined
      if (mayWait && this.state.mayPark(this.host.clock.now())) return this.#park()
      if (this.inbox.isStopping) return this.#stopped()
    }
    this.writer.handIn()
    await this.inbox.stirred()
    return undefined
  }

  /** Whether code that is running in this turn has something to say. */
  async #stirs(): Promise<boolean> {
    for (let tick = 0; tick < limits.PUMP_PATIENCE_TICKS; tick += 1) {
      await undefined
      if (!this.inbox.isEmpty) return true
    }
    await nextTurn()
    return this.leaves.isBusyOutside || this.#actors.hasAsks || this.inbox.isStirred
  }

  /**
   * Tells each leaf that has nothing but waits left that it is WAITING (B2); true when there was
   * one.
   */
  #markWaiting(): boolean {
    let marked = false
    for (const attempt of this.state.attempts.awake()) {
      const wait = attempt.firstWait()
      if (wait === undefined) continue
      this.writer.gather(waitingDraft(attempt, wait, this.writer.now()))
      marked = true
    }
    return marked
  }

  #held(): RunEnd {
    this.writer.handInHeld()
    this.writer.handIn()
    return { kind: 'held' }
  }

  #stopped(): RunEnd {
    // What is left for the owner to resume is in the journal.
    if (this.inbox.halted !== undefined) this.writer.handInHeld()
    this.writer.handIn()
    return { kind: 'stopped', checkpoint: this.#checkpoint(), cause: this.inbox.halted }
  }

  #park(): RunEnd {
    const draft = parkedDraft(this.state, this.writer.now())
    this.writer.record(draft)
    const { waits, due } = draft
    return { kind: 'parked', waits, due, checkpoint: this.#checkpoint() }
  }

  #checkpoint(): RunCheckpoint | undefined {
    return checkpointOf(this.state, () => this.#actors.snapshot())
  }

  takeAsks(): void {
    this.#actors.takeAsks((ask) => {
      takeCommand(this.state, ask, this.#driver)
      if (!this.#isLive) return
      if (ask.kind === 'decision') this.#askDecision(ask)
      if (ask.kind === 'timer') this.#arm(ask)
    })
  }

  #take(entry: JournalEntry): void {
    const event = eventOf(this.state, entry)
    if (event !== undefined) this.writer.emit(event)
    apply(this.state, entry, this.#driver)
  }

  end(end: RunEnd): void {
    this.#ended = end
  }

  #dispose(): void {
    for (const attempt of this.state.attempts.values()) this.leaves.close(attempt)
    this.#commits.release()
    this.inbox.close()
  }

  #arm({ path, due, step }: TimerCommand): void {
    this.inbox.arm(path, due, { kind: 'timer', path, step })
  }

  /** Has a wait end at its due time. */
  #watch({ due, token }: WaitBegun): void {
    if (due !== null) this.inbox.arm(token, due, { kind: 'due', token })
  }

  /** Takes a fact that is not the end of an attempt's code: records what it leads to. */
  async #answer(fact: Exclude<PumpEvent, { readonly kind: 'outcome' }>): Promise<void> {
    switch (fact.kind) {
      case 'admitted':
        return this.#calls.admitted(fact)
      case 'stale': {
        const { attempt, reruns } = fact
        const isSame = this.state.attempts.get(attempt.ask.path) === attempt
        if (isSame && attempt.reruns === reruns) await this.#commits.runAgain(attempt)
        return
      }
      case 'cancel':
        return told(fact, async () => {
          await this.#act(fact)
          await this.writer.durable()
          return true
        })
      case 'message':
        return told(fact, () => this.#mail.message(fact.message))
      case 'question':
        return told(fact, () => this.#mail.question(fact.message))
      case 'signal':
        return told(fact, () => this.#mail.signal(fact.signal))
      case 'due': {
        const wait = this.state.waits.get(fact.token)
        const attempt = wait && this.state.attempts.get(wait.path)
        // Code that has ended, or asks for something else, does not wait any more.
        const isOver = wait !== undefined && wait.seq !== null && attempt?.awaits(wait) === false
        return isOver ? undefined : this.#act(fact)
      }
      default:
        return this.#act(fact)
    }
  }

  /** Records the entries of a fact; code that is given a result runs before anything else does. */
  async #act(fact: RunFact): Promise<void> {
    for (const draft of decide(this.state, fact, this.given)) {
      if (draft.k === 'sealed' && this.#mayComeAgain(fact)) this.writer.gather(draft)
      else this.writer.record(draft)
      const attempt = draft.k === 'sealed' ? this.state.attemptAt(draft) : undefined
      if (attempt !== undefined) await this.#quiet(attempt)
    }
  }

  /** Whether a crash may undo an answer: time passes again, and a read is performed again (D2). */
  #mayComeAgain(fact: RunFact): boolean {
    if (fact.kind === 'due') return true
    // What code publishes is answered once the ledger has it.
    if (fact.kind !== 'performed' || runEffects.has(fact.call.effect)) return false
    return runsAhead(fact.call, this.host)
  }

  /** Lets code that was just answered run, when another answer could otherwise overtake it (D3). */
  async #quiet(attempt: Attempt): Promise<void> {
    if (!attempt.isStarted) await this.leaves.start(attempt)
    if (attempt.isReplaying) await this.leaves.replay(attempt)
    else if (attempt.outstandingCount() > 0) await nextTurn()
  }
}
