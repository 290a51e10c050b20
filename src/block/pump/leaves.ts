import { type Json, limits, nextTurn } from '../../core/index.js'
import type { AttemptCommand } from '../chart/protocol.js'
import { type Call, type EffectRequest, effectKey } from '../run/calls.js'
import {
  callWait,
  confirmationWait,
  keptEvent,
  type Performed,
  requestedDraft,
  rewoundDraft
} from '../run/decide.js'
import type { Rewound } from '../run/entries.js'
import { contradicted, inputTooLarge, type Outcome } from '../run/outcome.js'
import type { Overlay } from '../run/overlay.js'
import { blockOf, compensationBlock } from '../run/overlay-tasks.js'
import type { Kept, Past } from '../run/past.js'
import { WrittenPayloads } from '../run/payload-texts.js'
import type { StateView } from '../run/state-view.js'
import { unitIdOf } from '../run/unit.js'
import { Attempt, type AttemptPort, type LiveState } from './attempt.js'
import type { PumpHost } from './host.js'
import type { Inbox, PumpEvent } from './inbox.js'
import type { EarlyCallRun } from './inline-run.js'
import type { JournalWriter } from './journal-writer.js'
import { perform } from './performing.js'
import { KeptBodies, type RecallPort, replayRecordedResults } from './recall.js'

/** What the parts of one run's pump share. */
export interface PumpParts {
  readonly host: PumpHost
  readonly state: LiveState
  readonly writer: JournalWriter
  readonly inbox: Inbox
}

/**
 * Makes the attempts of one run's leaves, runs their code, and does what becomes of its calls:
 * sent, listed, or waited for.
 *
 * Owns: effects being performed, and how many units of work are known to be durable under
 * durability `step`. Does not own: which attempts are open, which is the run's state, or what is
 * decided about them. What comes back from outside is posted as a fact.
 *
 * D2: with durability `step`, every unit of work is durable before the next step begins.
 */
export class Leaves {
  readonly #parts: PumpParts
  readonly #recallPort: RecallPort
  readonly #kept = new WeakMap<Past, KeptBodies>()
  /** Effects sent and not yet answered. */
  #performing = 0
  #isFlushPlanned = false
  readonly #early: EarlyCallRun | undefined
  readonly #texts: WrittenPayloads
  readonly #port: AttemptPort
  readonly #textOf = (payload: Json): string => this.#texts.of(payload)
  readonly #current = (key: string): string | undefined => this.#parts.host.journal.read(key)
  #syncedUnits = 0

  constructor(parts: PumpParts, early: EarlyCallRun | undefined) {
    const { host, inbox, state, writer } = parts
    this.#parts = parts
    this.#recallPort = {
      runId: state.runId,
      journal: host.journal,
      durable: () => writer.durable()
    }
    this.#early = early
    this.#texts = new WrittenPayloads(parts.state.root.literals)
    this.#port = {
      called: (attempt, call) => this.#called(attempt, call),
      settled: (attempt, outcome) => inbox.post({ kind: 'outcome', attempt, outcome }),
      returned: () => inbox.wake(),
      again: (attempt) => inbox.post({ kind: 'stale', attempt, reruns: attempt.reruns }),
      halted: (cause) => inbox.halt(cause),
      log: (attempt, message, data) => {
        if (attempt.isReplaying) return
        const { runId } = state
        writer.emit({ type: 'log', runId, at: attempt.at, path: attempt.ask.path, message, data })
      }
    }
  }

  /** Canonical JSON of a payload. */
  textOf(payload: Json): string {
    return this.#texts.of(payload)
  }

  /** Takes over the canonical JSON of a payload that was written elsewhere. */
  keepText(payload: Json, text: string): void {
    this.#texts.keep(payload, text)
  }

  /** Whether something is under way that will come back by itself. */
  get isBusyOutside(): boolean {
    if (this.#performing > 0) return true
    for (const attempt of this.#parts.state.attempts.values()) if (attempt.isElsewhere) return true
    return false
  }

  /** Makes an attempt without running it; undefined when no such block is registered. */
  make(ask: AttemptCommand, at: number, earlier: Past | undefined): Attempt | undefined {
    const { host, state } = this.#parts
    const block = blockOf(ask, (name) => host.block(name))
    if (block === undefined) return undefined
    const unitId = unitIdOf(state.runId, ask.path, ask.step)
    const view = state.overlayAround(ask.path)?.view
    return new Attempt({
      runId: state.runId,
      ask,
      block,
      at,
      unitId,
      textOf: this.#textOf,
      base: state.base,
      principal: state.started?.principal ?? null,
      current: this.#current,
      seal: (seq, bodyText) => host.journal.seal(unitId, seq, bodyText).hash,
      below: view === undefined ? this.#current : (key) => view.read(key),
      earlier,
      early: this.#early,
      literals: state.root.literals
    })
  }

  /** Starts what is not running yet; a promise when something has to be awaited. */
  startAll(): Promise<void> | undefined {
    const all = this.#parts.state.attempts.values()
    for (const attempt of all) {
      if (attempt.isStarted) continue
      if (this.#hasToSync()) return this.#startRest(this.#sync())
      const starting = this.start(attempt)
      if (starting !== undefined) return this.#startRest(starting)
    }
    return undefined
  }

  async #startRest(first: Promise<void>): Promise<void> {
    await first
    for (const attempt of this.#parts.state.attempts.values()) {
      if (!attempt.isStarted) await this.start(attempt)
    }
  }

  #hasToSync(): boolean {
    const { host, state } = this.#parts
    return host.durability === 'step' && state.receipts.size > this.#syncedUnits
  }

  #sync(): Promise<void> {
    const { state, writer } = this.#parts
    this.#syncedUnits = state.receipts.size
    return writer.durable()
  }

  /**
   * Runs the attempt's code, after its confirmation if the node asks for one. Gives a promise only
   * when there are recorded results to go through first: most steps have none, and promises are not
   * free.
   */
  start(attempt: Attempt): Promise<void> | undefined {
    if (attempt.needsJournal) return this.#startLong()
    return this.#begin(attempt) ? this.replay(attempt) : undefined
  }

  /** All that have long recorded results run at once: the journal is read through once for them. */
  #startLong(): Promise<void> {
    const attempts = [...this.#parts.state.attempts.values()]
    const long = attempts.filter(({ needsJournal }) => needsJournal)
    return this.#replay(long.filter((attempt) => this.#begin(attempt)))
  }

  /** Begins the code of an attempt; whether it is owed the answers of its recorded results. */
  #begin(attempt: Attempt): boolean {
    const { inbox, state, writer } = this.#parts
    if (attempt.isStarted || inbox.isStopping) return false
    const outcome = inputTooLarge(attempt.payloadText())
    if (outcome !== undefined) {
      inbox.post({ kind: 'outcome', attempt, outcome })
      return false
    }
    const { path, step, attempt: number, options } = attempt.ask
    if (options.deadline !== undefined) {
      inbox.arm(deadlineKey(attempt), options.deadline, { kind: 'deadline', attempt })
    }
    if (!this.#isConfirmed(attempt)) return false
    writer.emit({
      type: 'block.started',
      runId: state.runId,
      at: attempt.at,
      path,
      step,
      attempt: number,
      block: attempt.block.name
    })
    // An overlay that was rebuilt knows nothing of what was listed through it (L10).
    if (state.overlayAround(path) !== undefined) attempt.listAgain()
    attempt.start(this.#port)
    return attempt.isReplaying
  }

  /** Whether the wait that its node asks for has been answered. */
  #isConfirmed(attempt: Attempt): boolean {
    const confirmation = attempt.confirmation()
    if (confirmation === undefined) return true
    if (attempt.past.answers > 0 && attempt.recorded.has(0)) return true
    if (attempt.waits.has(0)) return false
    const { state, writer, inbox } = this.#parts
    const kept = attempt.past.earlier?.kept({ seq: 0, requestHash: confirmation.requestHash })
    if (kept !== undefined) {
      inbox.post(keptEvent(attempt, { ...kept.answer, body: kept.answer.body ?? null }))
      return false
    }
    writer.record(confirmationWait(state, attempt, confirmation, writer.now()))
    inbox.wake()
    return false
  }

  /**
   * Runs the code from its first line; what it has been given before comes from its recorded
   * results.
   */
  run(attempt: Attempt): Promise<void> | undefined {
    attempt.start(this.#port)
    return attempt.isReplaying ? this.replay(attempt) : undefined
  }

  /** Continues with the recorded results that an attempt is still owed. */
  async replay(attempt: Attempt): Promise<void> {
    if (attempt.isReplaying) await this.#replay([attempt])
  }

  async #replay(attempts: readonly Attempt[]): Promise<void> {
    const { writer } = this.#parts
    for (const { attempt, dropped } of await replayRecordedResults(attempts, this.#recallPort)) {
      if (dropped.length === 0) continue
      writer.record(rewoundDraft(attempt, dropped, writer.now()))
    }
  }

  /** The code does not ask for some results any more: what it asks instead is taken. */
  rewound(attempt: Attempt, { dropped }: Rewound): void {
    for (const call of attempt.dropped(dropped)) this.#called(attempt, call)
  }

  /** Lets go of an attempt that has ended. */
  close(attempt: Attempt): void {
    if (attempt.ask.options.deadline !== undefined) this.#parts.inbox.disarm(deadlineKey(attempt))
    this.#parts.host.gate.release(attempt)
    attempt.abandon()
  }

  /** Takes a call without a recorded result. */
  #called(attempt: Attempt, call: Call): void {
    const { state, writer, inbox } = this.#parts
    if (inbox.isStopping || isWaited(attempt, call)) return
    // Keys are state, which a later attempt reads anew.
    const kept = call.kind === 'list' ? undefined : attempt.past.earlier?.kept(call)
    if (kept !== undefined) return this.#keep(attempt, call, kept)
    switch (call.kind) {
      case 'effect':
        return this.send(attempt, call)
      case 'list':
        return this.#list(attempt, call, call.prefix)
      case 'sleep':
      case 'wait':
        writer.record(callWait(state, attempt, call, writer.now()))
        // The code may have asked while nothing else was under way.
        inbox.wake()
    }
  }

  /** Gives a call the answer that an earlier attempt has got, from the journal if need be (L7). */
  #keep(attempt: Attempt, call: Call, { answer, past }: Kept): void {
    const { inbox } = this.#parts
    const { body } = answer
    if (body !== undefined) {
      inbox.post(keptEvent(attempt, { ...answer, body }, call.request))
      return
    }
    const place = { path: attempt.ask.path, step: past.step, attempt: past.attempt }
    const recalled = { place, tape: past.recorded }
    const bodies = this.#kept.get(past) ?? new KeptBodies(this.#recallPort, recalled)
    this.#kept.set(past, bodies)
    this.#whilePerforming(async () => {
      const read = await bodies.body(answer)
      inbox.post(keptEvent(attempt, { ...answer, body: read }, call.request))
    })
  }

  /** Counts what is under way; a failure ends the run. */
  #whilePerforming(work: () => Promise<void>): void {
    this.#performing += 1
    work()
      .catch((error: unknown) => this.#parts.inbox.fail(error))
      .finally(() => {
        this.#performing -= 1
      })
  }

  /**
   * Sends an effect. A write is journaled first and waits for the disk (L7); a read changes nothing
   * outside, so it runs ahead of the disk like a pure step (D2). `isOrdered`: a person has said
   * that it is to be sent again.
   */
  send(attempt: Attempt, call: EffectRequest, isOrdered = false): void {
    const { host, state, inbox } = this.#parts
    const { path, step } = attempt.ask
    const { seq, requestHash } = call
    const refused = this.#refused(attempt, call)
    if (refused !== undefined) return inbox.post(refused)
    const key = effectKey(state.runId, path, step, seq, requestHash)
    const wasSent = attempt.past.wasSent(seq, requestHash)
    const repeated = wasSent && !isOrdered
    if (call.sideEffects !== 'none' && !attempt.past.isRequested(seq)) this.#request(attempt, call)
    this.#whilePerforming(async () => {
      await this.#readyFor(call)
      const provider = host.provider(call.effect)
      const principal = state.started?.principal ?? null
      const { redactor } = host
      const { runId } = state
      const options = { key, signals: attempt, repeated, principal, runId, redactor }
      const refusal = wasSent ? undefined : this.#refusalOf(attempt, call)
      const performed: Performed =
        refusal === undefined
          ? await perform(call, provider, options)
          : { kind: 'failed', failure: refusal }
      inbox.post({ kind: 'performed', attempt, call, performed })
    })
  }

  /**
   * Why who started the run may not have an effect sent that was not sent before: of another,
   * nothing would say what became of it. What undoes a write that has landed is not refused either.
   */
  #refusalOf({ block, attribution }: Attempt, { effect }: EffectRequest) {
    const { host, state } = this.#parts
    if (block === compensationBlock) return undefined
    const principal = state.started?.principal ?? null
    return host.refusesEffect?.({ effect, principal, block, attribution })
  }

  /** Why an effect is not sent now. */
  #refused(attempt: Attempt, call: EffectRequest): PumpEvent | undefined {
    const { past } = attempt
    const contradiction = past.contradiction(call.seq, call.requestHash)
    if (contradiction !== undefined) {
      return { kind: 'outcome', attempt, outcome: contradicted(contradiction) }
    }
    if (call.sideEffects === 'none') return undefined
    if (this.#isStale(attempt)) return { kind: 'stale', attempt, reruns: attempt.reruns }
    const overlay = this.#parts.state.overlayAround(attempt.ask.path)
    if (overlay === undefined || past.isRequested(call.seq)) return undefined
    const outcome = this.#refusedInScope(attempt, call, overlay)
    return outcome === undefined ? undefined : { kind: 'outcome', attempt, outcome }
  }

  /** Inside an overlay nothing may undo it, or what it depends on has changed (C4, L10). */
  #refusedInScope(
    { block }: Attempt,
    { effect }: EffectRequest,
    { outermost: { view } }: Overlay
  ): Outcome | undefined {
    const { host } = this.#parts
    const details = { effect }
    if ((block.compensate ?? host.provider(effect)?.compensate) === undefined) {
      return { ok: false, reason: 'not_reversible', errorType: 'NotReversible', details }
    }
    const isSame = !view.isOutdated && this.#isCurrent(view)
    if (isSame) return undefined
    return { ok: false, reason: 'intent_conflict', errorType: 'IntentConflict', details }
  }

  #isCurrent({ reads }: StateView): boolean {
    const { journal } = this.#parts.host
    for (const [key, seen] of reads) if (journal.read(key) !== seen) return false
    return true
  }

  /** Records the request of a write, and keeps others from changing what it depends on (L10). */
  #request(attempt: Attempt, call: EffectRequest): void {
    const { host, state, writer } = this.#parts
    writer.record(requestedDraft(state, attempt, call, writer.now()))
    const overlay = state.overlayAround(attempt.ask.path)
    const unit = overlay === undefined ? attempt : state
    const { view } = overlay === undefined ? attempt : overlay.outermost
    host.gate.reserve(unit, view.reads.keys(), view.lists.keys())
  }

  /** Resolves when an effect may be performed. */
  #readyFor({ sideEffects, durable }: EffectRequest): Promise<void> {
    const { host, writer } = this.#parts
    if (sideEffects !== 'none' || durable || host.durability === 'step') return writer.durable()
    this.#flushBehind()
    return READY
  }

  /**
   * Begins a flush that no read waits for, if one is still being performed at the next turn of the
   * event loop: then the disk works beside it. A read that is answered at once needs no flush.
   */
  #flushBehind(): void {
    if (this.#isFlushPlanned) return
    this.#isFlushPlanned = true
    nextTurn().then(() => {
      this.#isFlushPlanned = false
      if (this.#performing === 0 || this.#parts.inbox.isStopping) return
      // A failed write poisons the ledger, and whatever waits for this run hears of it there.
      this.#parts.writer.durable().catch(() => undefined)
    })
  }

  /** Whether to run again rather than to act on what is not so any more. */
  #isStale(attempt: Attempt): boolean {
    if (attempt.past.hasSent() || this.#performing > 0) return false
    if (attempt.reruns > limits.CONFLICT_RERUNS_MAX) return false
    if (this.#parts.state.overlayAround(attempt.ask.path) !== undefined) return false
    return !this.#isCurrent(attempt.view)
  }

  #list(attempt: Attempt, call: Call, prefix: string): void {
    const { host, state, inbox } = this.#parts
    const overlay = state.overlayAround(attempt.ask.path)
    this.#whilePerforming(async () => {
      const keys = await host.journal.list(prefix)
      const text = JSON.stringify(overlay === undefined ? keys : overlay.list(prefix, keys))
      inbox.post({ kind: 'performed', attempt, call, performed: { kind: 'done', text } })
    })
  }
}

// No path has a space: no other key is equal.
function deadlineKey(attempt: Attempt): string {
  return `deadline ${attempt.ask.path}`
}

const READY: Promise<void> = Promise.resolve()

// On another state the code may wait for something else: then the old wait is over.
function isWaited(attempt: Attempt, call: Call): boolean {
  const wait = attempt.waits.get(call.seq)
  if (wait === undefined) return false
  return wait.requestHash === call.requestHash || !attempt.hasReadState
}
