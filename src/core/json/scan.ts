import { assert } from '../errors/assert.js'
import { JSON_DEPTH_MAX } from '../limits.js'

/**
 * Reads canonical JSON (RFC 8785) without making its value: one pass over the bytes of a text says
 * whether it is canonical, and where the members of its outermost object stand.
 *
 * Owns: the bytes of the text that it read last, behind one byte 0. All that it gives is of that
 * text, and good until it reads the next.
 */
export class CanonicalScan {
  #bytes = Buffer.alloc(FIRST_BYTES)
  #copy = Buffer.alloc(0)
  #end = TEXT_AT
  /** Of each member of the outermost object: where name and value begin, where the value ends. */
  #members = new Int32Array(FIRST_MEMBERS * MEMBER_PLACES)
  #count = 0
  #hasDigitName = false
  #hasEscapedName = false
  /** Of each open container: whether it is an object, and where its last name stands. */
  readonly #isObject = new Uint8Array(JSON_DEPTH_MAX)
  readonly #nameFrom = new Int32Array(JSON_DEPTH_MAX)
  readonly #nameTo = new Int32Array(JSON_DEPTH_MAX)

  /** Whether `canonicalize(JSON.parse(text)) === text`; false for text that is no JSON. */
  read(text: string): boolean {
    const length = Buffer.byteLength(text)
    this.#reserve(TEXT_AT + length + 1)
    this.#bytes.write(text, TEXT_AT)
    this.#end = TEXT_AT + length
    // No rule allows this byte, so nothing is read beyond the end.
    this.#bytes[this.#end] = 0
    this.#count = 0
    this.#hasDigitName = false
    this.#hasEscapedName = false
    return (length === text.length || text.isWellFormed()) && this.#document() === this.#end
  }

  /** Whether V8 keeps the order of all names, so that it writes each part canonically. */
  get keepsOrder(): boolean {
    return !this.#hasDigitName
  }

  /** Canonical text of a member of the outermost object, by a name of plain ASCII. */
  member(name: string): string | undefined {
    for (let at = 0; at < this.#count * MEMBER_PLACES; at += MEMBER_PLACES) {
      if (!this.#isNamed(this.#members[at] ?? 0, name)) continue
      return this.#bytes.toString('utf8', this.#members[at + 1], this.#members[at + 2])
    }
    return undefined
  }

  /** Places, in {@link bytes}, of the member with this number in the order of names. */
  place(number: number): MemberPlace {
    assert(number < this.#count, 'a member that is not there is asked for')
    const at = number * MEMBER_PLACES
    const from = (this.#members[at] ?? 0) - 1 - TEXT_AT
    const valueFrom = (this.#members[at + 1] ?? 0) - TEXT_AT
    const to = (this.#members[at + 2] ?? 0) - TEXT_AT
    return { from, valueFrom, to }
  }

  /** The bytes of the text. */
  get bytes(): Buffer {
    return this.#bytes.subarray(TEXT_AT, this.#end)
  }

  /** The bytes of the text behind one byte 0. */
  get bytesBehindZero(): Buffer {
    return this.#bytes.subarray(TEXT_AT - 1, this.#end)
  }

  /**
   * The bytes of the text without some members of its outermost object, in the order of their
   * numbers; the last member cannot be left out.
   */
  bytesWithout(members: readonly number[]): Buffer {
    const { bytes } = this
    if (this.#copy.length < bytes.length) this.#copy = Buffer.alloc(this.#bytes.length)
    let [from, length] = [0, 0]
    for (const member of members) {
      const place = this.place(member)
      length += bytes.copy(this.#copy, length, from, place.from)
      // With the comma, behind a member that is not the last one.
      from = place.to + 1
    }
    length += bytes.copy(this.#copy, length, from)
    return this.#copy.subarray(0, length)
  }

  #reserve(length: number): void {
    const { length: reserved } = this.#bytes
    if (length > reserved || (reserved > KEPT_BYTES_MAX && length <= KEPT_BYTES_MAX)) {
      this.#bytes = Buffer.alloc(Math.max(length, FIRST_BYTES))
    }
  }

  #isNamed(from: number, name: string): boolean {
    const bytes = this.#bytes
    for (let index = 0; index < name.length; index += 1) {
      if (bytes[from + index] !== name.charCodeAt(index)) return false
    }
    return bytes[from + name.length] === QUOTE
  }

  /** Where the outermost value ends; {@link NOWHERE} when it is not canonical. */
  #document(): number {
    const bytes = this.#bytes
    let at = TEXT_AT
    let depth = 0
    for (;;) {
      const first = bytes[at] ?? 0
      if (first === OPEN_OBJECT || first === OPEN_ARRAY) {
        if (depth >= JSON_DEPTH_MAX) return NOWHERE
        at += 1
        if (bytes[at] !== first + CLOSES) {
          this.#isObject[depth] = first === OPEN_OBJECT ? 1 : 0
          this.#nameTo[depth] = NOWHERE
          depth += 1
          if (first === OPEN_OBJECT) at = this.#name(at, depth)
          if (at === NOWHERE) return NOWHERE
          continue
        }
        at += 1
      } else {
        at = first === QUOTE ? this.#string(at) : this.#word(at, first)
        if (at === NOWHERE) return NOWHERE
      }
      // A value ended: so may containers that hold it, unless another value follows.
      for (;;) {
        if (depth === 0) return at
        if (depth === 1) this.#memberEnds(at)
        const isObject = this.#isObject[depth - 1] === 1
        const next = bytes[at]
        at += 1
        if (next === COMMA) {
          if (isObject) at = this.#name(at, depth)
          if (at === NOWHERE) return NOWHERE
          break
        }
        if (next !== (isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) return NOWHERE
        depth -= 1
      }
    }
  }

  /** Where the value begins behind a name, which must come after the name before it. */
  #name(at: number, depth: number): number {
    const bytes = this.#bytes
    if (bytes[at] !== QUOTE) return NOWHERE
    const from = at + 1
    const end = this.#string(at)
    if (end === NOWHERE || bytes[end] !== COLON) return NOWHERE
    const to = end - 1
    const last = depth - 1
    if (isDigit(bytes[from] ?? 0)) this.#hasDigitName = true
    if (!this.#hasEscapedName) this.#hasEscapedName = hasByte(bytes, BACKSLASH, from, to)
    const lastTo = this.#nameTo[last] ?? 0
    if (lastTo !== NOWHERE && !this.#isBefore(this.#nameFrom[last] ?? 0, lastTo, from, to)) {
      return NOWHERE
    }
    this.#nameFrom[last] = from
    this.#nameTo[last] = to
    if (depth === 1) this.#memberBegins(from, end + 1)
    return end + 1
  }

  #memberBegins(nameFrom: number, valueFrom: number): void {
    const at = this.#count * MEMBER_PLACES
    if (at === this.#members.length) {
      const members = new Int32Array(this.#members.length * 2)
      members.set(this.#members)
      this.#members = members
    }
    this.#members[at] = nameFrom
    this.#members[at + 1] = valueFrom
    this.#count += 1
  }

  /** Of an array, too, which has no members. */
  #memberEnds(at: number): void {
    if (this.#count > 0) this.#members[this.#count * MEMBER_PLACES - 1] = at
  }

  /** Whether a name stands before another in the order of UTF-16 code units. */
  #isBefore(oneFrom: number, oneTo: number, otherFrom: number, otherTo: number): boolean {
    const bytes = this.#bytes
    let one = oneFrom
    let other = otherFrom
    while (one < oneTo && other < otherTo && bytes[one] === bytes[other]) {
      one += 1
      other += 1
    }
    if (one === oneTo || other === otherTo) return other < otherTo
    const left = bytes[one] ?? 0
    const right = bytes[other] ?? 0
    // Characters of ASCII that are not escaped have the order of their bytes.
    if (left < ASCII_END && right < ASCII_END && !this.#hasEscapedName) return left < right
    return this.#nameText(oneFrom, oneTo) < this.#nameText(otherFrom, otherTo)
  }

  #nameText(from: number, to: number): string {
    return JSON.parse(this.#bytes.toString('utf8', from - 1, to + 1)) as string
  }

  /** Where a string ends. */
  #string(from: number): number {
    const bytes = this.#bytes
    let at = from + 1
    for (;;) {
      while (standsForItself[bytes[at] ?? 0] === 1) at += 1
      const next = bytes[at]
      if (next === QUOTE) return at + 1
      const length = next === BACKSLASH ? escapeLength(bytes, at) : 0
      if (length === 0) return NOWHERE
      at += length
    }
  }

  /** Where a number or a literal ends. */
  #word(from: number, first: number): number {
    const bytes = this.#bytes
    if (isDigit(first)) {
      let at = from + 1
      while (isDigit(bytes[at] ?? 0)) at += 1
      const isShort = at - from <= SAFE_DIGITS && (first !== ZERO || at === from + 1)
      if (isShort && !isOfNumber(bytes[at] ?? 0)) return at
    }
    if (isOfNumber(first)) return numberEnd(bytes, from)
    for (const literal of literals) {
      if (startsWith(bytes, from, literal)) return from + literal.length
    }
    return NOWHERE
  }
}

/** Places of a member of an object, without the comma before it or behind it. */
export interface MemberPlace {
  readonly from: number
  readonly valueFrom: number
  readonly to: number
}

const FIRST_BYTES = 16 * 1024
/** Longer texts get bytes of their own. */
const KEPT_BYTES_MAX = 1024 * 1024
/** Where texts stand in the bytes. */
const TEXT_AT = 1
const FIRST_MEMBERS = 32
const MEMBER_PLACES = 3
const NOWHERE = -1
/** Integers with so many digits are written as they are read. */
const SAFE_DIGITS = 15
const ASCII_END = 0x80

const QUOTE = 0x22
const COMMA = 0x2c
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
/** From an opening bracket to the one that closes it. */
const CLOSES = 2

const literals = ['true', 'false', 'null'].map((text) => Buffer.from(text))

/** 1 for bytes that stand in a string as they are; all of characters beyond ASCII do. */
const standsForItself = new Uint8Array(256).fill(1, 0x20)
standsForItself[QUOTE] = 0
standsForItself[BACKSLASH] = 0

/** 1 for bytes that a backslash may stand before. */
const shortEscapes = new Uint8Array(256)
for (const byte of Buffer.from('"\\bfnrt')) shortEscapes[byte] = 1
/** Control characters that have no short escape. */
const longEscape = /^\\u00(?:0[0-7be-f]|1[0-9a-f])/
const LONG_ESCAPE_BYTES = 6

/** Bytes of an escape; 0 for one that canonical JSON does not have. */
function escapeLength(bytes: Buffer, at: number): number {
  if (shortEscapes[bytes[at + 1] ?? 0] === 1) return 2
  const text = bytes.toString('latin1', at, at + LONG_ESCAPE_BYTES)
  return longEscape.test(text) ? LONG_ESCAPE_BYTES : 0
}

/** Where a number ends that is written as ECMAScript writes it. */
function numberEnd(bytes: Buffer, from: number): number {
  let at = from
  while (isOfNumber(bytes[at] ?? 0)) at += 1
  const text = bytes.toString('latin1', from, at)
  const value = Number(text)
  return Number.isFinite(value) && String(value) === text ? at : NOWHERE
}

function startsWith(bytes: Buffer, from: number, literal: Buffer): boolean {
  for (let index = 0; index < literal.length; index += 1) {
    if (bytes[from + index] !== literal[index]) return false
  }
  return true
}

function hasByte(bytes: Buffer, byte: number, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if (bytes[at] === byte) return true
  return false
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE
}

/** Digits, signs, points and exponents. */
function isOfNumber(byte: number): boolean {
  return isDigit(byte) || byte === 0x2b || byte === 0x2d || byte === 0x2e || (byte | 0x20) === 0x65
}
