import { assert, canonicalizeOwn, type Hash, type Json, limits } from '../../core/index.js'
import type { Sealed } from './entries.js'
import type { SealedReference } from './journal.js'

/** An answer in recorded results. Without `body` it has to be read back from the journal. */
export interface RecordedResult {
  readonly seq: number
  readonly effect: string
  readonly requestHash: Hash
  readonly ok: boolean
  readonly body: Json | undefined
  /** When it was sealed; absent of a folded one. */
  readonly at?: number
  /** Of an answer without its body. */
  readonly responseHash?: Hash
}

/** Seals a body again: the hash that the receipt names. */
export type SealAgain = (seq: number, bodyText: string) => Hash

const COLUMNS = 4
const HASH_BYTES = 32
const LOST_BYTES = HASH_BYTES + 4
/** Marks the place of an entry that stays whole, and of a body that is not kept. */
const WHOLE = 0xffff
const LOST = 0x8000

/**
 * The answers of long recorded results in delivery order, in a few bytes each.
 *
 * Owns: for each answer its call, and either one of a few short bodies, which polls give again and
 * again, or the hash that the receipt will name. Does not own: other bodies; the journal has them.
 *
 * - 8 bytes an answer, 36 more where the body is not kept, 32 more for a request that is not one of
 *   the first few.
 * - What a seal hashes is its unit, its number and its body: with the body it can be made again.
 */
export class FoldedAnswers {
  #rows = new Uint16Array(COLUMNS * limits.RECORDED_ANSWERS_MAX * 2)
  #length = 0
  #lost = 0
  readonly #effects: { readonly effect: string; readonly ok: boolean }[] = []
  readonly #requests = new Pool(HASH_BYTES)
  readonly #lostBodies = new Pool(LOST_BYTES)
  /** The first few are as many as polls have: they are found, and given as they are. */
  readonly #firstRequests: Hash[] = []
  readonly #bodies = new Map<string, number>()
  readonly #texts: { readonly text: string; readonly bytes: number }[] = []
  readonly #whole = new Map<number, Sealed>()
  /** Where the last search ended: the next one begins behind it. */
  #hint = 0

  get length(): number {
    return this.#length
  }

  /** Answers whose bodies are only in the journal. */
  get lost(): number {
    return this.#lost
  }

  /** Entries that stay as they are, in delivery order. */
  get whole(): readonly Sealed[] {
    return [...this.#whole.values()]
  }

  /** Objects that are held for all the answers together. */
  get held(): number {
    return this.#whole.size + this.#texts.length + this.#effects.length + this.#firstRequests.length
  }

  keep(entry: Sealed): void {
    this.#whole.set(this.#length, entry)
    this.#push([entry.seq, 0, 0, WHOLE])
  }

  fold({ seq, effect, requestHash, ok, body, responseHash }: Sealed): void {
    const text = canonicalizeOwn(body)
    const known = this.#bodyOf(text)
    const lost = () => {
      const bytes = Buffer.alloc(LOST_BYTES)
      bytes.write(responseHash, 'hex')
      bytes.writeUInt32BE(Buffer.byteLength(text), HASH_BYTES)
      return bytes
    }
    this.#add({ seq, effect, requestHash, ok }, known ?? lost())
  }

  /** Takes an answer over from other recorded results. */
  take(from: FoldedAnswers, row: number): void {
    const [seq = 0, , , body = 0] = from.#row(row)
    const whole = from.#whole.get(row)
    if (whole !== undefined) return this.keep(whole)
    const call = { seq, ...from.#callAt(row) }
    if (body >= LOST) return this.#add(call, from.#lostBodies.at(body - LOST))
    const { text = '' } = from.#texts[body] ?? {}
    const known = this.#bodyOf(text)
    assert(known !== undefined, 'a part of the recorded results has no more bodies than the whole')
    this.#add(call, known)
  }

  #add(
    { seq, effect, requestHash, ok }: Pick<Sealed, 'seq' | 'effect' | 'requestHash' | 'ok'>,
    body: number | Uint8Array
  ): void {
    if (typeof body !== 'number') this.#lost += 1
    const answer = typeof body === 'number' ? body : LOST + this.#lostBodies.add(body)
    this.#push([seq, this.#effectOf(effect, ok), this.#requestOf(requestHash), answer])
  }

  #push(row: readonly number[]): void {
    assert(
      row.every((value) => value <= WHOLE),
      'the calls of an attempt can be counted in 16 bits'
    )
    const at = this.#length * COLUMNS
    if (at === this.#rows.length) {
      const rows = new Uint16Array(this.#rows.length + grownBy(this.#rows.length, COLUMNS))
      rows.set(this.#rows)
      this.#rows = rows
    }
    this.#rows.set(row, at)
    this.#length += 1
  }

  #row(row: number): Uint16Array {
    return this.#rows.subarray(row * COLUMNS, (row + 1) * COLUMNS)
  }

  #effectOf(effect: string, ok: boolean): number {
    const known = this.#effects.findIndex((one) => one.effect === effect && one.ok === ok)
    return known >= 0 ? known : this.#effects.push({ effect, ok }) - 1
  }

  #requestOf(hash: Hash): number {
    const known = this.#firstRequests.indexOf(hash)
    if (known >= 0) return known
    if (this.#firstRequests.length < limits.RECORDED_BODIES_MAX) this.#firstRequests.push(hash)
    return this.#requests.add(Buffer.from(hash, 'hex'))
  }

  /** Where a body is kept; undefined when it is too long, or others were there first. */
  #bodyOf(text: string): number | undefined {
    const known = this.#bodies.get(text)
    if (known !== undefined) return known
    const isTooMuch = this.#texts.length >= limits.RECORDED_BODIES_MAX
    if (isTooMuch || text.length > limits.RECORDED_BODY_LENGTH_MAX) return undefined
    const place = this.#texts.push({ text, bytes: Buffer.byteLength(text) }) - 1
    this.#bodies.set(text, place)
    return place
  }

  seqAt(row: number): number {
    return this.#row(row)[0] ?? 0
  }

  at(row: number): RecordedResult {
    const whole = this.#whole.get(row)
    if (whole !== undefined) return whole
    const [seq = 0, , , body = 0] = this.#row(row)
    const call = { seq, ...this.#callAt(row) }
    if (body < LOST) return { ...call, body: JSON.parse(this.#texts[body]?.text ?? '') as Json }
    return { ...call, body: undefined, responseHash: this.#lostBodies.hashAt(body - LOST) }
  }

  #callAt(row: number): Pick<Sealed, 'effect' | 'requestHash' | 'ok'> {
    const [, effect = 0, request = 0] = this.#row(row)
    const named = this.#effects[effect]
    assert(named !== undefined, 'a folded answer has its effect')
    const requestHash = this.#firstRequests[request] ?? this.#requests.hashAt(request)
    return { ...named, requestHash }
  }

  /** Where the answer to a call is, or -1. Quick for questions in delivery order. */
  find(seq: number): number {
    for (let looked = 0; looked < this.#length; looked += 1) {
      const row = (this.#hint + looked) % this.#length
      if (this.#rows[row * COLUMNS] !== seq) continue
      this.#hint = row + 1
      return row
    }
    return -1
  }

  /** Puts another entry in the place of one that stays whole. */
  replace(row: number, entry: Sealed): void {
    assert(this.#whole.has(row), 'only a listing is asked for again, and listings stay whole')
    this.#whole.set(row, entry)
  }

  /** What a receipt says of an answer. */
  reference(row: number, seal: SealAgain): SealedReference {
    const whole = this.#whole.get(row)
    if (whole !== undefined) return referenceTo(whole)
    const [seq = 0, , , body = 0] = this.#row(row)
    const { effect, requestHash } = this.#callAt(row)
    if (body >= LOST) {
      const responseHash = this.#lostBodies.hashAt(body - LOST)
      const bytes = this.#lostBodies.numberAt(body - LOST)
      return { seq, effect, requestHash, responseHash, bytes }
    }
    const { text = '', bytes = 0 } = this.#texts[body] ?? {}
    return { seq, effect, requestHash, responseHash: seal(seq, text), bytes }
  }

  /** Whether an answer to this effect is among them. */
  hasEffect(effect: string): boolean {
    if (this.#effects.some((one) => one.effect === effect)) return true
    return this.whole.some((entry) => entry.effect === effect)
  }
}

/** What a receipt says of an entry. */
export function referenceTo(entry: Sealed): SealedReference {
  const { seq, effect, requestHash, responseHash, body } = entry
  const bytes = Buffer.byteLength(JSON.stringify(body))
  return { seq, effect, requestHash, responseHash, bytes }
}

/** Records of one size, one behind the other. */
class Pool {
  readonly #size: number
  #bytes: Buffer
  #length = 0

  constructor(size: number) {
    this.#size = size
    this.#bytes = Buffer.alloc(0)
  }

  add(record: Uint8Array): number {
    const at = this.#length * this.#size
    if (at === this.#bytes.length) {
      const bytes = Buffer.alloc(at + grownBy(at, this.#size))
      bytes.set(this.#bytes)
      this.#bytes = bytes
    }
    this.#bytes.set(record, at)
    this.#length += 1
    return this.#length - 1
  }

  at(place: number): Uint8Array {
    return this.#bytes.subarray(place * this.#size, (place + 1) * this.#size)
  }

  /** The hash with which a record begins. */
  hashAt(place: number): Hash {
    const from = place * this.#size
    return this.#bytes.toString('hex', from, from + HASH_BYTES) as Hash
  }

  /** The number behind the hash. */
  numberAt(place: number): number {
    return this.#bytes.readUInt32BE(place * this.#size + HASH_BYTES)
  }
}

/** Growing by an eighth: what is not used yet must not outweigh what is. */
function grownBy(length: number, size: number): number {
  return size * Math.max(2, Math.ceil(length / size / 8))
}
