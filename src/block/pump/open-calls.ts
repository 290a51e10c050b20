import {
  type Call,
  CHILD_EFFECT,
  type EffectRequest,
  effectKey,
  type Outcome,
  type StateView
} from '../../code/index.js'
import { type Hash, type Json, limits, nextTurn } from '../../core/index.js'
import type { QueuePlace } from '../../queue/index.js'
import { calledDraft, callHash } from '../run/body.js'
import { keptEvent, type Performed, requestedDraft } from '../run/decide.js'
import type { SealedFailure } from '../run/entries.js'
import { contradicted } from '../run/failed-attempts.js'
import { KeptWrites } from '../run/kept-writes.js'
import type { Overlay } from '../run/overlay.js'
import { compensationBlock } from '../run/overlay-tasks.js'
import type { Kept, Past } from '../run/past.js'
import type { Provider } from '../run/provider.js'
import { isTimeout } from '../run/signals.js'
import { callWait } from '../run/wait-drafts.js'
import type { Attempt } from './attempt.js'
import { contradictedBy } from './body-calls.js'
import { tellThrown } from './exceptions.js'
import { runsAhead } from './host.js'
import type { AdmittedEvent, PumpEvent, Turn } from './inbox.js'
import type { PumpParts } from './parts.js'
import { perform } from './performing.js'
import { callServed, QueuedCalls } from './queued-calls.js'
import { KeptBodies, type RecallPort, recallPortOf } from './recall.js'

/**
 * Does what becomes of the calls of one run's leaves: answered from an earlier attempt, sent,
 * listed, or waited for.
 *
 * Owns: the effects being performed, and whose code is ahead of a journal that stops. Does not own:
 * which calls an attempt has open, or what is decided about them. What comes back from outside is
 * posted as a fact.
 *
 * - D2: a read is performed beside the disk; a write, and whatever is dear, waits for it.
 * - L7: a write is journaled before it is sent, and an earlier attempt's result is not asked for
 *   again.
 * - B12: a run that stops takes no call, and nothing that code ahead of its journal comes to.
 */
export class OpenCalls {
  readonly #parts: PumpParts
  readonly #recallPort: RecallPort
  /** Bodies of earlier attempts' results that only the journal has. */
  readonly #kept = new WeakMap<Past, KeptBodies>()
  readonly #keptWrites = new WeakMap<Past, KeptWrites>()
  readonly #queued: QueuedCalls
  /** Effects sent and not yet answered. */
  #performing = 0
  /** Those of them that other runs of this ledger answer. */
  #awaitedRuns = 0
  #cutOff: Set<Attempt> | undefined
  #isFlushPlanned = false

  constructor(parts: PumpParts) {
    this.#parts = parts
    this.#recallPort = recallPortOf(parts)
    this.#queued = new QueuedCalls(parts)
  }

  /**
   * Whether an answer will come back by itself. A run that stops awaits no other run, which may
   * take as long as it likes: it asks for it again when it is resumed (L6).
   */
  get arePerformed(): boolean {
    const { isStopping } = this.#parts.inbox
    return this.#performing > (isStopping ? this.#awaitedRuns : 0)
  }

  /** Whether the code of any attempt has come further than the journal: see {@link isCutOff}. */
  get areCutOff(): boolean {
    return this.#cutOff !== undefined
  }

  /**
   * Whether the code of an attempt has made a call that the run does not take, since it stops. What
   * such code comes to then is not taken either: it is run again when the run is resumed.
   */
  isCutOff(attempt: Attempt): boolean {
    return this.#cutOff?.has(attempt) === true
  }

  /** Whether effects wait for their turn. */
  get areQueued(): boolean {
    return this.#queued.size > 0
  }

  /** An attempt has ended, or its run has: what it waited for with others is not waited for. */
  withdraw(attempt: Attempt): void {
    this.#queued.withdraw(attempt)
  }

  /** Takes a call without a recorded result. */
  take(attempt: Attempt, call: Call): void {
    const { state, writer, inbox } = this.#parts
    if (inbox.isStopping) return this.#cut(attempt, call)
    const contradiction = attempt.block.body && contradictedBy(attempt, call)
    if (contradiction !== undefined) return inbox.fail(contradiction)
    if (isWaited(attempt, call)) return
    // Keys are state, which a later attempt reads anew.
    const kept = call.kind === 'list' ? undefined : this.#keptFor(attempt, call)
    if (kept !== undefined) return this.#keep(attempt, call, kept)
    switch (call.kind) {
      case 'effect':
        return this.send(attempt, call)
      case 'list':
        return this.#list(attempt, call, call.prefix)
      case 'child':
        if (attempt.called.has(call.seq)) return
        writer.record(calledDraft(attempt, call, writer.now()))
        this.#parts.takeAsks()
        return inbox.wake()
      case 'sleep':
      case 'wait':
      case 'signal': {
        const draft = callWait(state, attempt, call, writer.now())
        // Time passes again after a crash.
        if (call.kind === 'sleep') writer.gather(draft)
        else writer.record(draft)
        // The code may have asked while nothing else was under way.
        inbox.wake()
      }
    }
  }

  /** Takes no call: one that the journal does not have leaves its code ahead of it. */
  #cut(attempt: Attempt, { seq, requestHash }: Call): void {
    const called = attempt.called.get(seq)
    const isRecorded =
      attempt.waits.get(seq)?.requestHash === requestHash ||
      (called !== undefined && callHash(called) === requestHash) ||
      attempt.past.requested.get(seq)?.requestHash === requestHash
    if (isRecorded) return
    this.#cutOff ??= new Set()
    this.#cutOff.add(attempt)
  }

  /** What an earlier attempt has got for a call: in the same place, or for the same write. */
  #keptFor(attempt: Attempt, call: Call): Kept | undefined {
    const { past } = attempt
    if (past.earlier === undefined) return undefined
    if (call.kind === 'signal') return timedOut(past.earlier.kept(call))
    if (call.kind !== 'effect' || call.sideEffects === 'none') return past.earlier.kept(call)
    const writes = this.#keptWrites.get(past) ?? new KeptWrites(past)
    this.#keptWrites.set(past, writes)
    return writes.take(call)
  }

  /** Gives a call the answer that an earlier attempt has got, from the journal if need be (L7). */
  #keep(attempt: Attempt, call: Call, { answer, past }: Kept): void {
    const { inbox } = this.#parts
    const { body } = answer
    // The call may have another number than the one that was answered.
    const { seq, request } = call
    if (body !== undefined) {
      inbox.post(keptEvent(attempt, { ...answer, seq, body }, request))
      return
    }
    const place = { path: attempt.ask.path, step: past.step, attempt: past.attempt }
    const recalled = { place, results: past.recorded }
    const bodies = this.#kept.get(past) ?? new KeptBodies(this.#recallPort, recalled)
    this.#kept.set(past, bodies)
    this.#whilePerforming(async () => {
      const read = await bodies.body(answer)
      inbox.post(keptEvent(attempt, { ...answer, seq, body: read }, request))
    })
  }

  /** Counts what is under way; a failure ends the run. */
  #whilePerforming(work: () => Promise<void>, { place, isRun = false }: Sent = {}): void {
    this.#performing += 1
    if (isRun) this.#awaitedRuns += 1
    work()
      .catch((error: unknown) => this.#parts.inbox.fail(error))
      .finally(() => {
        this.#performing -= 1
        if (isRun) this.#awaitedRuns -= 1
        place?.leave()
      })
  }

  /**
   * Sends an effect when its turn comes. `isOrdered`: a person has said that it is to be sent
   * again.
   */
  send(attempt: Attempt, call: EffectRequest, isOrdered = false): void {
    const place = this.#queued.enter(attempt, call, isOrdered)
    if (place !== 'waiting') this.sendNow(attempt, call, { isOrdered, place })
  }

  /**
   * Sends an effect that has its turn, unless its code has gone on without it. A write is journaled
   * first and waits for the disk (L7); a read changes nothing outside, so it runs ahead of the disk
   * like a pure step (D2). Nothing is journaled before its turn: what waits was not sent.
   */
  sendNow(attempt: Attempt, call: EffectRequest, { isOrdered, place }: Turn): void {
    const { state, inbox } = this.#parts
    const { path, step } = attempt.ask
    const { seq, requestHash } = call
    const refused = this.#refused(attempt, call)
    if (refused !== undefined) {
      place?.leave()
      return inbox.post(refused)
    }
    const key = effectKey(state.runId, path, step, seq, requestHash)
    const wasSent = attempt.past.wasSent(seq, requestHash)
    const repeated = wasSent && !isOrdered
    if (call.sideEffects !== 'none' && !attempt.past.isRequested(seq)) this.#request(attempt, call)
    this.#whilePerforming(
      async () => {
        await this.#readyFor(call)
        const failure = wasSent ? undefined : this.#refusalOf(attempt, call)
        const performed: Performed =
          failure === undefined
            ? await this.#perform(attempt, call, { key, repeated, isOrdered })
            : { kind: 'failed', failure }
        inbox.post({ kind: 'performed', attempt, call, performed })
      },
      { place, isRun: call.effect === CHILD_EFFECT }
    )
  }

  /** The turn of an effect has come. */
  admitted({ attempt, call, turn }: AdmittedEvent): void {
    if (this.#queued.takes(attempt, call)) this.sendNow(attempt, call, turn)
    else turn.place?.leave()
  }

  #perform(
    attempt: Attempt,
    call: EffectRequest,
    how: { readonly key: Hash; readonly repeated: boolean; readonly isOrdered: boolean }
  ): Promise<Performed> {
    const { host, state } = this.#parts
    const { runId, started } = state
    const { redactor } = host
    const { key, repeated, isOrdered } = how
    const { path, step, attempt: number } = attempt.ask
    const provider = this.#functionOf(attempt, call) ?? host.provider(call.effect)
    const outside = host.outside?.({ call, provider, path, step, attempt: number, isOrdered })
    const principal = started?.principal ?? null
    const { seq, effect, requestHash } = call
    const threw = (thrown: unknown) => tellThrown(this.#parts, attempt, { thrown, effect, seq })
    const options = { key, signals: attempt, repeated, principal, runId, redactor, outside, threw }
    const { observer } = host
    if (observer === undefined) return perform(call, provider, options)
    const at = host.clock.now()
    const sent = { path, step, attempt: number, seq, effect, requestHash, key, at }
    const traceparent = observer.sending(sent)
    const located = () => observer.located(sent)
    return perform(call, provider, { ...options, located, traceparent })
  }

  /** What does a step of a workflow function that is a function of the program. */
  #functionOf(attempt: Attempt, { effect }: EffectRequest): Provider | undefined {
    const run = callServed(this.#parts.state, attempt)?.perform
    // What it gives is checked where it is sealed.
    return run && { name: effect, perform: async (asked) => (await run(asked)) as Json }
  }

  /**
   * Why who started the run may not have an effect sent that was not sent before: of another,
   * nothing would say what became of it. What undoes a write that has landed is not refused either.
   */
  #refusalOf(attempt: Attempt, { effect, request }: EffectRequest): SealedFailure | undefined {
    const { block, attribution } = attempt
    const { host, state } = this.#parts
    if (block === compensationBlock) return undefined
    const queue = callServed(state, attempt)?.queue?.name
    if (queue !== undefined && !host.queues.isDeclared(queue)) return unknownQueue(queue)
    const principal = state.started?.principal ?? null
    return host.refusesEffect?.({ effect, request, principal, block, attribution })
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
  #readyFor(call: EffectRequest): Promise<void> {
    const { host, writer } = this.#parts
    if (!runsAhead(call, host)) return writer.durable()
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
    const flushing = nextTurn().then(() => {
      this.#isFlushPlanned = false
      if (this.#performing === 0 || this.#parts.inbox.isStopping) return undefined
      return this.#parts.writer.durable()
    })
    // A failed write poisons the ledger, and whatever waits for this run hears of it there.
    flushing.catch(() => undefined)
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

/** How an effect is under way. */
interface Sent {
  readonly place?: QueuePlace | undefined
  /** Another run answers it. */
  readonly isRun?: boolean
}

/** A signal that an attempt took came back when it failed; that there was none in time stays so. */
function timedOut(kept: Kept | undefined): Kept | undefined {
  return kept !== undefined && isTimeout(kept.answer.body ?? null) ? kept : undefined
}

function unknownQueue(queue: string): SealedFailure {
  return { reason: 'unknown_queue', definite: true, details: { queue } }
}

const READY: Promise<void> = Promise.resolve()

// On another state the code may wait for something else: then the old wait is over.
function isWaited(attempt: Attempt, call: Call): boolean {
  const wait = attempt.waits.get(call.seq)
  if (wait === undefined) return false
  return wait.requestHash === call.requestHash || !attempt.hasReadState
}
