import { assert, type KnownTexts, limits, nextTurn, type RunId } from '../../core/index.js'
import type { EvidenceDraft } from '../journal.js'
import type { Ask, Delivery, Response } from '../protocol.js'
import { Recovery } from '../recovery/recovery.js'
import { cancelEvent, goesOnCancelled, scopeNews } from '../run/cancelling.js'
import type {
  CancelAsked,
  EntryDraft,
  JournalEntry,
  OpenWait,
  RunStarted,
  ScopeEnded
} from '../run/entries.js'
import { isErrand } from '../run/overlay-tasks.js'
import { type RootBlock, rootCommand } from '../run/root-block.js'
import type { UnitContext } from '../run/unit.js'
import { beginWait, openWaitOf, type WaitTerms } from '../run/waits.js'
import { Agenda } from './agenda.js'
import { answer } from './answering.js'
import { applyEntry } from './apply.js'
import { openDecision, takeAsk } from './asks.js'
import type { Attempt } from './attempt.js'
import { type Completed, RunBook } from './book.js'
import { finishRun } from './ending.js'
import { Telling } from './event-outbox.js'
import type { Fact } from './fact.js'
import type { PumpHost, RunCheckpoint, RunEvent } from './host.js'
import { Inbox } from './inbox.js'
import { Leaves } from './leaves.js'
import { checkpointOf, isFarAhead, markWaiting, mayPark } from './resting.js'
import { RunActors } from './run-actors.js'
import type { RunDriver, RunPumpOptions } from './run-driver.js'
import type { RunEnd } from './run-end.js'
import { Scopes } from './scopes.js'
import { settleOutcome } from './settling.js'
import { Starts } from './starts.js'
import { reserveInScope } from './undoing.js'

/**
 * The pump of one run: the only code between its charts and the outside that awaits (D1).
 *
 * Owns: the live actors, the inbox of facts, the order in which they become journal entries. Does
 * not own: the journal (a port), attempts ({@link Leaves}), overlays ({@link Scopes}).
 *
 * Invariants: D2 nothing is emitted or sent before it is durable. D3 facts become entries one at a
 * time, and each entry is applied at once, so the journal's order is the delivery order. D6 live
 * and recovering pumps apply the same entries in the same way. D9 the inbox holds at most one fact
 * for each outstanding call, and the pump yields after a slice.
 */
export class RunPump implements RunDriver {
  readonly runId: RunId
  readonly host: PumpHost
  readonly root: RootBlock
  readonly book: RunBook
  readonly leaves: Leaves
  readonly scopes: Scopes
  readonly agenda: Agenda
  /** What rebuilds the run before it goes on. */
  readonly recovery: Recovery
  readonly #actors: RunActors
  readonly #starts: Starts
  readonly #telling: Telling
  /** Facts to come, and what people outside ask. */
  readonly inbox = new Inbox()
  #started: RunStarted | undefined
  #unitContext: UnitContext | undefined
  #settled: Response | undefined
  /** The end of a run that is one unit of work: its receipt came with it. */
  #ended: RunEnd | undefined
  #isLive = false
  #isStopping = false
  /**
   * Whether effects that were sent have had their time to answer: the journal has their requests.
   */
  #isGraceOver = false
  #callOffGrace: (() => void) | undefined
  #cancel: CancelAsked | undefined

  constructor({ runId, host, root, checkpoint, early }: RunPumpOptions) {
    this.runId = runId
    this.host = host
    this.root = root
    this.#cancel = checkpoint?.cancel
    this.book = new RunBook(runId, host, checkpoint)
    this.#telling = new Telling(this.book, host)
    const post = (fact: Fact) => this.inbox.post(fact)
    this.agenda = new Agenda({ clock: host.clock, post, waiting: checkpoint?.waiting ?? [] })
    this.leaves = new Leaves({
      host,
      book: this.book,
      runId,
      post,
      base: () => this.started.base,
      principal: () => this.started.principal,
      scopeOf: (path) => this.scopes.around(path),
      reserve: (scope) => reserveInScope(this.scopes, scope, host),
      emit: (event) => this.emit(event),
      openWait: (terms) => this.openWait(terms),
      record: (draft) => this.record(draft),
      arm: (key, due, fact) => this.agenda.arm(key, due, fact),
      disarm: (key) => this.agenda.disarm(key),
      fail: (error) => this.inbox.fail(error),
      isStopping: () => this.#isStopping,
      wake: () => this.inbox.wake(),
      early,
      ...(root.literals === undefined ? {} : { literals: root.literals })
    })
    this.scopes = new Scopes(this)
    this.recovery = new Recovery(this, {
      saved: checkpoint,
      start: (started) => {
        this.#started = started
        this.#actors.start()
        this.#takeAsks()
      },
      takeAsks: () => this.#takeAsks()
    })
    this.#starts = new Starts(this)
    this.#actors = new RunActors({
      root,
      checkpoint,
      pool: host.actors,
      fail: (error) => this.inbox.fail(error)
    })
  }

  get started(): RunStarted {
    assert(this.#started !== undefined, 'a run begins with run.started')
    return this.#started
  }

  /** What somebody has asked for, if the run is cancelled. */
  get cancel(): CancelAsked | undefined {
    return this.#cancel
  }

  /** False while recorded entries are applied: nothing is decided, sent or told then. */
  get isLive(): boolean {
    return this.#isLive
  }

  /** What a message can end now. */
  openWaits(): readonly OpenWait[] {
    const waits = this.agenda.waits.all().filter((wait) => wait.actions.length > 0)
    return waits.map((wait) => openWaitOf(wait, this.host.identity))
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
      this.#isLive = true
      this.#recordStart(first)
      const { name, definitionHash } = first
      this.emit({ type: 'run.started', runId: this.runId, at: first.at, name, definitionHash })
    })
  }

  #recordStart(first: Omit<RunStarted, 'run' | 'n'>): void {
    const known: KnownTexts = {
      get: (value) => {
        if (value === first.definition) return this.root.definitionText()
        return value === first.input ? this.leaves.textOf(first.input) : undefined
      }
    }
    // A run that is one unit of work begins and ends in one commit, when nothing comes between.
    if (this.root.isUnit) applyEntry(this, this.book.hold(first, { known }))
    else this.record(first, { known })
  }

  /** Goes on after what was recovered. */
  async resume(): Promise<RunEnd> {
    return this.#drive(() => {
      this.recovery.finish()
      this.#isLive = true
      this.record({
        k: 'run.resumed',
        at: this.book.now(),
        status: 'running',
        waits: [],
        due: null
      })
      this.emit({ type: 'run.resumed', runId: this.runId, at: this.book.at })
    })
  }

  async #drive(begin: () => void): Promise<RunEnd> {
    try {
      begin()
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
    if (this.recovery.hasRecovered && !this.scopes.isEmpty) await this.scopes.repeatLists()
    await this.#starts.startAll()
    for (const wait of this.agenda.waits.all()) this.agenda.armWait(wait)
    for (const ask of this.agenda.decisions.values()) openDecision(this, ask)
    for (;;) {
      this.#takeAsks()
      if (this.inbox.failure !== undefined) throw this.inbox.failure.error
      const decided = this.scopes.decide()
      if (decided === true || (decided !== false && (await decided))) continue
      if (this.#settled !== undefined) {
        if (this.#settled.success) this.#actors.handIn()
        if (this.#ended === undefined) return finishRun(this, this.#settled)
        await this.book.durable()
        return this.#ended
      }
      const starting = this.#starts.startAll()
      if (starting !== undefined) await starting
      const fact = this.leaves.order.take(this.inbox)
      if (fact === undefined) {
        const end = await this.#rest()
        if (end !== undefined) return end
        continue
      }
      const turn = this.host.turns.yield()
      if (turn !== undefined) await turn
      if (isFarAhead(this.host.journal)) await this.book.durable()
      // Awaited only when there is something to await: a pure step takes no promise.
      const answering =
        fact.kind === 'outcome'
          ? settleOutcome(this, fact.attempt, fact.outcome)
          : answer(this, fact)
      if (answering !== undefined) await answering
    }
  }

  /** Nothing to do now: waits for a fact, or finds that the run cannot go on by itself. */
  async #rest(): Promise<RunEnd | undefined> {
    if (this.#isGraceOver) return this.#stopped()
    if (!this.#isBusyOutside) {
      if (await this.#stirs()) return undefined
      this.#telling.handIn()
      const mayWait = !(this.#isStopping && this.agenda.isEmpty)
      if (mayWait && markWaiting(this)) return undefined
      if (mayWait && mayPark(this)) return this.#park()
      if (this.#isStopping) return this.#stopped()
    }
    this.#telling.handIn()
    await this.inbox.stirred()
    return undefined
  }

  /** Whether something is under way that will come back by itself. */
  get #isBusyOutside(): boolean {
    return this.leaves.performing > 0 || this.leaves.isElsewhere
  }

  /** Whether code that is running in this turn has something to say. */
  async #stirs(): Promise<boolean> {
    for (let tick = 0; tick < limits.PUMP_PATIENCE_TICKS; tick += 1) {
      await undefined
      if (!this.inbox.isEmpty) return true
    }
    await nextTurn()
    const isBusy = this.#isBusyOutside || this.#actors.hasAsks
    return isBusy || !this.inbox.isEmpty || this.inbox.failure !== undefined
  }

  #stopped(): RunEnd {
    this.#telling.handIn()
    return { kind: 'stopped', checkpoint: this.#checkpoint() }
  }

  #park(): RunEnd {
    const waits = this.openWaits()
    const due = this.agenda.nextDue()
    this.record({ k: 'run.waiting', at: this.book.now(), status: 'waiting', waits, due })
    return { kind: 'parked', waits, due, checkpoint: this.#checkpoint() }
  }

  #takeAsks(): void {
    this.#actors.takeAsks((ask) => takeAsk(this, ask))
  }

  /** The root block has ended. */
  settle(response: Response): void {
    this.#settled = response
  }

  /** Journals a wait and makes it known; its answer will come as a message or by its due time. */
  openWait(terms: WaitTerms, evidence?: EvidenceDraft): void {
    const { identity } = this.host
    const { place, seq, requestHash, actions } = terms
    const times = this.agenda.waits.nextAsking({ ...place, seq, requestHash })
    // What no message ends is asked of nobody.
    const asking = times === 1 || actions.length === 0 ? undefined : times
    const at = this.book.now()
    const wait = beginWait(terms, { runId: this.runId, identity, at, asking })
    this.record(wait, evidence === undefined ? {} : { evidence })
    // The code may have asked while nothing else was going on.
    this.inbox.wake()
  }

  /** The one unit of work of the run is done, and the run with it. */
  end(end: RunEnd): void {
    this.#ended = end
  }

  /** The first entry of a run: its root block executes. */
  begin(entry: RunStarted): void {
    this.#started = entry
    this.#actors.command(rootCommand(this.root, entry))
  }

  cancelled(entry: CancelAsked): void {
    this.#cancel = entry
    this.#actors.command(cancelEvent(entry, entry.at))
    this.scopes.cancel(entry)
  }

  /** Tells a composite how its overlay ended, and what comes after it that the run is cancelled. */
  scopeEnded(entry: ScopeEnded): void {
    const cancel = this.#cancel
    this.deliver(entry.path, scopeNews(entry, cancel))
    if (cancel === undefined || !goesOnCancelled(entry, cancel)) return
    this.#actors.command(cancelEvent(cancel, entry.at))
  }

  apply(entry: JournalEntry): void {
    applyEntry(this, entry)
  }

  /** Appends an entry that completes nothing, and applies it. */
  record(draft: EntryDraft, more: Completed = {}): void {
    const written = this.book.append(draft, more)
    assert(written.ok, 'an entry without reads cannot conflict')
    applyEntry(this, written.entry)
  }

  /** Lets code that was just answered run, when another answer could otherwise overtake it (D3). */
  async quiet(attempt: Attempt): Promise<void> {
    if (!attempt.isStarted) await this.leaves.start(attempt)
    if (attempt.isReplaying) await this.leaves.replay(attempt)
    else if (attempt.outstandingCount() > 0) await nextTurn()
  }

  unitContext(): UnitContext {
    if (this.#unitContext === undefined) {
      const { identity, profile } = this.host
      const { base, principal, trace } = this.started
      const { runId, root } = this
      this.#unitContext = { runId, root, identity, base, principal, profile, trace }
    }
    return this.#unitContext
  }

  deliver(path: string, event: Delivery): void {
    if (isErrand(path)) this.scopes.deliver(path, event)
    else this.#actors.deliver(path, event)
  }

  /** What an errand asks for, which has no actor. */
  ask(ask: Ask): void {
    this.#actors.post(ask)
  }

  emit(event: RunEvent): void {
    const trace = this.#started?.trace
    this.#telling.emit(trace === undefined ? event : { ...event, trace })
  }

  #checkpoint(): RunCheckpoint | undefined {
    return checkpointOf(this, () => this.#actors.snapshot())
  }

  #dispose(): void {
    this.#callOffGrace?.()
    this.agenda.dispose()
    for (const attempt of [...this.leaves.all()]) this.leaves.close(attempt, true)
    this.scopes.release()
    this.inbox.close()
  }
}
