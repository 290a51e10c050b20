import { atOnce, type Pieces } from '../document/pieces.js'
import {
  inTurns,
  isSliceFull,
  passSteps,
  STEPS_OF_CONTAINER,
  STEPS_OF_SCALAR
} from '../document/work.js'
import { coreError } from '../errors/error.js'
import { JSON_DEPTH_MAX } from '../limits.js'
import { type Json, setOwn } from './value.js'

/**
 * Strict JSON reader for text that comes from outside (formats.md §1). On top of RFC 8259 it
 * refuses duplicate keys, a byte-order mark, lone surrogates, integers that a double cannot hold
 * exactly, overflow, and depth over the limit. Throws `core.malformed_json` with the offset.
 */
export function parse(text: string): Json {
  return atOnce(reading(text))
}

/** {@link parse} with turns of the event loop between the parts of a long text. */
export async function parseInTurns(text: string): Promise<Json> {
  return text.length <= PARSED_AT_ONCE_LENGTH ? parse(text) : inTurns(reading(text))
}

const PARSED_AT_ONCE_LENGTH = 64 * 1024

/** Takes each key, and each value where it ends, in the order of the text. */
export interface JsonWatch {
  key(key: string, offset: number): void
  /** `offset` is that of the key or item; strings begin behind their quote. */
  value(value: Json, offset: number): void
}

/** {@link parse} in pieces: other work may be done wherever it yields. */
export function reading(text: string, watch?: JsonWatch): Pieces<Json> {
  return new Reader(text, watch).document()
}

const number = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y
const plainRun = /[ !#-[\]-\u{10ffff}]*/uy
const escapedRun = /(?:[ !#-[\]-\u{10ffff}]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})){1,1024}/uy
/** Strings with fewer are read as fast one by one. */
const ESCAPES_ONE_BY_ONE = 32
/** Characters that JSON escapes by one letter behind a backslash, by the letter. */
export const escapedBy: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t'
}

/** A container whose members are being read. */
interface Open {
  readonly array: Json[] | undefined
  readonly object: Record<string, Json> | undefined
  /** Where the container itself, or its key, stands. */
  readonly offset: number
  /** Of the member whose value comes next. */
  key: string
  keyOffset: number
}

class Reader {
  readonly #text: string
  readonly #watch: JsonWatch | undefined
  readonly #open: Open[] = []
  #at = 0

  constructor(text: string, watch: JsonWatch | undefined) {
    this.#text = text
    this.#watch = watch
  }

  *document(): Pieces<Json> {
    if (this.#text.charCodeAt(0) === 0xfeff) this.#fail('it begins with a byte-order mark')
    for (;;) {
      this.#space()
      const parent = this.#open.at(-1)
      const offset = parent?.object === undefined ? this.#offset() : parent.keyOffset
      const char = this.#text[this.#at]
      const value =
        char === '{' || char === '[' ? this.#begin(char, offset) : this.#scalar(char, offset)
      if (isSliceFull()) yield
      if (value === undefined) continue
      const root = this.#attach(value)
      if (root !== undefined) return root
    }
  }

  /** Opens a container; gives it when it is empty. */
  #begin(char: '{' | '[', offset: number): Json | undefined {
    if (this.#open.length >= JSON_DEPTH_MAX) {
      this.#fail(`it is nested deeper than ${JSON_DEPTH_MAX} levels`)
    }
    this.#at += 1
    this.#space()
    const value = char === '{' ? {} : []
    if (this.#take(char === '{' ? '}' : ']')) {
      this.#ended(value, offset)
      return value
    }
    const array = Array.isArray(value) ? value : undefined
    const object = Array.isArray(value) ? undefined : value
    this.#open.push({ array, object, offset, key: '', keyOffset: 0 })
    this.#key()
    return undefined
  }

  /** Puts a value where it belongs, and ends what it is the last of; gives an ended root. */
  #attach(value: Json): Json | undefined {
    let ended = value
    for (let open = this.#open.at(-1); open !== undefined; open = this.#open.at(-1)) {
      if (open.object === undefined) open.array?.push(ended)
      else setOwn(open.object, open.key, ended)
      this.#space()
      if (this.#take(',')) {
        this.#key()
        return undefined
      }
      const close = open.object === undefined ? ']' : '}'
      if (!this.#take(close)) this.#fail(`"," or "${close}" expected`)
      ended = open.object ?? open.array ?? null
      this.#open.pop()
      this.#ended(ended, open.offset)
    }
    this.#space()
    if (this.#at < this.#text.length) this.#fail('there is text after the value')
    return ended
  }

  /** Reads the key of the next member; an item of a list has none. */
  #key(): void {
    const open = this.#open.at(-1)
    if (open?.object === undefined) return
    this.#space()
    if (this.#text[this.#at] !== '"') this.#fail('a key must be a string')
    open.keyOffset = this.#offset()
    open.key = this.#string()
    if (Object.hasOwn(open.object, open.key)) {
      this.#fail(`the key ${JSON.stringify(open.key)} stands twice`)
    }
    this.#watch?.key(open.key, open.keyOffset)
    this.#space()
    if (!this.#take(':')) this.#fail('":" expected')
  }

  #ended(value: Json, offset: number): void {
    const isContainer = typeof value === 'object' && value !== null
    passSteps(isContainer ? STEPS_OF_CONTAINER : STEPS_OF_SCALAR)
    this.#watch?.value(value, offset)
  }

  #offset(): number {
    return this.#text[this.#at] === '"' ? this.#at + 1 : this.#at
  }

  #scalar(char: string | undefined, offset: number): Json {
    const value = this.#scalarAt(char)
    this.#ended(value, offset)
    return value
  }

  #scalarAt(char: string | undefined): Json {
    if (char === '"') return this.#string()
    if (char === 't') return this.#word('true', true)
    if (char === 'f') return this.#word('false', false)
    if (char === 'n') return this.#word('null', null)
    return this.#number()
  }

  #string(): string {
    const start = this.#at
    this.#at += 1
    let value = ''
    for (let escapes = 0; ; escapes += 1) {
      if (escapes === ESCAPES_ONE_BY_ONE) value += this.#manyEscapes()
      // Escapes stand side by side where there are many.
      if (this.#text[this.#at] !== '\\') value += this.#plainRun()
      const char = this.#text[this.#at]
      if (char === '"') break
      if (char === undefined) this.#fail('the string does not end')
      if (char !== '\\') this.#fail('a control character or lone surrogate must be escaped')
      value += this.#escape()
    }
    this.#at += 1
    if (!value.isWellFormed()) {
      this.#at = start
      this.#fail('the string has a lone surrogate')
    }
    return value
  }

  /** What a string has next, up to its end or a fault: the engine reads it far faster. */
  #manyEscapes(): string {
    const parts: string[] = []
    for (;;) {
      escapedRun.lastIndex = this.#at
      const run = escapedRun.exec(this.#text)?.[0] ?? ''
      if (run === '') return parts.join('')
      parts.push(JSON.parse(`"${run}"`) as string)
      this.#at += run.length
    }
  }

  #plainRun(): string {
    plainRun.lastIndex = this.#at
    const run = plainRun.exec(this.#text)?.[0] ?? ''
    this.#at += run.length
    return run
  }

  #escape(): string {
    const char = this.#text[this.#at + 1] ?? ''
    if (char === 'u') {
      const unit = hexAt(this.#text, this.#at + 2, 4)
      if (unit < 0) this.#fail('four hex digits expected after \\u')
      this.#at += 6
      return String.fromCharCode(unit)
    }
    const value = escapedBy[char]
    if (value === undefined) this.#fail('unknown escape')
    this.#at += 2
    return value
  }

  #number(): number {
    number.lastIndex = this.#at
    const match = number.exec(this.#text)
    if (match === null) return this.#fail('a value is expected')
    const value = Number(match[0])
    if (!Number.isFinite(value)) this.#fail('the number is too large')
    const isInteger = match[1] === undefined && match[2] === undefined
    if (isInteger && !Number.isSafeInteger(value) && !isExact(match[0], value)) {
      this.#fail('the integer cannot be held exactly')
    }
    this.#at += match[0].length
    return value
  }

  #word(word: string, value: boolean | null): Json {
    if (!this.#text.startsWith(word, this.#at)) this.#fail('a value is expected')
    this.#at += word.length
    return value
  }

  #space(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
      this.#at += 1
    }
  }

  #take(char: string): boolean {
    if (this.#text[this.#at] !== char) return false
    this.#at += 1
    return true
  }

  #fail(problem: string): never {
    throw coreError('core.malformed_json', { offset: this.#at, problem })
  }
}

/** The number that some hex digits are; -1 where there are fewer. */
export function hexAt(text: string, offset: number, digits: number): number {
  let number = 0
  for (let at = offset; at < offset + digits; at += 1) {
    const digit = hexDigit(text.charCodeAt(at))
    if (digit < 0) return -1
    number = 16 * number + digit
  }
  return number
}

function hexDigit(unit: number): number {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30
  const lower = unit | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

// RFC 8785 writes large doubles as integers that end in zeros; those digits name the double too.
function isExact(digits: string, value: number): boolean {
  return String(value) === digits || BigInt(digits) === BigInt(value)
}
