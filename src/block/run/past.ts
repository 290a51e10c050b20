import type { Hash } from '../../core/index.js'
import type { Requested, Sealed } from './entries.js'
import type { RecordedResult } from './folded-answers.js'
import { RecordedResults } from './recorded-results.js'

/** A result that a later attempt keeps, and where it is. */
export interface Kept {
  readonly answer: RecordedResult
  readonly past: Past
}

/**
 * What was sealed and asked for in one attempt of a step, and in the attempts before it. A later
 * attempt must not act again where an earlier one has acted (L7), so this outlives its attempt.
 */
export class Past {
  // Made when needed: most attempts are given no answer.
  #recorded: RecordedResults | undefined
  #requested: Map<number, Requested> | undefined
  readonly earlier: Past | undefined
  readonly step: number
  readonly attempt: number
  /** A verification has no other place to read the answers from. */
  readonly #keepsAll: boolean

  constructor(
    place: { readonly step: number; readonly attempt: number },
    {
      earlier,
      keepsAll = false
    }: { readonly earlier?: Past | undefined; readonly keepsAll?: boolean } = {}
  ) {
    this.step = place.step
    this.attempt = place.attempt
    this.earlier = earlier
    this.#keepsAll = keepsAll
  }

  /** What was sealed, in delivery order. */
  get recorded(): RecordedResults {
    this.#recorded ??= new RecordedResults(
      ({ seq }) => this.#keepsAll || this.#requested?.has(seq) === true
    )
    return this.#recorded
  }

  /** Whether the code itself was given any. */
  get hasAnswered(): boolean {
    return this.#recorded?.hasCalls ?? false
  }

  /** How many answers there are. */
  get answers(): number {
    return this.#recorded?.length ?? 0
  }

  /** Whether a write was asked for under this number. */
  isRequested(seq: number): boolean {
    return this.#requested?.has(seq) ?? false
  }

  /** What was asked for, by the number of its call. */
  get requested(): Map<number, Requested> {
    this.#requested ??= new Map()
    return this.#requested
  }

  /**
   * The same without some results: those become an earlier part of the attempt, where they can
   * still be found by what asks for the same, and where what was sent stays sent.
   */
  without(seqs: readonly number[]): Past {
    const keepsAll = this.#keepsAll
    const dropped = new Past(this, { earlier: this.earlier, keepsAll })
    const rest = new Past(this, { earlier: dropped, keepsAll })
    const isDropped = new Set(seqs)
    for (const [seq, entry] of this.#requested ?? []) {
      ;(isDropped.has(seq) ? dropped : rest).requested.set(seq, entry)
    }
    this.recorded.part((seq) => isDropped.has(seq), dropped.recorded, rest.recorded)
    return rest
  }

  /**
   * What this attempt has sent and the code now asks otherwise: `requestHash` is that of the call
   * that stands in its place, undefined when there is none.
   */
  contradiction(seq: number, requestHash: Hash | undefined): Requested | undefined {
    const own = this.#requested?.get(seq)
    if (own !== undefined && own.requestHash !== requestHash && !this.#didNotHappen(seq)) return own
    if (this.earlier?.attempt !== this.attempt) return undefined
    return this.earlier.contradiction(seq, requestHash)
  }

  /** Write-class requests of this attempt, those of dropped parts included. */
  *sent(): Generator<Requested> {
    if (this.#requested !== undefined) yield* this.#requested.values()
    if (this.earlier?.attempt === this.attempt) yield* this.earlier.sent()
  }

  /**
   * A result that the next attempt keeps: the last one in its place, sealed before the first
   * failure of the attempt, or sent outside.
   */
  kept(call: { readonly seq: number; readonly requestHash: Hash }): Kept | undefined {
    for (const past of this.#parts()) {
      const answer = past.recorded.find(call.seq)
      if (answer === undefined) continue
      if (!answer.ok || answer.requestHash !== call.requestHash) return undefined
      const isKept =
        answer.seq < this.#firstFailure() || this.wasSent(answer.seq, answer.requestHash)
      return isKept ? { answer, past } : undefined
    }
    return undefined
  }

  /** Whether a call was given this result, now or in an earlier part or attempt. */
  hasGiven(call: Pick<RecordedResult, 'seq' | 'requestHash' | 'responseHash'>): boolean {
    const answer = this.#recorded?.find(call.seq)
    const isSame =
      answer?.ok === true &&
      answer.requestHash === call.requestHash &&
      answer.responseHash === call.responseHash
    return isSame || (this.earlier?.hasGiven(call) ?? false)
  }

  /** This part of the attempt, and those that were dropped before it, the last first. */
  *#parts(): Generator<Past> {
    yield this
    if (this.earlier?.attempt === this.attempt) yield* this.earlier.#parts()
  }

  /** Number of the call that failed first in the attempt; infinite when none has. */
  #firstFailure(): number {
    const before = this.earlier?.attempt === this.attempt ? this.earlier.#firstFailure() : undefined
    const own = this.#recorded?.firstFailure ?? Number.POSITIVE_INFINITY
    return before === undefined || before === Number.POSITIVE_INFINITY ? own : before
  }

  /**
   * Whether this write-class effect was durably asked for, now or earlier, and may have happened.
   */
  wasSent(seq: number, requestHash: Hash): boolean {
    const own = this.#requested?.get(seq)
    if (own !== undefined && own.requestHash === requestHash) return !this.#didNotHappen(seq)
    return this.earlier?.wasSent(seq, requestHash) ?? false
  }

  /** Whether any write-class effect may have happened (C3). */
  hasSent(): boolean {
    if (this.#requested !== undefined) {
      for (const seq of this.#requested.keys()) if (!this.#didNotHappen(seq)) return true
    }
    return this.earlier?.hasSent() ?? false
  }

  #didNotHappen(seq: number): boolean {
    const sealed = this.recorded.find(seq)
    if (sealed === undefined || sealed.ok) return false
    return (sealed.body as { readonly definite?: boolean } | null)?.definite === true
  }

  /** Results of what was asked for durably: of write class. */
  written(): readonly Sealed[] {
    const requested = this.#requested
    if (requested === undefined || requested.size === 0) return []
    return this.recorded.whole().filter(({ seq }) => requested.has(seq))
  }

  /** Whether an entry cannot be of this part, whose requests are written out before its results. */
  isContradictedBy(entry: Sealed | Requested): boolean {
    const asked = this.#requested?.get(entry.seq)
    if (entry.k === 'requested') return asked !== undefined || this.answers > 0
    if (this.answers > 0 && this.recorded.has(entry.seq)) return true
    return asked !== undefined && asked.requestHash !== entry.requestHash
  }

  /** Whether all of it, and of the attempts before it, is in memory as it was sealed. */
  get isWhole(): boolean {
    return (this.#recorded?.isWhole ?? true) && (this.earlier?.isWhole ?? true)
  }

  /** Entries of this attempt and of those before it, oldest first; all there are of a whole one. */
  entries(): readonly (Sealed | Requested)[] {
    const own = [...(this.#requested?.values() ?? []), ...this.recorded.whole()]
    return [...(this.earlier?.entries() ?? []), ...own]
  }
}

/**
 * Rebuilds what `entries` wrote out. Parts of an attempt are told apart where it matters: where one
 * would overwrite what another has.
 */
export function restorePast(entries: readonly (Sealed | Requested)[]): Past | undefined {
  let past: Past | undefined
  for (const entry of entries) {
    if (past === undefined || past.attempt !== entry.attempt || past.isContradictedBy(entry))
      past = new Past(entry, { earlier: past })
    if (entry.k === 'requested') past.requested.set(entry.seq, entry)
    else past.recorded.add(entry)
  }
  return past
}
