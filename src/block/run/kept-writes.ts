import type { Hash } from '../../core/index.js'
import type { Kept, Past } from './past.js'

/**
 * Which answers of earlier attempts the writes of one attempt are given.
 *
 * Owns: an index of those answers, made once, and which calls have been given one. Does not own:
 * the attempts. Each answer of this attempt is looked at once, so that a retry costs as much as its
 * calls are many.
 *
 * L7: a write that an earlier attempt has sent is not sent again.
 */
export class KeptWrites {
  readonly #past: Past
  /** Answers to what earlier attempts have sent, in the order in which they did. */
  #sent: ReadonlyMap<Hash, readonly Kept[]> | undefined
  /** Calls of this attempt that are given an answer to the same write without having sent it. */
  readonly #given = new Map<Hash, Set<number>>()
  /** What calls are given that are not in the journal yet. */
  readonly #claims = new Map<number, Kept>()
  /** How many answers of this attempt were looked at. */
  #looked = 0

  constructor(past: Past) {
    this.#past = past
  }

  /**
   * What earlier attempts were answered for a write: the first asking gets the first answer, the
   * next one the next, whatever their numbers are. With more or fewer calls before it, or an
   * attempt between that did not get so far, it is the same write, and is not sent again; and a
   * write that is asked for twice is not taken for one that was sent once.
   */
  take(call: { readonly seq: number; readonly requestHash: Hash }): Kept | undefined {
    const claimed = this.#claims.get(call.seq)
    if (claimed?.answer.requestHash === call.requestHash) return claimed
    this.#withdraw(call.seq)
    const kept = this.#keptFor(call)
    if (kept === undefined) return undefined
    // Until it is in the journal, only this says that it has been given.
    this.#claims.set(call.seq, kept)
    this.#give(call.seq, call.requestHash)
    return kept
  }

  #keptFor(call: { readonly seq: number; readonly requestHash: Hash }): Kept | undefined {
    const past = this.#past
    const inPlace = past.earlier?.kept(call)
    const isOwn = inPlace?.past.attempt === past.attempt && past.hasSentAs(call.seq)
    if (isOwn) return inPlace
    const sent = this.#sentAs(call.requestHash)
    if (sent === undefined) return inPlace
    this.#look()
    return sent[this.#given.get(call.requestHash)?.size ?? 0]
  }

  #sentAs(requestHash: Hash): readonly Kept[] | undefined {
    this.#sent ??= sentBefore(this.#past)
    return this.#sent.get(requestHash)
  }

  /** Looks at the answers that have been added: what was claimed is among them. */
  #look(): void {
    const { recorded } = this.#past
    for (; this.#looked < recorded.length; this.#looked += 1) {
      const answer = recorded.at(this.#looked)
      if (answer === undefined) continue
      const { seq, requestHash, ok } = answer
      this.#withdraw(seq)
      if (ok && !this.#past.isRequested(seq)) this.#give(seq, requestHash)
    }
  }

  #withdraw(seq: number): void {
    const claimed = this.#claims.get(seq)
    if (claimed === undefined) return
    this.#claims.delete(seq)
    this.#given.get(claimed.answer.requestHash)?.delete(seq)
  }

  /** Reads are not written down: there may be many, and none is asked about. */
  #give(seq: number, requestHash: Hash): void {
    if (this.#sentAs(requestHash) === undefined) return
    const given = this.#given.get(requestHash)
    if (given === undefined) this.#given.set(requestHash, new Set([seq]))
    else given.add(seq)
  }
}

function sentBefore(past: Past): ReadonlyMap<Hash, readonly Kept[]> {
  const parts: Past[] = []
  for (let part = past.earlier; part !== undefined; part = part.earlier) {
    if (part.attempt !== past.attempt) parts.push(part)
  }
  const sent = new Map<Hash, Kept[]>()
  for (const part of parts.reverse()) {
    for (const kept of part.answersSent()) {
      const { requestHash } = kept.answer
      const same = sent.get(requestHash)
      if (same === undefined) sent.set(requestHash, [kept])
      else same.push(kept)
    }
  }
  return sent
}
