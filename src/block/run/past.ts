import { type Hash, isJsonObject, type Json } from '../../core/index.js'
import type { Requested, Sealed } from './entries.js'
import type { RecordedResult } from './folded-answers.js'
import { RecordedResults } from './recorded-results.js'

/** A result that a later attempt keeps, and where it is. */
export interface Kept {
  readonly answer: RecordedResult
  readonly past: Past
}

/** One part of an attempt, to be restored elsewhere. */
export interface SavedPart {
  readonly step: number
  readonly attempt: number
  /** False: what it did outside is not stated (`rewound` of the journal). Absent: it is. */
  readonly isStated?: false
  /** Requests first, then results in delivery order. */
  readonly entries: readonly (Sealed | Requested)[]
}

/** What an attempt has done outside. */
export interface DoneOutside {
  /** Results of its writes, in delivery order. */
  readonly written: readonly Sealed[]
  /** Writes without a result. */
  readonly unanswered: readonly Requested[]
}

/**
 * What was sealed and asked for in one attempt of a step, and in the attempts before it. A later
 * attempt must not act again where an earlier one has acted (L7), so this outlives its attempt.
 * Where results are dropped (L10), an attempt has several parts, each the `earlier` of the next.
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
  /** Whether evidence states what this part has done outside. */
  readonly #isStated: boolean

  constructor(
    place: { readonly step: number; readonly attempt: number },
    {
      earlier,
      keepsAll = false,
      isStated = true
    }: {
      readonly earlier?: Past | undefined
      readonly keepsAll?: boolean
      readonly isStated?: boolean
    } = {}
  ) {
    this.step = place.step
    this.attempt = place.attempt
    this.earlier = earlier
    this.#keepsAll = keepsAll
    this.#isStated = isStated
  }

  /** What was sealed, in delivery order. */
  get recorded(): RecordedResults {
    this.#recorded ??= new RecordedResults(({ seq }) => this.#keepsAll || this.hasSentAs(seq))
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

  /** Whether a write was asked for under this number, in this part or in a dropped one. */
  hasSentAs(seq: number): boolean {
    if (this.isRequested(seq)) return true
    return this.earlier?.attempt === this.attempt && this.earlier.hasSentAs(seq)
  }

  /**
   * The same without some results: those become an earlier part of the attempt, where they can
   * still be found by what asks for the same, and where what was sent stays sent. `isStated`:
   * whether evidence states the writes among them.
   */
  without(seqs: readonly number[], { isStated }: { readonly isStated: boolean }): Past {
    const keepsAll = this.#keepsAll
    const dropped = new Past(this, { earlier: this.earlier, keepsAll, isStated })
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

  /** Answers to the writes that this part has sent, in the order in which it did. */
  *answersSent(): Generator<Kept> {
    if (this.#requested === undefined) return
    const answers = new Map<number, Sealed>()
    // What was sent stays whole.
    for (const answer of this.recorded.whole()) if (answer.ok) answers.set(answer.seq, answer)
    for (const { seq, requestHash } of this.#requested.values()) {
      const answer = answers.get(seq)
      if (answer?.requestHash === requestHash) yield { answer, past: this }
    }
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

  /** The value of the last message that a wait of it was given; undefined: none was. */
  told(): Json | undefined {
    const { body = null } = this.#recorded?.told ?? {}
    return isJsonObject(body) ? body['value'] : this.earlier?.told()
  }

  #didNotHappen(seq: number): boolean {
    const sealed = this.recorded.find(seq)
    if (sealed === undefined || sealed.ok) return false
    return (sealed.body as { readonly definite?: boolean } | null)?.definite === true
  }

  /** What the attempt has done outside, dropped parts included. */
  outside(): DoneOutside {
    const open = new Map<string, Requested>()
    const written: Sealed[] = []
    for (const part of this.#stated()) {
      for (const asked of part.#requested?.values() ?? []) open.set(callName(asked), asked)
      if (open.size === 0) continue
      for (const answer of part.recorded.whole())
        if (open.delete(callName(answer))) written.push(answer)
    }
    return { written, unanswered: [...open.values()] }
  }

  /** Keys of the writes that the attempt has asked for. */
  keys(): ReadonlySet<unknown> {
    const requests = this.#stated().flatMap((part) => [...(part.#requested?.values() ?? [])])
    return new Set(requests.map(({ key }) => key))
  }

  /** Parts of the attempt that evidence states, the oldest first. */
  #stated(): readonly Past[] {
    return [...this.#parts()].filter((part) => part.#isStated).reverse()
  }

  /** Whether all of it, and of the attempts before it, is in memory as it was sealed. */
  get isWhole(): boolean {
    return (this.#recorded?.isWhole ?? true) && (this.earlier?.isWhole ?? true)
  }

  /** Parts of this attempt and of those before it, oldest first; all there is of a whole one. */
  saved(): readonly SavedPart[] {
    const { step, attempt } = this
    const entries = [...(this.#requested?.values() ?? []), ...this.recorded.whole()]
    const own = { step, attempt, entries, ...(this.#isStated ? {} : { isStated: false as const }) }
    return [...(this.earlier?.saved() ?? []), own]
  }
}

/** Rebuilds what was saved, part by part; undefined of nothing. */
export function restorePast(parts: readonly SavedPart[]): Past | undefined {
  let past: Past | undefined
  for (const part of parts) {
    past = new Past(part, { earlier: past, isStated: part.isStated !== false })
    for (const entry of part.entries) {
      if (entry.k === 'requested') past.requested.set(entry.seq, entry)
      else past.recorded.add(entry)
    }
  }
  return past
}

function callName({ seq, requestHash }: Pick<Sealed, 'seq' | 'requestHash'>): string {
  return `${seq} ${requestHash}`
}
