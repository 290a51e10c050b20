import { assert, limits, nextTurn } from '../../core/index.js'
import { type Call, type EffectRequest, effectKey } from '../run/calls.js'
import type { EntryDraft, Requested } from '../run/entries.js'
import { contradicted } from '../run/outcome.js'
import type { Kept, Past } from '../run/past.js'
import type { Attempt } from './attempt.js'
import type { LeavesPort } from './leaves-port.js'
import { perform } from './performing.js'
import { KeptBodies } from './recall.js'
import { recallPortOf } from './replaying.js'
import { keptFact, placeOf } from './replies.js'
import { refusalInScope } from './undoing.js'

const READY: Promise<void> = Promise.resolve()

/**
 * What becomes of the calls that the code of a run's leaves makes: sent, listed, or waited for.
 *
 * Owns: the effects that are being performed. Does not own: their order; what comes back is a fact.
 */
export class Calling {
  readonly #port: LeavesPort
  readonly #kept = new WeakMap<Past, KeptBodies>()
  #performing = 0
  #isFlushPlanned = false

  constructor(port: LeavesPort) {
    this.#port = port
  }

  /** Effects sent and not yet answered. */
  get performing(): number {
    return this.#performing
  }

  /** Takes a call that no tape answers. */
  called(attempt: Attempt, call: Call): void {
    if (this.#port.isStopping() || this.#isWaited(attempt, call)) return
    // Keys are state, which a later attempt reads anew.
    const kept = call.kind === 'list' ? undefined : attempt.past.earlier?.kept(call)
    if (kept !== undefined) return this.#keep(attempt, call, kept)
    switch (call.kind) {
      case 'effect':
        return this.send(attempt, call)
      case 'list':
        return this.#list(attempt, call, call.prefix)
      case 'sleep':
        return this.#port.openWait({
          place: placeOf(attempt),
          seq: call.seq,
          reason: 'poll',
          request: call.request,
          requestHash: call.requestHash,
          actions: [],
          due: this.#port.book.now() + Math.max(0, call.ms),
          blockHash: attempt.block.codeHash
        })
      case 'wait':
        return this.#port.openWait({
          place: placeOf(attempt),
          seq: call.seq,
          reason: call.reason,
          request: call.request,
          requestHash: call.requestHash,
          actions: call.reason === 'external' ? ['resume', 'deny'] : ['approve', 'deny'],
          due: call.timeoutMs === undefined ? null : this.#port.book.now() + call.timeoutMs,
          blockHash: attempt.block.codeHash
        })
    }
  }

  /** Gives a call the answer that an earlier attempt has got, from the journal if need be (L7). */
  #keep(attempt: Attempt, call: Call, { answer, past }: Kept): void {
    const { body } = answer
    if (body !== undefined) {
      this.#port.post(keptFact(attempt, { ...answer, body }, call))
      return
    }
    const place = { path: attempt.ask.path, step: past.step, attempt: past.attempt }
    const bodies =
      this.#kept.get(past) ?? new KeptBodies(recallPortOf(this.#port), { place, tape: past.tape })
    this.#kept.set(past, bodies)
    this.#performing += 1
    bodies
      .body(answer)
      .then((read) => this.#port.post(keptFact(attempt, { ...answer, body: read }, call)))
      .catch((error: unknown) => this.#port.fail(error))
      .finally(() => {
        this.#performing -= 1
      })
  }

  // On another state the code may wait for something else: then the old wait is over.
  #isWaited(attempt: Attempt, call: Call): boolean {
    const wait = attempt.waits.get(call.seq)
    if (wait === undefined) return false
    return wait.requestHash === call.requestHash || !attempt.hasReadState
  }

  /**
   * Sends an effect. A write is journaled first and waits for the disk (L7); a read changes nothing
   * outside, so it runs ahead of the disk like a pure step (D2).
   */
  send(attempt: Attempt, call: EffectRequest, isOrdered = false): void {
    const { host, book, runId } = this.#port
    const { path, step } = attempt.ask
    const contradiction = attempt.past.contradiction(call.seq, call.requestHash)
    if (contradiction !== undefined) {
      const outcome = contradicted(contradiction)
      return this.#port.post({ kind: 'outcome', attempt, outcome })
    }
    if (call.sideEffects !== 'none' && this.#isStale(attempt)) {
      return this.#port.post({ kind: 'stale', attempt, reruns: attempt.reruns })
    }
    const scope = call.sideEffects === 'none' ? undefined : this.#port.scopeOf(path)
    const isAsked = attempt.past.requested.has(call.seq)
    const refusal =
      scope === undefined || isAsked ? undefined : refusalInScope(attempt, call, { scope, host })
    if (refusal !== undefined)
      return this.#port.post({ kind: 'outcome', attempt, outcome: refusal })
    const key = effectKey(runId, path, step, call.seq, call.requestHash)
    const repeated = attempt.past.wasSent(call.seq, call.requestHash)
    if (call.sideEffects !== 'none' && !isAsked) {
      const draft: EntryDraft = {
        k: 'requested',
        at: book.now(),
        seq: call.seq,
        effect: call.effect,
        sideEffects: call.sideEffects,
        requestHash: call.requestHash,
        key,
        ...placeOf(attempt)
      }
      const written = book.append(draft)
      assert(written.ok, 'an entry without reads cannot conflict')
      attempt.past.requested.set(call.seq, written.entry as Requested)
      scope?.outside.requested(written.entry as Requested)
      if (scope === undefined) {
        host.gate.reserve(attempt, attempt.view.reads.keys(), attempt.view.lists.keys())
      } else this.#port.reserve(scope)
    }
    this.#performing += 1
    this.#readyFor(call)
      .then(() =>
        perform(call, host.provider(call.effect), {
          key,
          signals: attempt,
          repeated: repeated && !isOrdered
        })
      )
      .then((performed) => this.#port.post({ kind: 'performed', attempt, call, performed }))
      .catch((error: unknown) => this.#port.fail(error))
      .finally(() => {
        this.#performing -= 1
      })
  }

  /** Resolves when an effect may be performed. */
  #readyFor({ sideEffects, durable }: EffectRequest): Promise<void> {
    const { host, book } = this.#port
    if (sideEffects !== 'none' || durable || host.durability === 'step') return book.durable()
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
      if (this.#performing === 0 || this.#port.isStopping()) return
      // A failed write poisons the ledger, and whatever waits for this run hears of it there.
      this.#port.book.durable().catch(() => undefined)
    })
  }

  /** Whether to run again rather than to act on what is not so any more. */
  #isStale(attempt: Attempt): boolean {
    if (attempt.past.hasSent() || this.#performing > 0) return false
    if (attempt.reruns > limits.CONFLICT_RERUNS_MAX) return false
    if (this.#port.scopeOf(attempt.ask.path) !== undefined) return false
    const { journal } = this.#port.host
    for (const [key, seen] of attempt.view.reads) if (journal.read(key) !== seen) return true
    return false
  }

  #list(attempt: Attempt, call: Call, prefix: string): void {
    const scope = this.#port.scopeOf(attempt.ask.path)
    this.#performing += 1
    this.#port.host.journal
      .list(prefix)
      .then((keys) => {
        const below = scope === undefined ? keys : scope.list(prefix, keys)
        const text = JSON.stringify(below)
        this.#port.post({ kind: 'performed', attempt, call, performed: { kind: 'done', text } })
      })
      .catch((error: unknown) => this.#port.fail(error))
      .finally(() => {
        this.#performing -= 1
      })
  }
}
