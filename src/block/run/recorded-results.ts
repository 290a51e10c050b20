import { builtInEffects } from '../../code/index.js'
import { isJsonObject, type Json, limits } from '../../core/index.js'
import type { Sealed } from './entries.js'
import {
  FoldedAnswers,
  type RecordedResult,
  referenceTo,
  type SealAgain
} from './folded-answers.js'
import type { SealedReference } from './journal.js'

/**
 * What was sealed for one attempt, in delivery order.
 *
 * Owns: the answers, as they are while they are few, folded from then on. Does not own: the
 * journal, which has them all; a process that runs the code again reads back what folded ones lack.
 *
 * - What is recorded in memory does not grow with the bodies of its answers (decision 0032).
 * - K9 code that continues needs none of them; code that runs again is given the same ones.
 * - Confirmations, listings (which are asked for again, L10) and writes stay as they are.
 */
export class RecordedResults {
  /** Entries that stay whole besides those that are special for every attempt. */
  readonly #staysWhole: (entry: Sealed) => boolean
  /** All of them, until there are too many. */
  #entries: Sealed[] = []
  #folded: FoldedAnswers | undefined
  #firstEntry: number | undefined
  #lastSeq = 0
  #firstFailure = Number.POSITIVE_INFINITY
  #told: Sealed | undefined

  constructor(staysWhole: (entry: Sealed) => boolean) {
    this.#staysWhole = staysWhole
  }

  get length(): number {
    return this.#folded?.length ?? this.#entries.length
  }

  /** Whether it has answers to calls of the code: number 0 is the node's own confirmation. */
  get hasCalls(): boolean {
    return this.#lastSeq > 0
  }

  /** Whether all of it is in memory as it was sealed. */
  get isWhole(): boolean {
    return this.#folded === undefined
  }

  /** Answers that have to be read back from the journal. */
  get lost(): number {
    return this.#folded?.lost ?? 0
  }

  /** How many objects it holds for its answers. */
  get held(): number {
    return this.#folded?.held ?? this.#entries.length
  }

  /** Number of its first entry in the journal. */
  get firstEntry(): number {
    return this.#firstEntry ?? 0
  }

  /** Number of the call that failed first; infinite when none has. */
  get firstFailure(): number {
    return this.#firstFailure
  }

  /** The last message that one of its waits was given; it stays whole, too. */
  get told(): Sealed | undefined {
    return this.#told
  }

  /** Adds an answer; a listing that was asked for again stays in its place. */
  add(entry: Sealed): void {
    this.#firstEntry ??= entry.n
    if (!entry.ok && this.#firstFailure === Number.POSITIVE_INFINITY) this.#firstFailure = entry.seq
    if (entry.effect === builtInEffects.wait && isMessage(entry.body)) this.#told = entry
    const known = this.#find(entry.seq)
    this.#lastSeq = Math.max(this.#lastSeq, entry.seq)
    if (known >= 0) this.#replace(known, entry)
    else if (this.#folded !== undefined) this.#fold(this.#folded, entry)
    else {
      this.#entries.push(entry)
      if (this.#entries.length > limits.RECORDED_ANSWERS_MAX) this.#foldAll()
    }
  }

  #replace(place: number, entry: Sealed): void {
    if (this.#folded === undefined) this.#entries[place] = entry
    else this.#folded.replace(place, entry)
  }

  #foldAll(): void {
    const folded = new FoldedAnswers()
    for (const entry of this.#entries) this.#fold(folded, entry)
    this.#folded = folded
    this.#entries = []
  }

  #fold(folded: FoldedAnswers, entry: Sealed): void {
    const { seq, effect, undo } = entry
    const isSpecial = seq === 0 || effect === builtInEffects.list || undo !== undefined
    if (isSpecial || this.#staysWhole(entry)) folded.keep(entry)
    else folded.fold(entry)
  }

  #find(seq: number): number {
    if (seq > this.#lastSeq) return -1
    if (this.#folded !== undefined) return this.#folded.find(seq)
    return this.#entries.findIndex((entry) => entry.seq === seq)
  }

  has(seq: number): boolean {
    return this.#find(seq) >= 0
  }

  /** The answer to a call. */
  find(seq: number): RecordedResult | undefined {
    const place = this.#find(seq)
    return place < 0 ? undefined : this.at(place)
  }

  at(place: number): RecordedResult | undefined {
    if (this.#folded === undefined) return this.#entries[place]
    return place < this.#folded.length ? this.#folded.at(place) : undefined
  }

  /** The next few answers, from that to a call on, whose bodies are only in the journal. */
  lostFrom(seq: number, count: number): RecordedResult[] {
    const lost: RecordedResult[] = []
    for (let place = Math.max(0, this.#find(seq)); place < this.length; place += 1) {
      const answer = this.at(place)
      if (answer !== undefined && answer.body === undefined) lost.push(answer)
      if (lost.length === count) break
    }
    return lost
  }

  /** Numbers of the calls that are answered from a place on. */
  seqsFrom(place: number): readonly number[] {
    const folded = this.#folded
    if (folded === undefined) return this.#entries.slice(place).map(({ seq }) => seq)
    return Array.from({ length: folded.length - place }, (_, at) => folded.seqAt(place + at))
  }

  /** Entries that it holds as they were sealed: all of few, special ones of many. */
  whole(): readonly Sealed[] {
    return this.#folded?.whole ?? this.#entries
  }

  hasEffect(effect: string): boolean {
    if (this.#folded !== undefined) return this.#folded.hasEffect(effect)
    return this.#entries.some((entry) => entry.effect === effect)
  }

  /** What a receipt says of the answers. */
  references(seal: SealAgain): readonly SealedReference[] {
    const folded = this.#folded
    if (folded === undefined) return this.#entries.map(referenceTo)
    return Array.from({ length: folded.length }, (_, row) => folded.reference(row, seal))
  }

  /** Splits the answers in two. */
  part(isFirst: (seq: number) => boolean, first: RecordedResults, second: RecordedResults): void {
    if (this.#folded === undefined) {
      for (const entry of this.#entries) (isFirst(entry.seq) ? first : second).add(entry)
      return
    }
    const told = this.#told
    if (told !== undefined) (isFirst(told.seq) ? first : second).#told = told
    for (let row = 0; row < this.#folded.length; row += 1) {
      const to = isFirst(this.#folded.seqAt(row)) ? first : second
      to.#take(this.#folded, row, this.firstEntry)
    }
  }

  #take(from: FoldedAnswers, row: number, firstEntry: number): void {
    this.#folded ??= new FoldedAnswers()
    this.#folded.take(from, row)
    this.#firstEntry = firstEntry
    const { seq, ok } = from.at(row)
    this.#lastSeq = Math.max(this.#lastSeq, seq)
    if (!ok && this.#firstFailure === Number.POSITIVE_INFINITY) this.#firstFailure = seq
  }
}

/** Whether a wait was given a value, and not only an approval or the end of its time. */
function isMessage(body: Json): boolean {
  return isJsonObject(body) && body['action'] === 'resume'
}
