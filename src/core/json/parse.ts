import { TallyError } from '../errors/error.js'
import { JSON_DEPTH_MAX } from '../limits.js'
import type { Json } from './value.js'

/**
 * Strict JSON reader for text that comes from outside (formats.md §1). On top of RFC 8259 it
 * refuses duplicate keys, a byte-order mark, lone surrogates, integers that a double cannot hold
 * exactly, overflow, and depth over the limit. Throws `core.malformed_json` with the offset.
 */
export function parse(text: string): Json {
  const reader = new Reader(text)
  return reader.document()
}

const number = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y
const plainRun = /[ !#-[\]-\u{10ffff}]*/uy
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

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  document(): Json {
    if (this.#text.charCodeAt(0) === 0xfeff) this.#fail('it begins with a byte-order mark')
    const value = this.#value(0)
    this.#space()
    if (this.#at < this.#text.length) this.#fail('there is text after the value')
    return value
  }

  #value(depth: number): Json {
    this.#space()
    const char = this.#text[this.#at]
    if (char === '{' || char === '[') {
      if (depth >= JSON_DEPTH_MAX) this.#fail(`it is nested deeper than ${JSON_DEPTH_MAX} levels`)
      return char === '{' ? this.#object(depth) : this.#array(depth)
    }
    if (char === '"') return this.#string()
    if (char === 't') return this.#word('true', true)
    if (char === 'f') return this.#word('false', false)
    if (char === 'n') return this.#word('null', null)
    return this.#number()
  }

  #object(depth: number): Json {
    const object: Record<string, Json> = {}
    this.#at += 1
    this.#space()
    if (this.#take('}')) return object
    do {
      this.#space()
      if (this.#text[this.#at] !== '"') this.#fail('a key must be a string')
      const key = this.#string()
      if (Object.hasOwn(object, key)) this.#fail(`the key ${JSON.stringify(key)} stands twice`)
      this.#space()
      if (!this.#take(':')) this.#fail('":" expected')
      const value = this.#value(depth + 1)
      // Assignment would call the setter of Object.prototype for this one key.
      if (key === '__proto__') {
        Object.defineProperty(object, key, {
          value,
          enumerable: true,
          writable: true,
          configurable: true
        })
      } else object[key] = value
      this.#space()
    } while (this.#take(','))
    if (!this.#take('}')) this.#fail('"," or "}" expected')
    return object
  }

  #array(depth: number): Json {
    const array: Json[] = []
    this.#at += 1
    this.#space()
    if (this.#take(']')) return array
    do {
      array.push(this.#value(depth + 1))
      this.#space()
    } while (this.#take(','))
    if (!this.#take(']')) this.#fail('"," or "]" expected')
    return array
  }

  #string(): string {
    const start = this.#at
    this.#at += 1
    let value = ''
    for (;;) {
      plainRun.lastIndex = this.#at
      const run = plainRun.exec(this.#text)?.[0] ?? ''
      value += run
      this.#at += run.length
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

  #escape(): string {
    const char = this.#text[this.#at + 1] ?? ''
    if (char === 'u') {
      const digits = this.#text.slice(this.#at + 2, this.#at + 6)
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) this.#fail('four hex digits expected after \\u')
      this.#at += 6
      return String.fromCharCode(Number.parseInt(digits, 16))
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
    throw new TallyError('core.malformed_json', { offset: this.#at, problem })
  }
}

// RFC 8785 writes large doubles as integers that end in zeros; those digits name the double too.
function isExact(digits: string, value: number): boolean {
  return String(value) === digits || BigInt(digits) === BigInt(value)
}
