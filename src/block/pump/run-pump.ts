import { assert, type KnownTexts, limits, nextTurn, type RunId } from '../../core/index.js'
import type { DecisionCommand } from '../chart/protocol.js'
import { JournalRecovery } from '../recovery/recovery.js'
import { apply, takeCommand } from '../run/apply.js'
import { checkpointOf, type RunCheckpoint } from '../run/checkpoint.js'
import { type Completed, decisionWait, parkedDraft } from '../run/decide.js'
import { runEnd } from '../run/ending.js'
import type { EntryDraft, JournalEntry, OpenWait, RunStarted } from '../run/entries.js'
import type { Overlay } from '../run/overlay.js'
import type { RootBlock } from '../run/root-block.js'
import { RunState } from '../run/run-state.js'
import { begun, unitContextOf } from '../run/unit.js'
import { Alarms } from './alarms.js'
import { Answering } from './answering.js'
import { Commits, type CommitsPort } from './commits.js'
import { DeclaredOrder } from './declared-order.js'
import { LiveDriver } from './driver.js'
import type { EarlyCallRun } from './early.js'
import { EventOutbox } from './event-outbox.js'
import type { PumpHost, RunEnd, RunEvent } from './host.js'
import { Inbox } from './inbox.js'
import { JournalWriter } from './journal-writer.js'
import { Leaves } from './leaves.js'
import type { LiveState } from './parts.js'
import { RunActors } from './run-actors.js'
import { isFarAhead } from './turns.js'

export interface RunPumpOptions {
  readonly runId: RunId
  readonly host: PumpHost
  readonly root: RootBlock
  readonly checkpoint?: RunCheckpoint | undefined
  /** Of a single-step run: its first execution, when it has begun already. */
  readonly early?: EarlyCallRun | undefined
}

/**
 * The pump of one run: the only code between its charts and the outside that awaits (D1).
 *
 * Owns: the live actors, the inbox of facts, the order in which they become journal entries. Does
 * not own: the journal (a port), or what facts and entries mean, which `run/` decides (D10).
 *
 * Invariants: D2 nothing is emitted or sent before it is durable. D3 facts become entries one at a
 * time, and each entry is applied at once, so the journal's order is the delivery order. D6 live
 * and recovering pumps apply the same entries in the same way. D9 the inbox holds at most one fact
 * for each outstanding call, and the pump yields after a slice.
 */
export class RunPump implements CommitsPort {
  readonly host: PumpHost
  readonly state: LiveState
  readonly writer: JournalWriter
  readonly leaves: Leaves
  /** What rebuilds the run before it continues. */
  readonly recovery: JournalRecovery
  /** Facts to come, and what people outside ask. */
  readonly inbox = new Inbox()
  readonly #actors: RunActors
  readonly #alarms: Alarms
  readonly #commits: Commits
  readonly #order = new DeclaredOrder()
  readonly #driver: LiveDriver
  readonly #outbox: EventOutbox
  readonly #answering: Answering
  /** The end of a run that is one unit of work: its receipt came with it. */
  #ended: RunEnd | undefined
  #isStopping = false
  /**
   * Whether effects that were sent have had their time to answer: the journal has their requests.
   */
  #isGraceOver = false
  #callOffGrace: (() => void) | undefined

  constructor({ runId, host, root, checkpoint, early }: RunPumpOptions) {
    this.host = host
    this.state = new RunState({ runId, root, identity: host.identity })
    this.writer = new JournalWriter(this.state, host)
    this.#outbox = new EventOutbox(this.state, this.writer, host)
    this.#alarms = new Alarms(host.clock, (fact) => this.inbox.post(fact))
    this.leaves = new Leaves(this, this.#alarms, early)
    this.#commits = new Commits(this)
    this.#answering = new Answering(this, this.#commits)
    this.#actors = new RunActors({
      root,
      checkpoint,
      pool: host.actors,
      fail: (error) => this.inbox.fail(error)
    })
    this.#driver = new LiveDriver({
      pump: this,
      actors: this.#actors,
      alarms: this.#alarms,
      commits: this.#commits,
      order: this.#order
    })
    this.recovery = new JournalRecovery(this, {
      driver: this.#driver,
      saved: checkpoint,
      start: () => this.#actors.start(),
      takeAsks: () => this.#takeAsks()
    })
  }

  /** How the run began. */
  get started(): RunStarted {
    return begun(this.state.started)
  }

  get isStopping(): boolean {
    return this.#isStopping
  }

  /** What a message can end now. */
  openWaits(): readonly OpenWait[] {
    return this.state.shownWaits()
  }

  /** Lets what was sent finish, starts nothing new, and ends with `stopped`. */
  stop(): void {
    if (this.#isStopping) return
    this.#isStopping = true
    const { clock } = this.host
    this.#callOffGrace = clock.schedule(clock.now() + limits.CLOSE_GRACE_MS, () => {
      this.#isGraceOver = true
      this.inbox.wake()
    })
    this.inbox.wake()
  }

  /** Runs from a fresh start. Rejects with `ledger.poisoned` or `run.diverged`. */
  async start(first: Omit<RunStarted, 'run' | 'n'>): Promise<RunEnd> {
    return this.#drive(() => {
      this.#actors.start()
      this.#driver.isLive = true
      const { root } = this.state
      const known: KnownTexts = {
        get: (value) => {
          if (value === first.definition) return root.definitionText()
          return value === first.input ? this.leaves.textOf(first.input) : undefined
        }
      }
      // A run that is one unit of work begins and ends in one commit, when nothing comes between.
      if (root.isUnit) this.#took(this.writer.hold(first, { known }))
      else this.record(first, { known })
    })
  }

  /** Continues after what was recovered. */
  async resume(): Promise<RunEnd> {
    return this.#drive(async () => {
      this.recovery.finish()
      this.#driver.isLive = true
      const at = this.writer.now()
      this.record({ k: 'run.resumed', at, status: 'running', waits: [], due: null })
      for (const overlay of this.state.openOverlays.values()) await this.#repeatLists(overlay)
    })
  }

  async #repeatLists(overlay: Overlay): Promise<void> {
    const below = new Map<string, readonly string[]>()
    for (const prefix of overlay.earlierPrefixes) {
      below.set(prefix, await this.host.journal.list(prefix))
    }
    overlay.repeatLists(below)
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
    this.#takeAsks()
    await this.#goOn()
    for (;;) {
      this.#takeAsks()
      if (this.inbox.failure !== undefined) throw this.inbox.failure.error
      const ended = this.#commits.endScopes()
      if (ended === true || (ended !== false && (await ended))) continue
      if (this.state.settled !== undefined) return this.#finish()
      const starting = this.leaves.startAll()
      if (starting !== undefined) await starting
      const fact = this.#order.take(this.inbox)
      if (fact === undefined) {
        const end = await this.#rest()
        if (end !== undefined) return end
        continue
      }
      const turn = this.host.turns.yield()
      if (turn !== undefined) await turn
      if (isFarAhead(this.host.journal)) await this.writer.durable()
      // Awaited only when there is something to await: a pure step takes no promise.
      const answering =
        fact.kind === 'outcome'
          ? this.#commits.settle(fact.attempt, fact.outcome)
          : this.#answering.answer(fact)
      if (answering !== undefined) await answering
    }
  }

  /** Watches and asks for what the run was waiting for before it continued. */
  async #goOn(): Promise<void> {
    const { timers, waits, decisions } = this.state
    await this.leaves.startAll()
    for (const { path, due, step } of timers.values()) {
      this.#alarms.arm(path, due, { kind: 'timer', path, step })
    }
    for (const wait of waits.all()) this.#driver.watch(wait)
    for (const ask of decisions.values()) this.#askDecision(ask)
  }

  #askDecision(ask: DecisionCommand): void {
    const wait = decisionWait(this.state, ask, this.writer.now())
    if (wait !== undefined) this.record(wait.draft, wait.more)
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
      this.record(draft, more)
      const { status, response } = draft
      this.#ended = { kind: 'finished', status, response, receiptHash: state.receiptHash }
    }
    await writer.durable()
    return this.#ended
  }

  /** Nothing to do now: waits for a fact, or finds that the run cannot continue by itself. */
  async #rest(): Promise<RunEnd | undefined> {
    if (this.#isGraceOver) return this.#stopped()
    if (!this.leaves.isBusyOutside) {
      if (await this.#stirs()) return undefined
      this.#outbox.handIn()
      const mayWait = !(this.#isStopping && this.state.awaitsNothing)
      if (mayWait && this.#markWaiting()) return undefined
      if (mayWait && this.#mayPark()) return this.#park()
      if (this.#isStopping) return this.#stopped()
    }
    this.#outbox.handIn()
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
    const isBusy = this.leaves.isBusyOutside || this.#actors.hasAsks
    return isBusy || !this.inbox.isEmpty || this.inbox.failure !== undefined
  }

  /**
   * Tells each leaf that has nothing but waits left that it is WAITING (B2); true when there was
   * one.
   */
  #markWaiting(): boolean {
    let marked = false
    for (const attempt of this.state.attempts.values()) {
      const { path, step, attempt: number } = attempt.ask
      const wait = this.state.waiting.has(path) ? undefined : attempt.firstWait()
      if (wait === undefined) continue
      const { token } = wait
      this.record({ k: 'waiting', at: this.writer.now(), path, step, attempt: number, token })
      marked = true
    }
    return marked
  }

  /** Whether only a message, or a time that is far enough, resumes the run. */
  #mayPark(): boolean {
    const { attempts, waiting, awaitsNothing, runId } = this.state
    let answers = 0
    for (const { ask, past } of attempts.values()) {
      if (!waiting.has(ask.path)) return false
      answers += past.answers
    }
    assert(!awaitsNothing, `run ${runId} has nothing to do and nothing to wait for`)
    const due = this.state.nextDue()
    // Resuming it again gives its code all of its answers: code that polls would spend its time
    // so.
    const worthMs = limits.PARK_AFTER_MS + answers * limits.PARK_AFTER_ANSWER_MS
    return due === null || due > this.host.clock.now() + worthMs
  }

  #stopped(): RunEnd {
    this.#outbox.handIn()
    return { kind: 'stopped', checkpoint: this.#checkpoint() }
  }

  #park(): RunEnd {
    const draft = parkedDraft(this.state, this.writer.now())
    this.record(draft)
    const { waits, due } = draft
    return { kind: 'parked', waits, due, checkpoint: this.#checkpoint() }
  }

  #checkpoint(): RunCheckpoint | undefined {
    return checkpointOf(this.state, () => this.#actors.snapshot())
  }

  #takeAsks(): void {
    this.#actors.takeAsks((ask) => {
      takeCommand(this.state, ask, this.#driver)
      if (!this.#driver.isLive) return
      if (ask.kind === 'decision') this.#askDecision(ask)
      if (ask.kind !== 'timer') return
      const { path, due, step } = ask
      this.#alarms.arm(path, due, { kind: 'timer', path, step })
    })
  }

  record(draft: EntryDraft, more?: Completed): boolean {
    const entry = this.writer.append(draft, more)
    if (entry !== undefined) this.#took(entry)
    return entry !== undefined
  }

  recordLast(...given: Parameters<JournalWriter['appendBoth']>): boolean {
    const written = this.writer.appendBoth(...given)
    for (const entry of written ?? []) this.#outbox.entry(entry)
    for (const entry of written ?? []) apply(this.state, entry, this.#driver)
    return written !== undefined
  }

  gather(...given: Parameters<JournalWriter['gather']>): void {
    this.#took(this.writer.gather(...given))
  }

  #took(entry: JournalEntry): void {
    this.#outbox.entry(entry)
    apply(this.state, entry, this.#driver)
  }

  emit(event: RunEvent): void {
    this.#outbox.emit(event)
  }

  end(end: RunEnd): void {
    this.#ended = end
  }

  #dispose(): void {
    this.#callOffGrace?.()
    this.#alarms.dispose()
    for (const attempt of this.state.attempts.values()) this.leaves.close(attempt)
    this.#commits.release()
    this.inbox.close()
  }
}
