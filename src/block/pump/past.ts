import type { Hash } from '../../core/index.js'
import type { Requested, Sealed } from './entries.js'

/**
 * What was sealed and asked for in one attempt of a step, and in the attempts before it. A later
 * attempt must not act again where an earlier one has acted (L7), so this outlives its attempt.
 */
export class Past {
  /** Sealed entries in delivery order. */
  readonly tape: Sealed[] = []
  #requested: Map<number, Requested> | undefined
  readonly earlier: Past | undefined
  readonly step: number
  readonly attempt: number

  constructor(place: { readonly step: number; readonly attempt: number }, earlier?: Past) {
    this.step = place.step
    this.attempt = place.attempt
    this.earlier = earlier
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
    const dropped = new Past(this, this.earlier)
    const rest = new Past(this, dropped)
    for (const entry of this.tape) (seqs.includes(entry.seq) ? dropped : rest).tape.push(entry)
    for (const [seq, entry] of this.#requested ?? []) {
      ;(seqs.includes(seq) ? dropped : rest).requested.set(seq, entry)
    }
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

  /** A result that the next attempt keeps: sealed before the first failure, or sent outside. */
  kept(call: { readonly seq: number; readonly requestHash: Hash }): Sealed | undefined {
    const failedAt = this.tape.find((entry) => !entry.ok)?.seq ?? Number.POSITIVE_INFINITY
    const entry = this.tape.find(
      (sealed) => sealed.ok && sealed.seq === call.seq && sealed.requestHash === call.requestHash
    )
    if (entry === undefined) return undefined
    const isKept = entry.seq < failedAt || this.wasSent(entry.seq, entry.requestHash)
    return isKept ? entry : undefined
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
    const sealed = this.tape.find((entry) => entry.seq === seq)
    if (sealed === undefined || sealed.ok) return false
    return (sealed.body as { readonly definite?: boolean } | null)?.definite === true
  }

  /** Entries of this attempt and of those before it, oldest first. */
  entries(): readonly (Sealed | Requested)[] {
    const own = [...(this.#requested?.values() ?? []), ...this.tape].sort((a, b) => a.n - b.n)
    return [...(this.earlier?.entries() ?? []), ...own]
  }
}

/** Rebuilds what `entries` wrote out. */
export function restorePast(entries: readonly (Sealed | Requested)[]): Past | undefined {
  let past: Past | undefined
  for (const entry of entries) {
    if (past === undefined || past.attempt !== entry.attempt) past = new Past(entry, past)
    if (entry.k === 'requested') past.requested.set(entry.seq, entry)
    else past.tape.push(entry)
  }
  return past
}
