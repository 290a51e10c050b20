import { type ChildRequest, type EffectRequest, ROOT_PATH, runEffects } from '../../code/index.js'
import { type QueuePlace, type QueueTerms, queueOfEffect } from '../../queue/index.js'
import type { Attempt, LiveState } from './attempt.js'
import type { PumpParts } from './parts.js'

/**
 * The effects of one run that wait for their turn.
 *
 * Owns: which do, until they have it or are not asked for any more. Does not own: the queues, which
 * all runs share, or what is sent.
 *
 * - Q9 An effect has its turn while it is performed, and no longer. What waits for other work of
 *   the ledger while it is performed would hold others up, so that it waits in no queue.
 */
export class QueuedCalls {
  readonly #parts: PumpParts
  #waiting: Map<Attempt, Map<number, Waiting>> | undefined

  constructor(parts: PumpParts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#waiting?.size ?? 0
  }

  /** The place of an effect that has its turn; undefined where it needs none. */
  enter(
    attempt: Attempt,
    call: EffectRequest,
    isOrdered: boolean
  ): QueuePlace | undefined | 'waiting' {
    const { host, state, inbox } = this.#parts
    const { seq, effect } = call
    if (runEffects.has(effect)) return undefined
    const terms = this.#termsOf(attempt, effect)
    if (terms === undefined) return undefined
    const { ask, at } = attempt
    const admitted = () =>
      inbox.post({ kind: 'admitted', attempt, call, turn: { isOrdered, place } })
    const work = { runId: state.runId, path: ask.path, effect, since: at, admitted }
    const place = host.queues.enter('effects', terms, work)
    if (place.isAdmitted) return place
    this.#waiting ??= new Map()
    const calls = this.#waiting.get(attempt) ?? new Map<number, Waiting>()
    this.#waiting.set(attempt, calls)
    // Code that was run again asks in its own name.
    calls.get(seq)?.place.leave()
    calls.set(seq, { call, place })
    return 'waiting'
  }

  /** Whether an effect whose turn has come is still asked for; it waits no more. */
  takes(attempt: Attempt, call: EffectRequest): boolean {
    const calls = this.#waiting?.get(attempt)
    if (calls?.get(call.seq)?.call !== call) return false
    calls.delete(call.seq)
    if (calls.size === 0) this.#waiting?.delete(attempt)
    return !this.#parts.inbox.isStopping && attempt.effectAt(call.seq) === call
  }

  withdraw(attempt: Attempt): void {
    for (const { place } of this.#waiting?.get(attempt)?.values() ?? []) place.leave()
    this.#waiting?.delete(attempt)
  }

  #termsOf(attempt: Attempt, effect: string): QueueTerms | undefined {
    const { host, state } = this.#parts
    const step = callServed(state, attempt)?.queue
    // It fails by that when it is sent.
    if (step !== undefined && !host.queues.isDeclared(step.name)) return undefined
    const { block, ask } = attempt
    return queueOfEffect({ step, block: block.queue, payload: ask.request.payload }, effect)
  }
}

interface Waiting {
  readonly call: EffectRequest
  readonly place: QueuePlace
}

/** The call of a workflow function that a step of it serves; undefined for any other step. */
export function callServed(
  { attempts }: LiveState,
  { ask }: Pick<Attempt, 'ask'>
): ChildRequest | undefined {
  const { serves } = ask.options
  if (serves === undefined || ask.path === ROOT_PATH) return undefined
  const call = attempts.get(ROOT_PATH)?.callAt(serves)
  return call?.kind === 'child' ? call : undefined
}
